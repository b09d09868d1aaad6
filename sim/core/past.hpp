// SPDX-License-Identifier: Apache-2.0
// A program's accesses before the start, as if it had run for ever: when each line was last
// accessed. It also says whether a line was accessed since the start.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "random.hpp"

namespace core {

class Past {
public:
    // walk: from end to end; circle: all lines in turn, in random order; any: random lines.
    enum class Order { walk, circle, any };
    struct Part {
        std::uint64_t first, bytes;
        Order order;
        double pace;                         // per iteration: bytes (walk) or lines
        const std::uint64_t* done = nullptr; // iterations since the start; the program counts on
        std::uint64_t from = 0;              // offset of the next access at the start (walk)
    };
    struct Times {
        double age; // iterations from the last access to the start
        bool since; // accessed since the start
    };

    Past() = default;
    Past(std::initializer_list<Part> parts) : parts_(parts) {}
    void push_back(const Part& part) { parts_.push_back(part); }
    auto begin() { return parts_.begin(); }
    auto end() { return parts_.end(); }
    auto begin() const { return parts_.begin(); }
    auto end() const { return parts_.end(); }

    // Whether the data contain an address.
    bool has(std::uint64_t address) const;
    // A random address of the data, which must not be empty.
    std::uint64_t anywhere(Random& random) const;
    // Draws the times of an address. now: the program accesses it now, for the first time.
    Times times(std::uint64_t address, bool now, Random& random) const;

private:
    std::vector<Part> parts_;
};

} // namespace core
