// SPDX-License-Identifier: Apache-2.0
// Caption on kernels without weighted interleave (before 6.9): binds a program's new memory with
// mbind.
//
//     CAPTION_RATIO=FILE LD_PRELOAD=libcaption.so PROGRAM ARGS
//
// `anemone caption run --ratio-file FILE` writes FILE: "DRAM_NODE CXL_NODE WEIGHT WEIGHT".
// A thread looks ten times a second for new private anonymous memory. It binds this memory in
// chunks of 2 MiB, and the weights at that time decide the node of each chunk. Pages that the
// program has touched already do not move.
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PREFERRED = 1, MAX_RANGES = 4096, MAX_NODES = 1024, WORD = 8 * sizeof(unsigned long) };
static const uintptr_t PIECE = (uintptr_t)2 << 20;

struct ratio {
    unsigned node[2], weight[2];
};

struct range {
    uintptr_t start, end;
};

static struct range seen[MAX_RANGES], now[MAX_RANGES];
static size_t seen_count;
static uint64_t bound_chunks;

static bool read_ratio(const char* path, struct ratio* r) {
    FILE* file = fopen(path, "re");
    const bool good = file && fscanf(file, "%u %u %u %u", &r->node[0], &r->node[1], &r->weight[0],
                                     &r->weight[1]) == 4;
    if (file)
        fclose(file);
    return good && r->node[0] < MAX_NODES && r->node[1] < MAX_NODES &&
           r->weight[0] + (uint64_t)r->weight[1] > 0;
}

// Interleaves the chunks as evenly as the weights allow.
static unsigned node_of(uint64_t n, const struct ratio* r) {
    const uint64_t all = (uint64_t)r->weight[0] + r->weight[1];
    return r->node[(n + 1) * r->weight[1] / all > n * r->weight[1] / all];
}

static void bind_piece(uintptr_t start, uintptr_t end, const struct ratio* r) {
    unsigned long mask[MAX_NODES / WORD] = {0};
    const unsigned node = node_of(bound_chunks++, r);
    mask[node / WORD] = 1UL << (node % WORD);
    // The range may be unmapped by now, or the node may have no memory. Both are harmless: the
    // kernel's own policy stays.
    syscall(SYS_mbind, start, end - start, PREFERRED, mask, (unsigned long)MAX_NODES, 0UL);
}

// The first new address at or after `at`. A range may be new only in part: a heap grows at its end.
static uintptr_t unseen(uintptr_t at) {
    for (size_t i = 0; i < seen_count; i++)
        if (at >= seen[i].start && at < seen[i].end)
            at = seen[i].end;
    return at;
}

static void bind_new(struct range range, const struct ratio* r) {
    for (uintptr_t at = range.start; at < range.end;) {
        uintptr_t end = (at / PIECE + 1) * PIECE;
        end = end < range.end ? end : range.end;
        at = unseen(at);
        if (at < end)
            bind_piece(at, end, r);
        at = at > end ? at : end;
    }
}

// The private anonymous writable ranges: heaps and malloc's mappings.
static size_t ranges_of(struct range* found) {
    FILE* file = fopen("/proc/self/maps", "re");
    char line[512];
    size_t count = 0;
    while (file && count < MAX_RANGES && fgets(line, sizeof line, file)) {
        struct range range;
        char access[8] = "", name[64] = "";
        unsigned long inode = 1;
        const int read = sscanf(line, "%lx-%lx %7s %*x %*s %lu %63s", &range.start, &range.end,
                                access, &inode, name);
        const bool plain = !*name || !strcmp(name, "[heap]") || !strncmp(name, "[anon:", 6);
        if (read < 4 || strcmp(access, "rw-p") || inode || !plain)
            continue;
        // mbind splits a mapping in /proc/self/maps, so adjacent lines are joined again.
        if (count && found[count - 1].end == range.start)
            found[count - 1].end = range.end;
        else
            found[count++] = range;
    }
    if (file)
        fclose(file);
    return count;
}

static void look(const char* path) {
    struct ratio ratio;
    const size_t count = ranges_of(now);
    // Without a ratio, ranges stay unseen, so that a later ratio still applies to them.
    if (!read_ratio(path, &ratio))
        return;
    for (size_t i = 0; i < count; i++)
        if (now[i].end - now[i].start >= PIECE)
            bind_new(now[i], &ratio);
    memcpy(seen, now, count * sizeof *now);
    seen_count = count;
}

static void* watch(void* path) {
    const struct timespec tenth = {0, 100000000};
    for (;;) {
        look(path);
        nanosleep(&tenth, NULL);
    }
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    const char* path = getenv("CAPTION_RATIO");
    pthread_t thread;
    sigset_t all, before;
    if (!path)
        return;
    // The watching thread blocks all signals, so that they go to the program's threads.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, strdup(path)))
        fprintf(stderr, "libcaption: no thread: the kernel's own policy stays\n");
    else
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
