# SPDX-License-Identifier: Apache-2.0
"""Caption ("Demystifying CXL Memory", MICRO '23, §6): tunes the share of new pages on CXL memory.

`algorithm` is Algorithm 1 and Equation 1. `samples` and `model` are the file formats. `sources` is
M1, `fit` is M2, and `controller` is the live M3. `actuator` sets the share in Linux.
"""
