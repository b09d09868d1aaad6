# SPDX-License-Identifier: Apache-2.0
"""Golden models: what the hardware must equal, bit for bit.

`nemo` is plain and reads like the paper; `fast` is the same meaning at 10 M events/s and more.
"""
