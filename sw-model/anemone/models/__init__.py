# SPDX-License-Identifier: Apache-2.0
"""Analytic models of what slower memory costs, and the core model that they are checked on."""
