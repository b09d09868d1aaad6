// SPDX-License-Identifier: Apache-2.0
// Memory behind the L3: two tiers with a latency and a bandwidth each, pages divided between them,
// or the two as one flat memory that swaps lines (docs/flat.md).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config.hpp"
#include "op.hpp"
#include "past.hpp"
#include "timeline.hpp"
#include "zeroed.hpp"

namespace core {

// Serves one line at a time, whatever the order in which requests are made known: time is cut into
// slices, and a request takes what is left of the first slices from its time on.
class Server {
public:
    explicit Server(double cycles_a_line);
    // A request of about this time will come: nothing but a hint.
    void expect(double t) const {
        slices_.expect(static_cast<std::uint64_t>(t / width_) & (kSlices - 1));
    }
    // When the service of a request of time t begins.
    double serve(double t);

private:
    struct Slice {
        std::uint64_t number;
        double used;
    };
    static constexpr std::uint64_t kSlices = std::uint64_t{1} << 16;

    Slice& slice(std::uint64_t number);

    double cost_, width_;
    std::uint64_t full_from_ = 0, full_to_ = 0; // slices in between have nothing left
    Zeroed<Slice> slices_;
};

class Memory {
public:
    struct Counts {
        std::uint64_t reads, writes; // lines
        double waited;               // cycles that reads were queued
    };

    explicit Memory(const Config& config);

    // A read at about this cycle will come: nothing but a hint.
    void expect(Cycle t) const { servers_[0].expect(static_cast<double>(t)); }
    // A line that misses everything at cycle t, when the L3 says so: when it is at the core.
    Cycle read(std::uint64_t line, Cycle t);
    // A dirty line that leaves the L3; posted.
    void write(std::uint64_t line, Cycle t);

    // Lines [first, end); of their pages such a share is on the fast tier, or dedicated; `filled`
    // is of these alone. What was asked of them here, what near memory did not have, and walks to
    // their pages' entries.
    struct Placed {
        std::uint64_t first, end;
        double share, filled;
        std::uint64_t asked, missed, walks;
    };
    void place(std::uint64_t first, std::uint64_t end, double share, double filled) {
        placed_.push_back({first, end, share, filled, 0, 0, 0});
    }
    const std::vector<Placed>& placed() const { return placed_; }
    // Pages of the lines [first, end), and of the tables that translate them, have these frames of
    // flat memory, by first touch. Throws std::invalid_argument for a frame that there is not.
    void own(std::uint64_t first, std::uint64_t end, std::vector<std::uint32_t> frames);
    // The page table was walked for this line.
    void walked(std::uint64_t line) {
        if (Placed* of = placed_of(line))
            of->walks++;
    }

    // What a program did before; it says so before the first read.
    void ran(Past past) { pasts_.push_back(std::move(past)); }

    const Counts& counts(unsigned tier) const { return counts_[tier]; }
    std::uint64_t near_hits() const { return near_hits_; }
    std::uint64_t near_misses() const { return near_misses_; }
    std::uint64_t dedicated() const { return dedicated_; }

private:
    bool on_fast(std::uint64_t line);
    double serve(unsigned tier, bool write, double t);
    // Whether a line is swapped with others.
    bool tiered(std::uint64_t line);
    // Flat memory: the set of a line and whether it is near; afterwards it is.
    bool near_has(std::uint64_t line);
    // Whether the first line of a set that is asked for was its last one, too.
    bool was_last(std::uint64_t line);

    // Pages of flat memory, near and far.
    std::uint64_t pages() const {
        return config_.near_lines * (1 + config_.ratio) >> (kPageBits - kLineBits);
    }
    // Of the page of a line that nobody asked for yet.
    std::uint64_t new_frame(std::uint64_t line);

    // The last that was placed there; null: nothing was.
    Placed* placed_of(std::uint64_t line);
    // The address of any data of a program, of those on tiered pages if there are some.
    std::uint64_t rival_of(const Past& of);

    const Config config_;
    std::vector<Placed> placed_;
    std::array<double, 2> rest_; // from the L3's answer to the core, without queueing
    std::array<Server, 2> servers_;
    std::array<Counts, 2> counts_{};
    std::uint64_t near_hits_ = 0, near_misses_ = 0, dedicated_ = 0;
    std::vector<std::uint8_t> near_tag_;
    std::vector<std::uint32_t> order_; // of frames, where they are handed out anyhow
    struct Owned {
        std::uint64_t first, end; // lines
        std::vector<std::uint32_t> frames;
        std::size_t next = 0;
    };
    std::vector<Owned> owned_;
    std::uint64_t handed_out_ = 0; // frames, where nobody owns any
    std::vector<Past> pasts_;
    Random random_{1};
    std::unordered_map<std::uint64_t, std::uint64_t>
        frames_; // pages of flat memory, by first touch
};

} // namespace core
