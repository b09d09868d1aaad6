// SPDX-License-Identifier: Apache-2.0
// A plain pointer chase with the C library only. A test compares memo's chase with it.
//
//     plain-chase BYTES        prints nanoseconds per load, the best of 201 runs
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct node {
    struct node* next;
    char rest[64 - sizeof(struct node*)];
};

int main(int argc, char** argv) {
    const size_t count = argc == 2 ? strtoull(argv[1], NULL, 10) / sizeof(struct node) : 0;
    struct node* nodes = aligned_alloc(sizeof *nodes, count * sizeof *nodes);
    size_t* order = malloc(count * sizeof *order);
    if (count < 2 || !nodes || !order)
        return 2;
    srand(1);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        const size_t k = ((size_t)rand() << 20 ^ (size_t)rand()) % (i + 1), other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
    for (size_t i = 0; i < count; i++)
        nodes[order[i]].next = &nodes[order[(i + 1) % count]];
    struct node* volatile kept = nodes;
    struct node* at = kept;
    double best = 1e9;
    for (size_t i = 0; i < count; i++)
        at = at->next;
    for (int run = 0; run < 201; run++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < 1000; i++)
            at = at->next;
        kept = at;
        clock_gettime(CLOCK_MONOTONIC, &to);
        const double ns =
            (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
        best = ns / 1000 < best ? ns / 1000 : best;
    }
    printf("%.2f\n", best);
    return 0;
}
