# SPDX-License-Identifier: Apache-2.0
"""Memstrata: which virtual machines get the dedicated near memory of flat memory mode.

colouring.py pages that share near lines; plan.py Listing 1, one round of page exchanges; launch.py
what a new machine gets, and what one that ends leaves; loop.py all of it over intervals;
outliers.py who is slow; command.py the command line.
"""

from anemone.memstrata.plan import Migration, Vm, plan, read_vms

__all__ = ["Migration", "Vm", "plan", "read_vms"]
