# SPDX-License-Identifier: Apache-2.0
"""From results to what they say: are they right, and what would an OS see in them?"""
