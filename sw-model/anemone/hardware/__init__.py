# SPDX-License-Identifier: Apache-2.0
"""What the hardware is: its parameters and its registers."""
