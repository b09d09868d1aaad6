// SPDX-License-Identifier: Apache-2.0
#include "hierarchy.hpp"

#include <algorithm>

#include "op.hpp"

namespace core {

Hierarchy::Hierarchy(const Config& config, Shared& shared, std::size_t core, Timeline& timeline)
    : config_(config), l3_(shared.l3_of(core)), memory_(shared.memory), timeline_(timeline),
      l1_(config.l1_kib * 16, config.l1_ways), l2_(config.l2_kib * 16, config.l2_ways),
      tlb_(config.tlb_entries, config.tlb_ways), stlb_(config.stlb_entries, config.stlb_ways),
      stride_(config.stride_log2, config.stride_bytes), streamer_(config.streams) {}

Cycle Hierarchy::translate(std::uint64_t address, Cycle t) {
    const std::uint64_t page = address >> config_.page_bits;
    if (const auto arrives = tlb_.find(page))
        return std::max(t, *arrives);
    const Cycle asked = t;
    t += config_.stlb_latency;
    if (const auto arrives = stlb_.find(page)) {
        count_.stlb_hits++;
        t = std::max(t, *arrives);
    } else {
        // The walkers cache the upper levels of the tables, so a walk reads one line.
        const Cycle begins = timeline_.walks.first_below(t, config_.walkers);
        const std::uint64_t line = (kTables + page * 8) >> kLineBits;
        t = fetch(line, begins, For::walk).arrives + config_.walk;
        timeline_.walks.occupy(begins, t);
        memory_.walked(address >> kLineBits);
        count_.tlb_miss++;
        count_.tlb_miss_cycles += t - asked;
        stlb_.fill(page, t, false);
    }
    tlb_.fill(page, t, false);
    return t;
}

void Hierarchy::expect(std::uint64_t address, unsigned stage) const {
    const std::uint64_t line = address >> kLineBits;
    switch (stage) {
    case 0: // the sets of the L2 and the L3
        l2_.expect(line);
        l3_.expect(line);
        break;
    case 1: // the L2's victim
        l2_.expect_out(line);
        break;
    case 2: // the victim's set in the L3
        l3_.expect(l2_.next_out(line));
        break;
    default: // the L3's victim
        l3_.expect_out(l2_.next_out(line));
    }
}

Cycle Hierarchy::load(std::uint32_t pc, std::uint64_t address, Cycle t) {
    count_.loads++;
    t = translate(address, t);
    const std::uint64_t line = address >> kLineBits;
    Cycle done = t + config_.l1_latency;
    origin_ = Origin::l1;
    if (const auto arrives = l1_.find(line)) {
        if (*arrives > t) { // in a fill buffer
            count_.fb_hit++;
            origin_ = Origin::in_flight;
            done = std::max(done, *arrives);
            timeline_.set(Timeline::l1_miss, t, done);
        }
    } else {
        const Cycle begins = timeline_.fill_buffers.first_below(t, config_.fill_buffers);
        const Fetched got = fetch(line, begins, For::load);
        timeline_.fill_buffers.occupy(begins, got.arrives);
        fill_l1(line, got.arrives, false);
        done = std::max(done, got.arrives);
        origin_ = origin_of(got);
        count_.l1_miss++;
        count_.l1_miss_cycles += done - begins; // without the wait for a fill buffer
        timeline_.set(Timeline::l1_miss, t, done);
        if (got.missed_l2) {
            count_.l2_miss++;
            count_.l2_miss_cycles += done - begins;
            timeline_.set(Timeline::l2_miss, got.left, done);
        }
        if (got.missed_l3) {
            count_.l3_miss++;
            count_.l3_miss_cycles += done - begins;
            timeline_.set(Timeline::l3_miss, got.beyond, done);
        }
    }
    if (config_.stride)
        if (const auto ahead = stride_.next(pc, address))
            prefetch_l1(*ahead, t);
    if (config_.next_line)
        if (const auto ahead = next_line_.next(line))
            prefetch_l1(*ahead, t);
    return done;
}

Cycle Hierarchy::acquire(std::uint64_t address, Cycle t) {
    count_.stores++;
    t = translate(address, t);
    const std::uint64_t line = address >> kLineBits;
    if (const auto arrives = l1_.find(line, true))
        return std::max(t, *arrives);
    const Cycle begins = timeline_.fill_buffers.first_below(t, config_.fill_buffers);
    const Fetched got = fetch(line, begins, For::store);
    timeline_.fill_buffers.occupy(begins, got.arrives);
    fill_l1(line, got.arrives, true);
    return got.arrives;
}

Origin Hierarchy::origin_of(const Fetched& got) {
    if (got.missed_l3)
        return Origin::memory;
    if (got.joined)
        return Origin::in_flight;
    return got.missed_l2 ? Origin::l3 : Origin::l2;
}

Hierarchy::Fetched Hierarchy::fetch(std::uint64_t line, Cycle t, For what) {
    Fetched got{};
    const Cycle answered = t + config_.l2_latency;
    if (const auto arrives = l2_.find(line)) {
        // A line in flight: the request joins the one in the superqueue.
        const bool joined = *arrives > answered;
        got = {std::max(answered, *arrives), joined, false, answered, 0, joined};
        if (what == For::load && got.missed_l2)
            count_demand(got); // a prefetch that counts as demand from now on
    } else {
        got = beyond_l2(line, answered, what);
        fill_l2(line, got.arrives, got.left);
        if (what == For::load) {
            count_demand(got);
        } else if (what == For::store) {
            count_.rfo_offcore++;
        } else if (what == For::l1_prefetch) {
            count_.pf_l1_any++;
            count_.pf_l1_l3_hit += !got.missed_l3;
        }
    }
    if (what != For::walk)
        train_l2(line, t, got.missed_l2);
    return got;
}

void Hierarchy::count_demand(const Fetched& got) {
    count_.reads++;
    count_.read_occupancy += got.arrives - got.left;
    timeline_.set(Timeline::offcore_read, got.left, got.arrives);
}

Hierarchy::Fetched Hierarchy::beyond_l2(std::uint64_t line, Cycle t, For what) {
    Fetched got{};
    got.missed_l2 = true;
    got.left = timeline_.superqueue.first_below(t, config_.superqueue);
    got.beyond = got.left + config_.l3_latency - config_.l2_latency;
    count_.lookups++;
    const bool prefetch = what == For::l1_prefetch || what == For::l2_prefetch;
    count_.lookups_prefetch += prefetch;
    memory_.expect(got.beyond);
    if (l3_.find(line)) {
        got.arrives = got.beyond;
        count_.prefetch_l3_hit += prefetch;
    } else {
        got.missed_l3 = true;
        got.arrives = memory_.read(line, got.beyond);
        count_.prefetch_l3_miss += prefetch;
    }
    timeline_.check(got.arrives);
    timeline_.superqueue.occupy(got.left, got.arrives);
    return got;
}

void Hierarchy::fill_l1(std::uint64_t line, Cycle arrives, bool dirty) {
    if (const auto out = l1_.fill(line, arrives, dirty); out && out->dirty)
        l2_.find(out->line, true); // the L2 includes the L1
}

void Hierarchy::fill_l2(std::uint64_t line, Cycle arrives, Cycle t) {
    const auto out = l2_.fill(line, arrives, false);
    if (!out)
        return;
    const bool dirty = l1_.remove(out->line).value_or(false) || out->dirty;
    // The L3 is a victim cache of the L2s.
    count_.lookups += dirty;
    if (l3_.find(out->line, dirty))
        return;
    if (const auto evicted = l3_.fill(out->line, t, dirty); evicted && evicted->dirty) {
        count_.writebacks++;
        memory_.write(evicted->line, t);
    }
}

void Hierarchy::prefetch_l1(std::uint64_t line, Cycle t) {
    if (l1_.holds(line) || timeline_.fill_buffers[t] >= config_.fill_buffers)
        return; // dropped when no fill buffer is free
    const Fetched got = fetch(line, t, For::l1_prefetch);
    timeline_.fill_buffers.occupy(t, got.arrives);
    fill_l1(line, got.arrives, false);
}

void Hierarchy::train_l2(std::uint64_t line, Cycle t, bool missed) {
    if (config_.streamer) {
        const auto ahead = streamer_.next(line, static_cast<unsigned>(config_.streamer_distance),
                                          static_cast<unsigned>(config_.streamer_degree));
        for (unsigned i = 0; i < ahead.count; i++)
            prefetch_l2(ahead.first + static_cast<std::uint64_t>(ahead.step * static_cast<int>(i)),
                        t);
    }
    if (config_.adjacent && missed)
        prefetch_l2(line ^ 1, t);
}

void Hierarchy::prefetch_l2(std::uint64_t line, Cycle t) {
    if (l2_.holds(line) ||
        timeline_.superqueue[t] + config_.superqueue_demand >= config_.superqueue)
        return;
    const Fetched got = beyond_l2(line, t, For::l2_prefetch);
    count_.pf_l2_any++;
    count_.pf_l2_l3_hit += !got.missed_l3;
    fill_l2(line, got.arrives, got.left);
}

} // namespace core
