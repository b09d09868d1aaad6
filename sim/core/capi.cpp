// SPDX-License-Identifier: Apache-2.0
// C interface of a machine with several cores. The core with the earliest cycle runs next.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <vector>

#include "core.hpp"
#include "instructions.hpp"
#include "kernels.hpp"

namespace {

using core::Core;

constexpr std::size_t kBatch = 512; // operations generated at a time
// The model's own memory accesses are prefetched in stages, each kStage operations ahead of the
// next.
constexpr std::size_t kStage = 12, kAhead = kStage * core::Hierarchy::kStages;
constexpr core::Cycle kQuantum = 200; // cycles that a core may run ahead of the others

struct Running {
    Running(const core::Config& config, core::Shared& shared, std::size_t number)
        : core(config, shared, number) {}
    Core core;
    std::unique_ptr<core::Source> source;
    std::vector<core::Op> ops;
    std::size_t next = 0;
    std::uint64_t end = 0; // stops at this number of operations
    core::Cycle stop = 0;  // or at this cycle
    bool ended = false;

    bool runs() const { return source && !ended && core.operations() < end && core.now() < stop; }
    void step() {
        if (next + kAhead >= ops.size() && !refill())
            return;
        if (next + kAhead < ops.size())
            ops[next + kAhead].hinted = core.hint(ops[next + kAhead]);
        for (unsigned stage = 1; stage < core::Hierarchy::kStages; stage++)
            if (const std::size_t at = next + kAhead - stage * kStage;
                at < ops.size() && ops[at].hinted)
                core.expect(ops[at], stage);
        core.execute(ops[next++]);
    }
    // Generates more operations. Returns false at the program's end.
    bool refill() {
        ops.erase(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(next));
        next = 0;
        for (std::size_t had = kAhead; ops.size() < kBatch && ops.size() != had;) {
            had = ops.size();
            source->more(ops);
        }
        ended = ops.empty();
        return !ended;
    }
};

} // namespace

struct anemone_core {
    explicit anemone_core(const core::Config& c) : config(c), shared(config) {
        for (std::uint64_t i = 0; i < config.cores; i++)
            cores.push_back(std::make_unique<Running>(config, shared, i));
    }
    const core::Config config;
    core::Shared shared;
    std::vector<std::unique_ptr<Running>> cores;

    void run(std::uint64_t operations, core::Cycle cycles) {
        core::Cycle last = 0;
        for (auto& each : cores)
            last = std::max(last, each->core.now());
        for (auto& each : cores) {
            each->end = each->core.operations() + operations;
            each->stop = cycles ? last + cycles : ~core::Cycle{0};
        }
        for (;;) {
            Running* behind = nullptr;
            core::Cycle others = ~core::Cycle{0};
            for (auto& each : cores) {
                if (!each->runs())
                    continue;
                if (!behind || each->core.now() < behind->core.now()) {
                    if (behind)
                        others = std::min(others, behind->core.now());
                    behind = each.get();
                } else {
                    others = std::min(others, each->core.now());
                }
            }
            if (!behind)
                return;
            const core::Cycle until =
                others > ~core::Cycle{0} - kQuantum ? others : others + kQuantum;
            while (behind->runs() && behind->core.now() <= until)
                behind->step();
        }
    }
};

namespace {

template <class Do> int guarded(char* error, std::size_t bytes, Do act) {
    try {
        act();
        return 0;
    } catch (const std::exception& e) {
        std::snprintf(error, bytes, "%s", e.what());
        return 1;
    }
}

} // namespace

extern "C" {

// A captured instruction and a memory operation, in the layout of instructions.py.
struct anemone_core_row {
    std::uint64_t pc, address_registers, reads, writes, first, end; // operations [first, end)
    std::uint64_t bytes, branch;
};
struct anemone_core_touched {
    std::uint64_t address, store;
};

// Translates instructions to operations. `out` has space for n plus the memory operations. Returns
// the number of operations.
std::size_t anemone_core_operations(const anemone_core_row* rows, std::size_t n,
                                    const anemone_core_touched* touched, core::Op* out) {
    core::Translator translator;
    std::vector<core::Touched> of_one;
    core::Op* at = out;
    for (std::size_t i = 0; i < n; i++) {
        const anemone_core_row& row = rows[i];
        of_one.clear();
        for (std::uint64_t k = row.first; k < row.end; k++)
            of_one.push_back({touched[k].address, touched[k].store != 0});
        const bool went = i + 1 < n && rows[i + 1].pc != row.pc + row.bytes;
        at = translator.add(
            {row.pc, row.address_registers, row.reads, row.writes, row.branch != 0, went},
            of_one.data(), of_one.size(), at);
    }
    return static_cast<std::size_t>(at - out);
}

// Returns null when a setting is not allowed, and writes the reason to `error`.
anemone_core* anemone_core_new(const char* settings, char* error, std::size_t bytes) {
    anemone_core* made = nullptr;
    guarded(error, bytes, [&] { made = new anemone_core(core::Config::parse(settings)); });
    return made;
}

void anemone_core_delete(anemone_core* m) {
    delete m;
}

int anemone_core_kernel(anemone_core* m, std::size_t core, const char* settings, char* error,
                        std::size_t bytes) {
    return guarded(error, bytes, [&] {
        auto& source = m->cores.at(core)->source = core::make_kernel(settings);
        m->shared.memory.ran(source->past());
    });
}

// The caller keeps the operations in memory until the core has run them. again: repeat for ever.
int anemone_core_trace(anemone_core* m, std::size_t core, const core::Op* ops, std::size_t n,
                       int again, char* error, std::size_t bytes) {
    return guarded(error, bytes, [&] {
        m->cores.at(core)->source = core::make_trace(ops, n, again != 0);
        m->cores.at(core)->ended = false;
    });
}

// Sets the share of the pages of [first, end) on the fast tier (dedicated in flat memory), and the
// share of flat memory's other pages that is in use. `first` and `end` are multiples of a line.
void anemone_core_place(anemone_core* m, std::uint64_t first, std::uint64_t end, double share,
                        double filled) {
    m->shared.memory.place(first >> core::kLineBits, end >> core::kLineBits, share, filled);
}

// The pages of [first, end) and of their page tables get these frames of flat memory, in the order
// of first touch. After the first call, every page in use must be in such a range.
int anemone_core_frames(anemone_core* m, std::uint64_t first, std::uint64_t end,
                        const std::uint32_t* frames, std::size_t n, char* error,
                        std::size_t bytes) {
    return guarded(error, bytes, [&] {
        m->shared.memory.assign_frames(first >> core::kLineBits, end >> core::kLineBits,
                                       {frames, frames + n});
    });
}

// Runs every core for `operations`, for `cycles` after the cycle of the most advanced core (0: no
// limit), or to the end of its program, whichever comes first.
int anemone_core_run(anemone_core* m, std::uint64_t operations, std::uint64_t cycles, char* error,
                     std::size_t bytes) {
    return guarded(error, bytes, [&] { m->run(operations, cycles); });
}

const char* anemone_core_names() {
    return "c,P1,P2,P3,P4,P5,P6,P7,P8,P9,P10,P11,P12,P13,P14,P15,P16,P17,operations,instructions,"
           "loads,stores,mispredicted,l1_miss_cycles,l2_miss,l2_miss_cycles,l3_miss,l3_miss_cycles,"
           "stlb_hits,tlb_miss,tlb_miss_cycles,rfo_offcore,writebacks";
}

// Counts of a core so far. all: counts unfinished operations, too; the core must not run
// afterwards.
void anemone_core_counts(anemone_core* m, std::size_t core, int all, std::uint64_t* out) {
    Core& of = m->cores[core]->core;
    of.settle(all != 0);
    const auto& s = of.stalls();
    const auto& r = of.requests();
    const std::uint64_t found[] = {all ? of.retired() : of.now(),
                                   s.stalls_l1_miss,
                                   s.stalls_l2_miss,
                                   s.stalls_l3_miss,
                                   r.l1_miss,
                                   r.fb_hit,
                                   s.bound_on_stores,
                                   r.pf_l1_any,
                                   r.pf_l1_l3_hit,
                                   r.pf_l2_any,
                                   r.pf_l2_l3_hit,
                                   r.read_occupancy,
                                   r.reads,
                                   s.read_cycles,
                                   r.lookups_prefetch,
                                   r.lookups,
                                   r.prefetch_l3_miss,
                                   r.prefetch_l3_hit,
                                   of.operations(),
                                   of.instructions(),
                                   r.loads,
                                   r.stores,
                                   of.mispredicted(),
                                   r.l1_miss_cycles,
                                   r.l2_miss,
                                   r.l2_miss_cycles,
                                   r.l3_miss,
                                   r.l3_miss_cycles,
                                   r.stlb_hits,
                                   r.tlb_miss,
                                   r.tlb_miss_cycles,
                                   r.rfo_offcore,
                                   r.writebacks};
    std::copy(std::begin(found), std::end(found), out);
}

// For each tier: lines read, lines written, cycles that reads were queued. Then near hits, near
// misses, and accesses to dedicated memory.
void anemone_core_memory(anemone_core* m, double* out) {
    for (unsigned tier = 0; tier < 2; tier++) {
        const auto& c = m->shared.memory.counts(tier);
        *out++ = static_cast<double>(c.reads);
        *out++ = static_cast<double>(c.writes);
        *out++ = c.waited;
    }
    *out++ = static_cast<double>(m->shared.memory.near_hits());
    *out++ = static_cast<double>(m->shared.memory.near_misses());
    *out++ = static_cast<double>(m->shared.memory.dedicated());
}

// For each range of anemone_core_place, in order: accesses, near misses, page walks.
void anemone_core_placed(anemone_core* m, std::uint64_t* out) {
    for (const auto& each : m->shared.memory.placed()) {
        *out++ = each.asked;
        *out++ = each.missed;
        *out++ = each.walks;
    }
}

// Writes up to n parts of a kernel's data: first byte and size, in pairs. Returns the number of
// parts.
std::size_t anemone_core_parts(anemone_core* m, std::size_t core, std::uint64_t* out,
                               std::size_t n) {
    const core::Past past = m->cores[core]->source->past();
    std::size_t found = 0;
    for (const auto& part : past)
        if (found++ < n) {
            *out++ = part.first;
            *out++ = part.bytes;
        }
    return found;
}

} // extern "C"
