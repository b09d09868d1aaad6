// SPDX-License-Identifier: Apache-2.0
#include "memo.h"

#include <sched.h>
#include <string.h>

// 1, 2, 4, ... and the number of processors.
static void default_threads(struct options* o, unsigned cpus) {
    unsigned count = 1;
    cpus = cpus < MAX_THREADS ? cpus : MAX_THREADS;
    for (; count < cpus; count *= 2)
        o->threads[o->thread_counts++] = count;
    o->threads[o->thread_counts++] = cpus;
}

static void on_node(const struct run* run) {
    const unsigned tests = run->options->tests;
    if (tests & LATENCY)
        latency_test(run);
    if (tests & CHASE)
        chase_test(run);
    if (tests & CACHE)
        cache_test(run);
    if (tests & BANDWIDTH)
        bandwidth_test(run);
    if (tests & COPY)
        copy_test(run);
}

int main(int argc, char** argv) {
    struct options options = options_of(argc, argv);
    const struct kernels* kernels = kernels_of(options.isa);
    int nodes[MAX_NODES];
    const unsigned count = nodes_of(nodes);
    if (!kernels)
        fail(2,
             "command line: --isa is \"%.60s\"; allowed: sse2, avx2 or avx512, as the processor "
             "has",
             options.isa);
    bool there = options.node < 0;
    for (unsigned i = 0; i < count; i++)
        there |= nodes[i] == options.node;
    if (!there)
        fail(2, "command line: --node is %d; allowed: a node of this host with memory",
             options.node);
    const struct host host = host_of();
    if (!options.bytes)
        options.bytes = 4 * host.cache;
    if (!options.thread_counts)
        default_threads(&options, host.cpus);
    if (options.bytes / LINE / options.threads[options.thread_counts - 1] < BATCH)
        fail(2, "command line: --bytes is %zu; allowed: at least 16 lines of 64 bytes a thread",
             options.bytes);
    out_begin(options.json);
    warn_of_host(&host);
    const double before = cycles_per_tick();
    for (unsigned i = 0; i < count; i++)
        if (options.node < 0 || nodes[i] == options.node) {
            const struct run run = {&options, &host, kernels, nodes[i]};
            on_node(&run);
        }
    const double after = cycles_per_tick();
    if (after < 0.97 * before || after > 1.03 * before)
        warn("frequency scaling: the clock was %.2f of what it was, from beginning to end",
             after / before);
    return out_end(&host, kernels);
}
