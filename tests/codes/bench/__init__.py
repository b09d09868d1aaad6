# SPDX-License-Identifier: Apache-2.0
"""The cocotb bench of the memories that correct flipped bits, each by itself.

build     a top with every such memory of a build       model     what each must do, cycle by cycle
pins      a memory's ports as numbers                   directed  random use, and flips of all bits
"""
