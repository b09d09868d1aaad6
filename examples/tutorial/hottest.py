# SPDX-License-Identifier: Apache-2.0
"""The two hottest pages of each read."""

import numpy as np
import pyarrow.parquet as pq

reads = pq.read_table("counts/reads.parquet")
event, page, value = (reads[name].to_numpy() for name in ("event", "index", "value"))
for end in np.unique(event):
    here = event == end
    counts = np.bincount(page[here].astype(int), value[here])  # both channels' together
    first, second = sorted(np.argsort(-counts)[:2])
    print(f"{end:>7}: pages {first} and {second}, {counts[[first, second]].sum():.0f} accesses")
