# SPDX-License-Identifier: Apache-2.0
"""`anemone bench`: slots, latency and speed."""
