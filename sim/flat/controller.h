// SPDX-License-Identifier: Apache-2.0
// The verilated FlatMemory: its pins and its clock.
//
// A cycle: set the inputs, settle(), read the outputs, tick().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "axi.h"
#include "job.h"

class VFlatMemory;

namespace anemone {

enum Outcome : uint8_t { kHit, kMiss, kSwap, kDedicated }; // kMiss: a miss without a swap

struct Counters {
    uint64_t hits, misses, swaps, nearReads, nearWrites, farReads, farWrites, forwarded, errors;
};

class Controller {
public:
    Controller();
    ~Controller();

    AxiPins& host() { return *host_; }
    AxiPins& near() { return *near_; }
    AxiPins& far() { return *far_; }
    // The sideband of near memory: out with W, in with R.
    uint64_t sideband() const;
    void setSideband(uint64_t value);

    void configure(const Job& job, uint64_t nearLines);
    void reset(bool on, bool power);
    bool initialised() const;
    Counters counters() const;
    // The outcome of the next request, in the order of acceptance, if there is one in this cycle.
    std::optional<Outcome> outcome() const;

    void settle();
    void tick();
    uint64_t cycle() const { return cycle_; }

private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<VFlatMemory> top_;
    std::unique_ptr<AxiPins> host_, near_, far_;
    uint64_t cycle_ = 0;
};

} // namespace anemone
