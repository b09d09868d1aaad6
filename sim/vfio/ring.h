/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of accesses from one program to another, in a file that both map. C and C++.
 *
 * The writer writes rows, then `head`; the reader reads rows, then writes `tail`. Both only grow.
 * The writer waits while the ring is full. It also counts what it wrote, for anybody who reads the
 * file.
 */
#ifndef ANEMONE_RING_H
#define ANEMONE_RING_H

#include <stdint.h>

#define RING_ROWS (1u << 16)
#define RING_PAGE_SHIFT 21
#define RING_PAGES 8192u /* huge pages of a device of 16 GiB */

struct anemone_ring {
    uint64_t head, head_pad[7];
    uint64_t tail, tail_pad[7];
    uint64_t seen;                  /* accesses before the cache */
    uint64_t reads, writes, pad[5]; /* rows written so far */
    uint64_t pages[RING_PAGES];     /* the same by huge page */
    uint64_t rows[RING_ROWS];       /* address << 1 | write, as in a trace */
};

#endif
