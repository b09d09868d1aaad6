# SPDX-License-Identifier: Apache-2.0
"""The report of `anemone sim`: one HTML page with the comparison and the charts."""
