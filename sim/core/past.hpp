// SPDX-License-Identifier: Apache-2.0
// When the lines of a program's data were last asked for, had it run for ever before it began, and
// whether they were since.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "random.hpp"

namespace core {

class Past {
public:
    // walk: from end to end, `from` being next, `pace` bytes an iteration; circle: all lines by
    // turns in an order without a pattern, any: each as likely as another, `pace` of them an
    // iteration. done: iterations since it began, as it goes on.
    enum class Order { walk, circle, any };
    struct Part {
        std::uint64_t first, bytes;
        Order order;
        double pace;
        const std::uint64_t* done = nullptr;
        std::uint64_t from = 0;
    };
    // Iterations from when the line was asked for to the beginning; whether it was since.
    struct Times {
        double age;
        bool since;
    };

    Past() = default;
    Past(std::initializer_list<Part> parts) : parts_(parts) {}
    void push_back(const Part& part) { parts_.push_back(part); }
    auto begin() { return parts_.begin(); }
    auto end() { return parts_.end(); }
    auto begin() const { return parts_.begin(); }
    auto end() const { return parts_.end(); }

    // Whether an address is of the data.
    bool has(std::uint64_t address) const;
    // An address of the data; there is one.
    std::uint64_t anywhere(Random& random) const;
    // Of an address; `now`: it is asked for, for the first time.
    Times times(std::uint64_t address, bool now, Random& random) const;

private:
    std::vector<Part> parts_;
};

} // namespace core
