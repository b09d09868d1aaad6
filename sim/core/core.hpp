// SPDX-License-Identifier: Apache-2.0
// An out-of-order core. Each operation gets the cycles in which it enters the window, issues,
// completes and retires, in program order, from those before it; nothing steps cycle by cycle.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "config.hpp"
#include "hierarchy.hpp"
#include "op.hpp"
#include "timeline.hpp"

namespace core {

class Core {
public:
    // number: of the machine's cores.
    Core(const Config& config, Shared& shared, std::size_t number);

    void execute(const Op& op);
    // An operation that will come: nothing but a hint. Whether there is more to be hinted, by
    // `expect`: not of what is in the lines of those shortly before.
    bool hint(const Op& op) {
        if (op.kind != Kind::load && op.kind != Kind::store)
            return false;
        const std::uint64_t line = op.address >> kLineBits;
        std::uint64_t& seen = hinted_[line % hinted_.size()];
        if (seen == line)
            return false;
        seen = line;
        memory_.expect(op.address, 0);
        return true;
    }
    void expect(const Op& op, unsigned stage) const { memory_.expect(op.address, stage); }
    // The cycle in which the next operation enters the window: all before is final.
    Cycle now() const { return entry_; }
    // When the last operation retired.
    Cycle retired() const { return last_retired_; }
    // Counts what is final; with `all`, what is still under way, too: nothing may follow.
    void settle(bool all);

    // Of the last load: cycles from its issue to its data, and where it found them.
    struct Loaded {
        Cycle cycles;
        Origin origin;
    };
    const Loaded& loaded() const { return loaded_; }

    std::uint64_t operations() const { return operations_; }
    std::uint64_t instructions() const { return instructions_; }
    std::uint64_t mispredicted() const { return mispredicted_; }
    const Timeline::Counted& stalls() const { return timeline_.counted(); }
    const Requests& requests() const { return memory_.requests(); }

private:
    // The last of a sequence of cycles, so many at least.
    class Recent {
    public:
        static constexpr std::uint64_t kKept = 8192; // completed ones: inputs are not further back
        explicit Recent(std::uint64_t n) : at_(std::bit_ceil(n)) {}
        Cycle& operator[](std::uint64_t n) { return at_[n & (at_.size() - 1)]; }

    private:
        std::vector<Cycle> at_;
    };
    struct Forward { // a word that a store has written, until the L1 has it
        std::uint64_t word = ~std::uint64_t{0};
        Cycle ready = 0, committed = 0;
    };
    static constexpr std::size_t kForwards = 1024;

    void enter(const Op& op);
    void wait_until(Cycle t);
    Cycle inputs_ready(const Op& op);
    Cycle issue(Cycle t, PerCycle* port, std::uint64_t ports);
    bool mispredicts(const Op& op);

    const Config& config_;
    Timeline timeline_;
    Hierarchy memory_;
    Cycle entry_ = 0;           // of the operation in hand
    std::uint64_t entered_ = 0; // operations in that cycle
    std::uint64_t waiting_ = 0; // in the scheduler
    Cycle redirected_ = 0;      // by a branch: nothing enters before
    Cycle last_retired_ = 0, last_committed_ = 0;
    Loaded loaded_{};
    std::uint64_t retired_together_ = 0;
    std::uint64_t operations_ = 0, loads_ = 0, stores_ = 0, instructions_ = 0, mispredicted_ = 0;
    Recent completed_, retired_, load_retired_, committed_;
    std::array<Forward, kForwards> forwards_{};
    std::array<std::uint64_t, 64> hinted_{}; // lines
    std::vector<std::uint8_t> predictor_;    // gshare, two bits each
    std::uint64_t history_ = 0;
};

} // namespace core
