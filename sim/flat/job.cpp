// SPDX-License-Identifier: Apache-2.0
#include "job.h"

namespace anemone {

namespace {
constexpr uint64_t kMagic = 0x31'54'4C'46'4D'45'4E'41; // "ANEMFLT1"
} // namespace

Job readJob(const std::string& path) {
    Words words(path);
    words.expect(kMagic, "magic");
    words.expect(kRatio, "ratio");
    words.expect(BUILT_ADDRESS_BITS, "address bits");
    Job job{};
    for (uint64_t* field : {&job.nearLines, &job.dedicatedStart, &job.dedicatedEnd, &job.policy,
                            &job.n, &job.near.latency, &job.near.interval, &job.far.latency,
                            &job.far.interval, &job.jitter, &job.seed, &job.ids})
        *field = words.next();
    if (!job.nearLines || !job.near.interval || !job.far.interval)
        words.fail("no near lines, or no time between accesses");
    if (!job.ids || job.ids > 1u << BUILT_ID_BITS)
        words.fail("as many ids as the ports do not have");
    return job;
}

} // namespace anemone
