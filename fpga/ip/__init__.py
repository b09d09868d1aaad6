# SPDX-License-Identifier: Apache-2.0
"""Anemone as an IP for a vendor's flow: its tops and their ports, as they are emitted."""
