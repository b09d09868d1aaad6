// SPDX-License-Identifier: Apache-2.0
// A pointer chase with atomic operations in a NUMA node's memory: each step is an atomic addition
// of 0 that returns the next pointer.
//
//     atomic-chase NODE BYTES        prints nanoseconds per operation, the median of 201 runs
#include "../common/circle.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, RUNS = 201, STEPS = 1000, BIND = 2, MAX_NODES = 1024, WORD = 64 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static uintptr_t* follow(uintptr_t* at, size_t steps) {
    for (size_t i = 0; i < steps; i++)
        at = (uintptr_t*)__atomic_fetch_add(at, 0, __ATOMIC_SEQ_CST);
    return at;
}

static int wrong(const char* what) {
    perror(what);
    return 2;
}

int main(int argc, char** argv) {
    const unsigned long node = argc == 3 ? strtoul(argv[1], NULL, 10) : MAX_NODES;
    const size_t lines = argc == 3 ? strtoull(argv[2], NULL, 10) / LINE : 0, bytes = lines * LINE;
    if (node >= MAX_NODES || lines < 2 || lines > UINT32_MAX) {
        fprintf(stderr, "atomic-chase: NODE BYTES\n");
        return 2;
    }
    char* base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return wrong("atomic-chase: memory");
    unsigned long mask[MAX_NODES / WORD] = {0};
    mask[node / WORD] = 1UL << node % WORD;
    if (syscall(SYS_mbind, base, bytes, BIND, mask, (unsigned long)MAX_NODES, 0UL) &&
        !(errno == ENOSYS && node == 0)) // a kernel without NUMA
        return wrong("atomic-chase: node");
    madvise(base, bytes, MADV_HUGEPAGE);
    if (!circle_of_lines(base, lines, LINE))
        return wrong("atomic-chase: circle");
    // One round checks the circle: it returns to the start after all lines, not earlier.
    uintptr_t* at = (uintptr_t*)base;
    size_t round = 0;
    do {
        at = follow(at, 1);
        round++;
    } while (at != (uintptr_t*)base && round <= lines);
    if (round != lines) {
        fprintf(stderr, "atomic-chase: round after %zu of %zu lines\n", round, lines);
        return 1;
    }
    double found[RUNS];
    for (int i = 0; i < RUNS; i++) {
        const double start = now();
        at = follow(at, STEPS);
        found[i] = (now() - start) / STEPS;
    }
    qsort(found, RUNS, sizeof *found, by_size);
    printf("%.2f\n", found[RUNS / 2]);
    return 0;
}
