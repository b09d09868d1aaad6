// SPDX-License-Identifier: Apache-2.0
// The state of each cycle in a window that moves with the core: used ports, occupied buffers, and
// the bits from which the stall counters are computed.
//
// Operations are processed in program order, but their events are not in the order of cycles. No
// event falls before the cycle in which the last operation entered the window, so all earlier
// cycles are final.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "occupancy.hpp"

namespace core {

class Timeline {
public:
    enum Bit { executed, l1_miss, l2_miss, l3_miss, offcore_read, stores_full, kBits };

    struct Counted {
        std::uint64_t stalls_l1_miss, stalls_l2_miss, stalls_l3_miss, bound_on_stores, read_cycles;
    };

    PerCycle issued, load_ports, store_ports;
    Occupancy fill_buffers, superqueue, walks;

    void set(Bit bit, Cycle t) { word(bit, t) |= std::uint64_t{1} << (t & 63); }
    void set(Bit bit, Cycle from, Cycle to) {
        if (from >= to)
            return;
        constexpr std::uint64_t ones = ~std::uint64_t{0};
        const Cycle last = (to - 1) / 64;
        std::uint64_t first = ones << (from & 63);
        for (Cycle at = from / 64; at < last; at++, first = ones)
            word(bit, at * 64) |= first;
        word(bit, last * 64) |= first & ones >> (63 - ((to - 1) & 63));
    }
    bool is(Bit bit, Cycle t) { return word(bit, t) >> (t & 63) & 1; }
    // The first cycle from t on with an issue. One must exist.
    Cycle next_executed(Cycle t) {
        std::uint64_t rest = word(executed, t) >> (t & 63);
        while (rest == 0) {
            t = (t | 63) + 1;
            rest = word(executed, t);
        }
        return t + static_cast<Cycle>(std::countr_zero(rest));
    }
    // How many operations issue in [from, to).
    std::uint64_t issued_in(Cycle from, Cycle to) {
        std::uint64_t sum = 0;
        while (from < to) {
            const Cycle end = std::min(to, (from | 63) + 1);
            if (word(executed, from)) // skips words without an issue
                sum += issued.total(from, end);
            from = end;
        }
        return sum;
    }
    // Counts and clears the whole words before t.
    void settle(Cycle t) {
        const Cycle end = t & ~Cycle{63};
        for (; settled_ < end; settled_ += 64) {
            const Cycle at = settled_;
            const std::uint64_t idle = ~word(executed, at);
            const std::uint64_t missing = word(l1_miss, at);
            counted_.stalls_l1_miss += count(idle & missing);
            counted_.stalls_l2_miss += count(idle & word(l2_miss, at));
            counted_.stalls_l3_miss += count(idle & word(l3_miss, at));
            // The core waits for the full store buffer, and for no load.
            counted_.bound_on_stores += count(idle & word(stores_full, at) & ~missing);
            counted_.read_cycles += count(word(offcore_read, at));
            if (word(executed, at)) // skips words without an issue
                for (PerCycle* each : {&issued, &load_ports, &store_ports})
                    each->forget(at);
            for (Occupancy* each : {&fill_buffers, &superqueue, &walks})
                each->forget(at);
            for (unsigned bit = 0; bit < kBits; bit++)
                word(static_cast<Bit>(bit), at) = 0;
        }
    }
    const Counted& counted() const { return counted_; }
    // Throws unless cycle t lies in the window.
    void check(Cycle t) const {
        if (t >= settled_ + kHorizon)
            throw std::runtime_error("memory is so slow that a million cycles are not enough");
    }

private:
    static std::uint64_t count(std::uint64_t word) {
        return static_cast<std::uint64_t>(std::popcount(word));
    }
    std::uint64_t& word(Bit bit, Cycle t) { return bits_[bit][(t / 64) & (kHorizon / 64 - 1)]; }

    // One array per bit, so that a search over many cycles reads few host cache lines.
    struct Words : Zeroed<std::uint64_t> {
        Words() : Zeroed(kHorizon / 64) {}
    };
    std::array<Words, kBits> bits_;
    Counted counted_{};
    Cycle settled_ = 0;
};

} // namespace core
