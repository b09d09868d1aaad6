// SPDX-License-Identifier: Apache-2.0
// Bandwidth of threads that read and write their own lines, in sequential or random order.
#include "memo.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

static const size_t LEAST_OF_THREAD = (size_t)16 << 20; // more than a core's private caches

struct worker {
    const struct run* run;
    struct walk walk;
    pthread_barrier_t* all;
    int cpu;
    double gb_per_s, on_cpu; // on_cpu: share of the time that the thread ran
    bool good;
};

// The expected sum of a walk's reads; written: whether its writes are in memory.
static uint64_t expected(const struct walk* w, bool* written) {
    const size_t period = w->reads + w->writes;
    uint64_t sum = 0;
    *written = true;
    for (size_t k = 0; k < w->lines; k++) {
        const size_t line = w->random ? scattered(k, w->lines) : k;
        const uint64_t* words = (const uint64_t*)(w->base + line * LINE);
        const bool read = k % period < w->reads;
        if (read)
            sum += (line + 1) * (LINE / 8);
        for (size_t i = 0; i < LINE / 8; i++)
            *written &= words[i] == (read ? line + 1 : w->value);
    }
    return sum;
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void* work(void* argument) {
    struct worker* me = argument;
    const struct walk* w = &me->walk;
    line_fill(w->base, w->lines);
    uint64_t sum = me->run->kernels->walk(w), passes = 0; // one pass to fill the TLB
    pthread_barrier_wait(me->all);
    const double had = cpu_seconds(), start = seconds_now(),
                 deadline = start + me->run->options->seconds;
    double now;
    bool same = true;
    do {
        same &= me->run->kernels->walk(w) == sum;
        passes++;
        now = seconds_now();
    } while (now < deadline);
    me->gb_per_s = (double)passes * (double)(w->lines * LINE) / (now - start) * 1e-9;
    me->on_cpu = (cpu_seconds() - had) / (now - start);
    bool written;
    me->good = expected(w, &written) == sum && same && written;
    return NULL;
}

static int nth_cpu(const cpu_set_t* allowed, unsigned n) {
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && n-- == 0)
            return cpu;
    return 0;
}

static void start(pthread_t* thread, struct worker* worker) {
    pthread_attr_t attributes;
    cpu_set_t on;
    CPU_ZERO(&on);
    CPU_SET(worker->cpu, &on);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof on, &on);
    if (pthread_create(thread, &attributes, work, worker))
        fail(1, "a thread on processor %d could not be started", worker->cpu);
    pthread_attr_destroy(&attributes);
}

// GB/s of all threads together; on_cpu: the smallest share of any thread.
static double measured(const struct run* run, const struct region* region, unsigned threads,
                       const struct walk* of, double* on_cpu) {
    pthread_t started[MAX_THREADS];
    static struct worker workers[MAX_THREADS];
    pthread_barrier_t all;
    cpu_set_t allowed;
    double sum = 0;
    *on_cpu = 1;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    pthread_barrier_init(&all, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){.run = run, .walk = *of, .all = &all};
        workers[i].walk.base = region->at + (size_t)i * of->lines * LINE;
        workers[i].cpu = nth_cpu(&allowed, i % run->host->cpus);
        start(&started[i], &workers[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(started[i], NULL);
        sum += workers[i].gb_per_s;
        *on_cpu = workers[i].on_cpu < *on_cpu ? workers[i].on_cpu : *on_cpu;
        if (!workers[i].good)
            wrong("bandwidth of %u threads, %u:%u: thread %u did not read what was written",
                  threads, of->reads, of->writes, i);
    }
    pthread_barrier_destroy(&all);
    return sum;
}

// A period of several lines, so that the loops' overhead is small.
static struct walk walk_of(struct ratio ratio, size_t lines, bool random, bool nt) {
    const unsigned times = 1 + 7 / (ratio.reads + ratio.writes);
    return (struct walk){.lines = lines,
                         .reads = ratio.reads * times,
                         .writes = ratio.writes * times,
                         .random = random,
                         .nt = nt,
                         .value = 0x5a5a000000000000u};
}

static size_t power_of_two_below(size_t value) {
    size_t found = 1;
    while (found * 2 <= value)
        found *= 2;
    return found;
}

void bandwidth_test(const struct run* run) {
    const struct options* o = run->options;
    for (unsigned t = 0; t < o->thread_counts; t++) {
        const unsigned threads = o->threads[t];
        size_t each = power_of_two_below(o->bytes / threads);
        if (each < LEAST_OF_THREAD && o->bytes >= 4 * run->host->cache)
            each = LEAST_OF_THREAD;
        struct region region = region_of(each * threads, run->node, o->pages);
        for (unsigned i = 0; i < o->ratio_count * 4; i++) {
            const struct ratio ratio = o->ratios[i / 4];
            const struct walk walk = walk_of(ratio, each / LINE, i & 1, i & 2);
            double on_cpu;
            const double found = measured(run, &region, threads, &walk, &on_cpu);
            row_begin("bandwidth", run->node);
            row_text("order", walk.random ? "random" : "sequential");
            row_text("hint", walk.nt ? "nt" : "none");
            row_number("reads", ratio.reads, 0);
            row_number("writes", ratio.writes, 0);
            row_number("threads", threads, 0);
            row_number("gb_per_s", found, 3);
            row_number("on_cpu", on_cpu, 2);
            row_text("pages", region.pages);
            row_end();
        }
        region_free(&region);
    }
}
