// SPDX-License-Identifier: Apache-2.0
/* walk [NODE [COMMAND]]. With NODE all its memory is of that NUMA node. COMMAND is run when
 * the table is filled. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TABLE (16u << 20)
#define HOT (4u << 20)
#define LOOKUPS 200000

int main(int argc, char** argv) {
    uint64_t random = 88172645463325252u, sum = 0;
    unsigned long nodes = argc > 1 ? 1ul << atoi(argv[1]) : 0;
    if (nodes && syscall(SYS_set_mempolicy, 2 /* bind */, &nodes, 64))
        return 1;
    uint8_t* table = aligned_alloc(2u << 20, TABLE);
    madvise(table, TABLE, MADV_HUGEPAGE);
    memset(table, 1, TABLE);
    if (argc > 2 && system(argv[2]))
        return 1;
    for (int i = 0; i < LOOKUPS; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t hot = i < LOOKUPS / 2 ? 0 : TABLE / 2;
        sum += table[random % 10 ? hot + (random >> 8) % HOT : (random >> 8) % TABLE];
    }
    printf("%llu look-ups\n", (unsigned long long)sum);
    return 0;
}
