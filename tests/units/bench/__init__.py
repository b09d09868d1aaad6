# SPDX-License-Identifier: Apache-2.0
"""The cocotb bench of single units as emitted: memories that correct flipped bits and the counts
of ids in them, the fault log, the drain of late responses, and interrupts.

build     a top with every such unit of a build         pins       a unit's ports as numbers
queues    a ProtectedQueue; its model in `model`        rams       a ProtectedRam, a VotedRam
fault_log a FaultLog                                    id_counter an IdCounter
drain     a StaleResponseDrain                          interrupts an InterruptUnit
directed  random use, flips of all bits
"""
