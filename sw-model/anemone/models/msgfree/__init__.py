# SPDX-License-Identifier: Apache-2.0
"""Message-free MPI: which receives would be better as loads from CXL memory.

site.py what is known of a call site, parameters.py of the machine; weights.py Eq. 3 and 4;
model.py Eq. 1, 2 and 5 to 10; command.py the command line.
"""

from anemone.models.msgfree.model import Cost, Verdict, evaluate
from anemone.models.msgfree.parameters import Parameters, read_parameters
from anemone.models.msgfree.site import Metrics, Site, read_site

__all__ = [
    "Cost",
    "Metrics",
    "Parameters",
    "Site",
    "Verdict",
    "evaluate",
    "read_parameters",
    "read_site",
]
