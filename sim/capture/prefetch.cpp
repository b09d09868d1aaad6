// SPDX-License-Identifier: Apache-2.0
#include "prefetch.hpp"

namespace capture {

unsigned StridePrefetcher::observe(std::uint64_t pc, std::uint64_t line) {
    Entry& entry = table_[(pc ^ pc >> 8) & (table_.size() - 1)];
    if (entry.pc != pc) {
        entry = {pc, line, 0, 0};
        return 0;
    }
    const auto step = static_cast<std::int64_t>(line - entry.last);
    if (step == 0)
        return 0; // the same line again says nothing about the stride
    if (step == entry.stride) {
        if (entry.again < kSure)
            entry.again++;
    } else {
        entry.stride = step;
        entry.again = 0;
    }
    entry.last = line;
    if (entry.again < kSure)
        return 0;

    constexpr std::uint64_t kLinesPerPage = kBasePage / kLineBytes;
    stride_ = step;
    unsigned n = 0;
    while (n < degree_ && (line + (n + 1) * step) / kLinesPerPage == line / kLinesPerPage)
        n++;
    return n;
}

} // namespace capture
