// SPDX-License-Identifier: Apache-2.0
// The noisy neighbour of NEMO §5.3: the four kernels of STREAM (McCalpin) with non-temporal stores,
// in bursts. It saturates memory for half a second and then sleeps for half a second.
//
// mib=16 on_ms=500 off_ms=500 (times on the trace's clock)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "anemone_capture.h"
#include "arguments.hpp"

namespace {

constexpr std::size_t kBlock = 512; // doubles per step: one 4 KiB page of each array

double* array(std::size_t n, double value) {
    auto* a = static_cast<double*>(std::aligned_alloc(2 << 20, n * sizeof(double)));
    workload::check(a != nullptr, "stream: no memory");
    for (std::size_t i = 0; i < n; i++)
        a[i] = value;
    return a;
}

__m128d load(const double* a) {
    return *reinterpret_cast<const __m128d*>(a);
}

// Copy, scale, add, triad over [at, at + kBlock).
void step(int kernel, double* a, double* b, double* c, std::size_t at) {
    const __m128d three = _mm_set1_pd(3.0);
    const std::size_t end = at + kBlock;
    switch (kernel) {
    case 0:
        for (; at < end; at += 2)
            anemone_stream_pd(c + at, load(a + at));
        break;
    case 1:
        for (; at < end; at += 2)
            anemone_stream_pd(b + at, _mm_mul_pd(three, load(c + at)));
        break;
    case 2:
        for (; at < end; at += 2)
            anemone_stream_pd(c + at, _mm_add_pd(load(a + at), load(b + at)));
        break;
    default:
        for (; at < end; at += 2) {
            const __m128d scaled = _mm_mul_pd(three, load(c + at));
            anemone_stream_pd(a + at, _mm_add_pd(load(b + at), scaled));
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    workload::Arguments args(argc, argv);
    const std::uint64_t on = args.get("on_ms", 500, 1, 1000000) * 1000000;
    const std::uint64_t off = args.get("off_ms", 500, 0, 1000000) * 1000000;
    const std::size_t n = (args.get("mib", 16, 1, 4096) << 20) / sizeof(double);
    args.get("seed", 1, 0, UINT64_MAX); // every workload accepts a seed; this one needs none
    args.end();
    double *a = array(n, 1.0), *b = array(n, 2.0), *c = array(n, 0.0);
    double want_a = 1.0, want_b = 2.0, want_c = 0.0;

    anemone_capture_warm();
    anemone_capture_record();
    std::uint64_t steps = 0, burst_end = on;
    for (int kernel = 0;; kernel = (kernel + 1) % 4) {
        // A kernel always runs to its end, so that the values can be checked. Accesses after the
        // last event are not recorded.
        for (std::size_t at = 0; at < n; at += kBlock, steps++) {
            step(kernel, a, b, c, at);
            if (anemone_capture_now_ns() >= burst_end) {
                anemone_stream_fence();
                // Sleeps to the next multiple of the period, so that bursts do not drift.
                const std::uint64_t next = burst_end + off, now = anemone_capture_now_ns();
                if (now < next)
                    anemone_capture_idle_ns(next - now);
                burst_end = next + on;
            }
        }
        if (kernel == 0)
            want_c = want_a;
        if (kernel == 1)
            want_b = 3.0 * want_c;
        if (kernel == 2)
            want_c = want_a + want_b;
        if (kernel == 3)
            want_a = want_b + 3.0 * want_c;
        if (anemone_capture_progress() >= 1.0)
            break;
    }
    for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
        workload::check(a[i] == want_a && b[i] == want_b && c[i] == want_c, "stream: an element");
    }
    std::printf("stream: %llu steps of %zu doubles\n", (unsigned long long)steps, kBlock);
    return 0;
}
