// SPDX-License-Identifier: Apache-2.0
// Memory behind the L3: two tiers, each with a latency and a bandwidth. Pages are divided between
// the tiers, or both tiers form one flat memory that swaps lines (docs/flat.md).
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

// Serves one line at a time. Requests need not come in the order of time: time is cut into slices,
// and a request takes the free time of the first slices from its own time on.
class Server {
public:
    explicit Server(double cycles_a_line);
    // Prefetches the model's data for a request at about time t.
    void expect(double t) const {
        slices_.expect(static_cast<std::uint64_t>(t / width_) & (kSlices - 1));
    }
    // Returns when the service of a request at time t begins.
    double serve(double t);

private:
    struct Slice {
        std::uint64_t number;
        double used;
    };
    static constexpr std::uint64_t kSlices = std::uint64_t{1} << 16;

    Slice& slice(std::uint64_t number);

    double cost_, width_;
    std::uint64_t full_from_ = 0, full_to_ = 0; // a run of full slices
    Zeroed<Slice> slices_;
};

class Memory {
public:
    struct Counts {
        std::uint64_t reads, writes; // lines
        double waited;               // cycles that reads were queued
    };

    explicit Memory(const Config& config);

    // Prefetches the model's data for a read at about cycle t.
    void expect(Cycle t) const { servers_[0].expect(static_cast<double>(t)); }
    // A line missed the L3 at cycle t. Returns when it arrives at the core.
    Cycle read(std::uint64_t line, Cycle t);
    // A posted write of a dirty line from the L3.
    void write(std::uint64_t line, Cycle t);

    // Settings and counts of the lines [first, end), see Config.
    struct Placed {
        std::uint64_t first, end;
        double share, filled;               // in place of fast_share and filled
        std::uint64_t asked, missed, walks; // accesses, near misses, page walks
    };
    void place(std::uint64_t first, std::uint64_t end, double share, double filled) {
        placed_.push_back({first, end, share, filled, 0, 0, 0});
    }
    const std::vector<Placed>& placed() const { return placed_; }
    // The pages of the lines [first, end) and of their page tables get these frames of flat memory,
    // in the order of first touch. Throws std::invalid_argument for a frame out of range.
    void assign_frames(std::uint64_t first, std::uint64_t end, std::vector<std::uint32_t> frames);
    // The page table was walked for this line.
    void walked(std::uint64_t line) {
        if (Placed* of = placed_of(line))
            of->walks++;
    }

    // Adds a program's accesses before the start. Called before the first read.
    void ran(Past past) { pasts_.push_back(std::move(past)); }

    const Counts& counts(unsigned tier) const { return counts_[tier]; }
    std::uint64_t near_hits() const { return near_hits_; }
    std::uint64_t near_misses() const { return near_misses_; }
    std::uint64_t dedicated() const { return dedicated_; }

private:
    bool on_fast(std::uint64_t line);
    double serve(unsigned tier, bool write, double t);
    // Whether a line is in the swapped part of flat memory.
    bool tiered(std::uint64_t line);
    // Whether a line of flat memory is in near. Swaps it in if not.
    bool near_has(std::uint64_t line);
    // At the first access to a set: whether this line was the last one accessed before the start.
    bool was_last(std::uint64_t line);

    // Pages of flat memory, near and far.
    std::uint64_t pages() const {
        return config_.near_lines * (1 + config_.ratio) >> (kPageBits - kLineBits);
    }
    // A frame for the page of a line, at its first access.
    std::uint64_t new_frame(std::uint64_t line);

    // The last place() that covers a line, or null.
    Placed* placed_of(std::uint64_t line);
    // A random address of a program's data, on a tiered page if one is found.
    std::uint64_t rival_of(const Past& of);

    const Config config_;
    std::vector<Placed> placed_;
    std::array<double, 2> rest_; // latency from the L3 miss to the core, without queueing
    std::array<Server, 2> servers_;
    std::array<Counts, 2> counts_{};
    std::uint64_t near_hits_ = 0, near_misses_ = 0, dedicated_ = 0;
    std::vector<std::uint8_t> near_tag_;
    std::vector<std::uint32_t> order_; // random order of the frames when `filled` is set
    struct Owned {
        std::uint64_t first, end; // lines
        std::vector<std::uint32_t> frames;
        std::size_t next = 0;
    };
    std::vector<Owned> owned_;
    std::uint64_t handed_out_ = 0; // frames, while own() was never called
    std::vector<Past> pasts_;
    Random random_{1};
    std::unordered_map<std::uint64_t, std::uint64_t> frames_; // by page of flat memory
};

} // namespace core
