// SPDX-License-Identifier: Apache-2.0
// The error-correcting code of near memory's sideband (docs/flat.md).
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <vector>

#include "configuration.h"

namespace anemone {

class SidebandCode {
public:
    static constexpr unsigned kPayloadBits =
        (BUILT_RATIO + 1) * BUILT_TAG_BITS + 1 + BUILT_COUNT_BITS;
    static constexpr unsigned kCheckBits = BUILT_SIDEBAND_BITS - kPayloadBits;
    static_assert(kCheckBits == 8 + kPayloadBits % 2, "not the code of this hardware");

    SidebandCode() {
        std::vector<unsigned> odd, even;
        payload_.push_back(kTop + 3);
        for (unsigned n = 1; n < kTop; ++n)
            if (ones(n) == 3)
                payload_.push_back(n);
            else if (ones(n) % 2 == 0)
                (n & 1 ? odd : even).push_back(n);
        for (auto* columns : {&odd, &even}) {
            std::stable_sort(columns->begin(), columns->end(),
                             [](unsigned a, unsigned b) { return ones(a) < ones(b); });
            set_.insert(set_.end(), columns->begin(), columns->end());
        }
    }

    // The code word of a set's payload. The set's number is in the checks, but not in the word.
    uint64_t word(uint64_t set, uint64_t payload) const {
        const unsigned checks = kTop ^ 1 ^ folded(payload_, payload) ^ folded(set_, set);
        return uint64_t(checks) << kPayloadBits | payload;
    }
    static uint64_t payload(uint64_t word) { return word & ((uint64_t(1) << kPayloadBits) - 1); }

private:
    static constexpr unsigned kTop = 1u << (kCheckBits - 1);

    static std::size_t ones(unsigned n) { return std::bitset<16>(n).count(); }
    static unsigned folded(const std::vector<unsigned>& columns, uint64_t value) {
        unsigned checks = 0;
        for (unsigned bit = 0; value >> bit; ++bit)
            checks ^= value >> bit & 1 ? columns.at(bit) : 0;
        return checks;
    }

    std::vector<unsigned> payload_, set_; // per bit: the check bits that cover it
};

} // namespace anemone
