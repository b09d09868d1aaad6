# SPDX-License-Identifier: Apache-2.0
"""`anemone sim`: runs all listings on all traces, compares, and reports."""
