// SPDX-License-Identifier: Apache-2.0
/*
 * spread PAGES: touches so many pages under weighted interleave of nodes 0 and 1, and prints how
 * many are on each node.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "host.h"

#define WEIGHTED_INTERLEAVE 6 /* from linux/mempolicy.h, since Linux 6.9 */

int main(int argc, char** argv) {
    unsigned long nodes = 3;
    long count, on[2] = {0, 0};
    void** pages;
    int* status;
    char* at;

    CHECK(argc == 2);
    count = atol(argv[1]);
    pages = calloc(count, sizeof(*pages));
    status = calloc(count, sizeof(*status));
    CHECK(pages && status);
    CHECK(!syscall(SYS_set_mempolicy, WEIGHTED_INTERLEAVE, &nodes, 8 * sizeof(nodes)));
    at = mmap(NULL, count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    CHECK(!madvise(at, count * 4096, MADV_NOHUGEPAGE));
    for (long i = 0; i < count; i++) {
        pages[i] = at + i * 4096;
        at[i * 4096] = 1;
    }
    CHECK(!syscall(SYS_move_pages, 0, count, pages, NULL, status, 0));
    for (long i = 0; i < count; i++) {
        CHECK(status[i] == 0 || status[i] == 1);
        on[status[i]]++;
    }
    printf("on %ld %ld\n", on[0], on[1]);
    return 0;
}
