# SPDX-License-Identifier: Apache-2.0
"""The cocotb bench of flat memory mode: the controller with a host, near and far memory."""
