# SPDX-License-Identifier: Apache-2.0
"""Memstrata: which virtual machines get the dedicated near memory of flat memory mode.

plan.py Listing 1, one round of page exchanges; command.py the command line.
"""

from anemone.memstrata.plan import Migration, Vm, plan, read_vms

__all__ = ["Migration", "Vm", "plan", "read_vms"]
