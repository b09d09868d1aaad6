# SPDX-License-Identifier: Apache-2.0
"""The memories that report flipped bits: names and numbers in `fault_memory` of the registers, and
where those are in the design that correct one.
"""

from __future__ import annotations

CODES = {
    "read_order": 8, "write_order": 9, "region_writes": 16, "acknowledges": 17, "tables": 18,
    "waiting_events": 19, "reset_values": 20, "memory_data": 21, "memory_answers": 22,
    "ordered_events": 23, "ordered_reads": 24,
}  # fmt: skip
CORRECTING = {
    r"channel_\d+\.order\.": "read_order",
    r"channel_\d+\.gate\.order\.": "write_order",
    r"channel_\d+\.gate\.plans\.": "region_writes",
    r"channel_\d+\.gate\.lines\.": "acknowledges",
    r"arbiters.*\.waiting\.": "waiting_events",
    r"\.unit\.operands\.": "reset_values",
    r"adapter_\d+\.queue\.": "memory_data",
    r"adapter_\d+\.queue_1\.": "memory_answers",
    r"order_\d+\.events\.": "ordered_events",
    r"order_\d+\.reads\.": "ordered_reads",
}
