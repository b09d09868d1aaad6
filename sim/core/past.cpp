// SPDX-License-Identifier: Apache-2.0
#include "past.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "op.hpp"

namespace core {

namespace {

bool inside(const Past::Part& part, std::uint64_t address) {
    return address >= part.first && address - part.first < part.bytes;
}

double waited(Random& random) {
    return -std::log(1 - random.share());
}

Past::Times times_in(const Past::Part& part, std::uint64_t address, bool now, Random& random) {
    const auto done = static_cast<double>(*part.done);
    const auto bytes = static_cast<double>(part.bytes);
    const double lines = bytes / static_cast<double>(std::uint64_t{1} << kLineBits);
    if (part.order == Past::Order::any) {
        const double between = lines / part.pace, next = waited(random) * between;
        return {waited(random) * between, next < done};
    }
    const bool walk = part.order == Past::Order::walk;
    const double period = (walk ? bytes : lines) / part.pace;
    double next = now ? done : random.share() * period;
    if (walk) {
        const std::uint64_t ahead = (address - part.first + part.bytes - part.from) % part.bytes;
        next = static_cast<double>(ahead) / part.pace;
    }
    return {period - next, next < done};
}

} // namespace

bool Past::has(std::uint64_t address) const {
    return std::any_of(begin(), end(), [&](const Part& part) { return inside(part, address); });
}

std::uint64_t Past::anywhere(Random& random) const {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const Part& part : parts_) {
        first = std::min(first, part.first);
        last = std::max(last, part.first + part.bytes);
    }
    for (;;)
        if (const std::uint64_t address = first + random.below(last - first); has(address))
            return address;
}

Past::Times Past::times(std::uint64_t address, bool now, Random& random) const {
    Times found{std::numeric_limits<double>::infinity(), false};
    for (const Part& part : parts_) {
        if (!inside(part, address))
            continue;
        const Times of_part = times_in(part, address, now, random);
        found.age = std::min(found.age, of_part.age);
        found.since = found.since || of_part.since;
    }
    return found;
}

} // namespace core
