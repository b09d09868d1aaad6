// SPDX-License-Identifier: Apache-2.0
// The microbenchmarks that calibrate CAMP (§4.4.1), run on the memory of one NUMA node.
//
//     microbench chase|read|stride|memset BYTES PARAMETER SECONDS NODE
//
// PARAMETER is the number of chains followed at once (chase, 1 to 16), the stride in bytes
// (stride), or the multiplications per word (read, memset). SECONDS start after the set-up; with 0
// only the set-up runs.
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../common/circle.h"

enum { LINE = 64, MAX_CHAINS = 16, BIND = 2, MASK_BITS = 1024 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char* what) {
    fprintf(stderr, "microbench: %s: %s\n", what, strerror(errno));
    exit(1);
}

static char* on_node(size_t bytes, unsigned node) {
    unsigned long mask[MASK_BITS / (8 * sizeof(unsigned long))] = {0};
    const unsigned bits = 8 * sizeof(unsigned long);
    if (node >= MASK_BITS) {
        errno = EINVAL;
        fail("node");
    }
    mask[node / bits] = 1UL << (node % bits);
    char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        fail("memory");
    if (syscall(SYS_mbind, at, bytes, BIND, mask, (unsigned long)MASK_BITS, 0UL))
        fail("node");
    memset(at, 1, bytes);
    return at;
}

static void chase(char* at, size_t bytes, unsigned chains, double seconds) {
    void** p[MAX_CHAINS];
    if (!circle_of_lines(at, bytes / LINE, LINE))
        fail("memory");
    void** const first = (void**)at;
    for (unsigned c = 0; c < chains; c++) {
        p[c] = first;
        for (size_t i = 0; i < (size_t)c * 1000; i++)
            p[c] = *p[c];
    }
    const double end = now() + seconds;
    while (now() < end)
        for (unsigned i = 0; i < 10000; i++)
            for (unsigned c = 0; c < chains; c++)
                p[c] = *p[c];
    for (unsigned c = 0; c < chains; c++)
        __asm__ volatile("" : : "r"(p[c]));
}

// The empty asm keeps the compiler from combining the multiplications.
static uint64_t worked(uint64_t value, unsigned work) {
    for (unsigned w = 0; w < work; w++) {
        value *= 0x9E3779B97F4A7C15u;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

static void reads(const char* at, size_t bytes, size_t step, unsigned work, double end) {
    uint64_t sum = 0;
    while (now() < end)
        for (size_t i = 0; i + step <= bytes; i += step)
            sum += worked(*(const volatile uint64_t*)(at + i), work);
    __asm__ volatile("" : : "r"(sum));
}

// The library's memset may use non-temporal stores for a large size; these are ordinary stores.
static void stores(char* at, size_t bytes, unsigned work, double end) {
    for (uint64_t value = 0; now() < end; value++)
        for (size_t i = 0; i < bytes; i += 8)
            *(volatile uint64_t*)(at + i) = worked(value, work);
}

int main(int argc, char** argv) {
    if (argc != 6) {
        fprintf(stderr,
                "usage: microbench chase|read|stride|memset BYTES PARAMETER SECONDS NODE\n");
        return 2;
    }
    const size_t bytes = strtoull(argv[2], NULL, 10) & ~(size_t)(LINE - 1);
    const unsigned parameter = (unsigned)strtoul(argv[3], NULL, 10);
    const double seconds = strtod(argv[4], NULL);
    if (bytes < 64 * LINE || bytes / LINE > UINT32_MAX || !(seconds >= 0)) {
        errno = EINVAL;
        fail("arguments");
    }
    char* at = on_node(bytes, (unsigned)strtoul(argv[5], NULL, 10));
    const double end = now() + seconds;
    if (!strcmp(argv[1], "chase") && parameter >= 1 && parameter <= MAX_CHAINS)
        chase(at, bytes, parameter, seconds);
    else if (!strcmp(argv[1], "read"))
        reads(at, bytes, 8, parameter, end);
    else if (!strcmp(argv[1], "stride") && parameter >= 8 && parameter <= bytes)
        reads(at, bytes, parameter, 0, end);
    else if (!strcmp(argv[1], "memset"))
        stores(at, bytes, parameter, end);
    else {
        errno = EINVAL;
        fail(argv[1]);
    }
    return 0;
}
