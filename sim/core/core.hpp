// SPDX-License-Identifier: Apache-2.0
// An out-of-order core. It handles operations in program order and computes for each, from the
// earlier ones, when it enters the window, issues, completes and retires. There is no loop over
// cycles.
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
    Core(const Config& config, Shared& shared, std::size_t number);

    void execute(const Op& op);
    // Prefetches the model's data for a coming operation. Returns whether expect() should follow
    // for the later stages: not when a recent operation touched the same line.
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
    // The cycle in which the next operation enters the window. Earlier cycles are final.
    Cycle now() const { return entry_; }
    // When the last operation retired.
    Cycle retired() const { return last_retired_; }
    // Counts the final cycles. With `all` it counts the unfinished ones, too, and no operation may
    // follow.
    void settle(bool all);

    // The last load: cycles from issue to data, and the source of the data.
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
    // A ring with the last n or more cycles of a sequence.
    class Recent {
    public:
        static constexpr std::uint64_t kKept = 8192; // completed operations: no input is older
        explicit Recent(std::uint64_t n) : at_(std::bit_ceil(n)) {}
        Cycle& operator[](std::uint64_t n) { return at_[n & (at_.size() - 1)]; }

    private:
        std::vector<Cycle> at_;
    };
    struct Forward { // a stored word that loads can be forwarded from
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
    Cycle entry_ = 0;           // of the current operation
    std::uint64_t entered_ = 0; // operations that entered in that cycle
    std::uint64_t waiting_ = 0; // operations in the scheduler
    Cycle redirected_ = 0;      // dispatch resumes here after a mispredicted branch
    Cycle last_retired_ = 0, last_committed_ = 0;
    Loaded loaded_{};
    std::uint64_t retired_together_ = 0;
    std::uint64_t operations_ = 0, loads_ = 0, stores_ = 0, instructions_ = 0, mispredicted_ = 0;
    Recent completed_, retired_, load_retired_, committed_;
    std::array<Forward, kForwards> forwards_{};
    std::array<std::uint64_t, 64> hinted_{}; // lines of recent hints
    std::vector<std::uint8_t> predictor_;    // gshare, two-bit counters
    std::uint64_t history_ = 0;
};

} // namespace core
