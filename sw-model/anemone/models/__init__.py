# SPDX-License-Identifier: Apache-2.0
"""Analytic models of the cost of slower memory, and the core model that they are checked on."""
