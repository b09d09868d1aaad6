// SPDX-License-Identifier: Apache-2.0
// The processor: its clocks, the cost of a time reading, and conditions that disturb measurements.
#include "memo.h"

#include <cpuid.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ticks.h"

enum { SAMPLES = 1001, CHAIN = 20000 };

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double quantile(double* values, size_t count, double share) {
    qsort(values, count, sizeof *values, ascending);
    return values[(size_t)(share * (double)(count - 1))];
}

void first_line(const char* path, char* text, size_t size) {
    FILE* file = fopen(path, "r");
    if (!file || !fgets(text, (int)size, file))
        *text = 0;
    text[strcspn(text, "\n")] = 0;
    if (file)
        fclose(file);
}

// Ticks per nanosecond: the median of several runs, because an interrupt may lengthen one.
static double tsc_ghz(void) {
    double found[5];
    for (int i = 0; i < 5; i++) {
        const double start = seconds_now();
        const uint64_t from = ticks_start();
        double now;
        do
            now = seconds_now();
        while (now < start + 0.01);
        found[i] = (double)(ticks_end() - from) / (now - start) * 1e-9;
    }
    return quantile(found, 5, 0.5);
}

static double timer_cycles(void) {
    double found[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        const uint64_t start = ticks_start();
        found[i] = (double)(ticks_end() - start);
    }
    return quantile(found, SAMPLES, 0.5);
}

// The largest cache of processor 0; 32 MiB if Linux does not report one.
static size_t largest_cache(void) {
    size_t largest = 0;
    for (int i = 0; i < 8; i++) {
        char path[96], text[32], unit = 0;
        unsigned long size = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        first_line(path, text, sizeof text);
        if (sscanf(text, "%lu%c", &size, &unit) == 2)
            size <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
        largest = size > largest ? size : largest;
    }
    return largest ? largest : (size_t)32 << 20;
}

struct host host_of(void) {
    cpu_set_t allowed;
    struct host host = {0};
    host.tsc_ghz = tsc_ghz();
    host.timer_cycles = timer_cycles();
    host.cache = largest_cache();
    host.cpus = sched_getaffinity(0, sizeof allowed, &allowed) ? 1 : (unsigned)CPU_COUNT(&allowed);
    return host;
}

// Ticks of a chain of dependent rotations, one core cycle each. Not additions: some cores eliminate
// them at renaming.
static double chain_ticks(void) {
    uint64_t value = 1;
    const uint64_t start = ticks_start();
    for (int i = 0; i < CHAIN; i++)
        __asm__ volatile("rol $1, %0" : "+r"(value));
    return (double)(ticks_end() - start);
}

double cycles_per_tick(void) {
    double found[31];
    for (int i = 0; i < 31; i++)
        found[i] = CHAIN / chain_ticks();
    return quantile(found, 31, 0.5);
}

static unsigned warn_of_clock(void) {
    unsigned a, b, c, d, warnings = 0;
    char text[64];
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8)) {
        warn("the time-stamp counter is not invariant: its rate follows the core's");
        warnings++;
    }
    first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof text);
    if (*text && strcmp(text, "performance")) {
        warn("frequency scaling: the governor is %s; cpupower frequency-set -g performance", text);
        warnings++;
    }
    first_line("/sys/devices/system/cpu/intel_pstate/no_turbo", text, sizeof text);
    if (!strcmp(text, "0")) {
        warn("frequency scaling: turbo is on; echo 1 > "
             "/sys/devices/system/cpu/intel_pstate/no_turbo");
        warnings++;
    }
    first_line("/sys/devices/system/cpu/cpufreq/boost", text, sizeof text);
    if (!strcmp(text, "1")) {
        warn("frequency scaling: boost is on; echo 0 > /sys/devices/system/cpu/cpufreq/boost");
        warnings++;
    }
    return warnings;
}

unsigned warn_of_host(const struct host* host) {
    unsigned a, b, c = 0, d, warnings = warn_of_clock();
    if (__get_cpuid(1, &a, &b, &c, &d) && c & 1u << 31) {
        warn("this is a virtual machine: others share its memory, and nested paging adds to each "
             "TLB miss");
        warnings++;
    }
    double load = 0;
    if (getloadavg(&load, 1) == 1 && load > 0.5 * host->cpus) {
        warn("noisy host: load %.1f on %u processors; stop what else runs", load, host->cpus);
        warnings++;
    }
    double found[201];
    for (int i = 0; i < 201; i++)
        found[i] = chain_ticks();
    const double middle = quantile(found, 201, 0.5), slow = found[190];
    if (slow > 1.1 * middle) {
        warn("noisy host: the same work takes %.0f %% longer in one of twenty runs",
             100 * (slow / middle - 1));
        warnings++;
    }
    return warnings;
}
