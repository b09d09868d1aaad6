# SPDX-License-Identifier: Apache-2.0
"""Analysis of replay results: whether they are right, and what an OS would see in them."""
