// SPDX-License-Identifier: Apache-2.0
#include "job.h"

namespace anemone {

namespace {

constexpr uint64_t kMagic = 0x31'42'4F'4A'4D'45'4E'41; // "ANEMJOB1"

} // namespace

std::vector<JobRule> readJob(const std::string& path) {
    Words words(path);
    words.expect(kMagic, "magic");
    words.expect(kPipelines, "pipelines");
    words.expect(kChannels, "channels");
    words.expect(kStates, "states");
    words.expect(kTable, "table");
    words.expect(BUILT_ADDRESS_BITS, "address bits");
    const uint64_t count = words.next();
    if (count > kPipelines)
        words.fail("more rules than pipelines");
    std::vector<JobRule> rules(count);
    for (JobRule& r : rules) {
        for (uint64_t* field : {&r.rule.reads,         &r.rule.writes,       &r.rule.start,
                                &r.rule.end,           &r.rule.primaryMask,  &r.rule.primaryShift,
                                &r.rule.subMask,       &r.rule.subShift,     &r.rule.hashMultiplier,
                                &r.rule.hashSize,      &r.rule.op,           &r.rule.operandSource,
                                &r.rule.operand,       &r.rule.counterWidth, &r.rule.notifyOp,
                                &r.rule.notifyOperand, &r.rule.effectKind,   &r.rule.effectOp,
                                &r.rule.effectOperand, &r.readEvery})
            *field = words.next();
        r.map.resize(words.next());
        for (auto& [key, base] : r.map) {
            key = words.next();
            base = words.next();
            if (key >= kTable || base >= uint64_t(kStates) * 8)
                words.fail("a table entry out of range");
        }
    }
    return rules;
}

} // namespace anemone
