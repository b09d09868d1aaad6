// SPDX-License-Identifier: Apache-2.0
// Run time and progress reports.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

#include <sys/resource.h>

namespace anemone {

struct Clock {
    std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
    double user = cpu();

    static double cpu() {
        rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return double(usage.ru_utime.tv_sec) + 1e-6 * double(usage.ru_utime.tv_usec);
    }
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    }
};

// Prints `progress DONE TOTAL`, at most ten times a second.
class Progress {
public:
    void show(uint64_t done, uint64_t total) {
        if (shown_.seconds() < 0.1)
            return;
        shown_ = Clock();
        std::printf("progress %llu %llu\n", (unsigned long long)done, (unsigned long long)total);
        std::fflush(stdout);
    }

private:
    Clock shown_;
};

} // namespace anemone
