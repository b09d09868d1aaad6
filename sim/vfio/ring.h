/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses on their way from one program to another: a file that both map. C and C++.
 *
 * One writes rows and then `head`, one reads rows and then writes `tail`; each grows for ever. The
 * writer waits when the ring is full. It also counts what it wrote, for whoever reads the file.
 */
#ifndef ANEMONE_RING_H
#define ANEMONE_RING_H

#include <stdint.h>

#define RING_ROWS (1u << 16)
#define RING_PAGE_SHIFT 21
#define RING_PAGES 8192u /* huge pages: what a device of 16 GiB has */

struct anemone_ring {
    uint64_t head, head_pad[7];
    uint64_t tail, tail_pad[7];
    uint64_t seen;                  /* accesses before the cache */
    uint64_t reads, writes, pad[5]; /* rows that were written */
    uint64_t pages[RING_PAGES];     /* the same by huge page */
    uint64_t rows[RING_ROWS];       /* address << 1 | write, as of a trace */
};

#endif
