# SPDX-License-Identifier: Apache-2.0
"""Caption ("Demystifying CXL Memory", MICRO '23, §6): which share of new pages goes to CXL memory.

`algorithm` is Algorithm 1 and Equation 1, `samples` and `model` are their files, `fit` is M2,
`sources` is M1, `controller` is M3 as it runs live, `actuator` tells Linux.
"""
