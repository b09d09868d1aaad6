// SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include "VFlatMemory.h"

namespace anemone {

Controller::Controller()
    : context_(std::make_unique<VerilatedContext>()),
      top_((context_->threads(BUILT_THREADS), std::make_unique<VFlatMemory>(context_.get()))) {
    VFlatMemory& t = *top_;
    host_.reset(new AxiPins ANEMONE_AXI_PINS(t, host));
    near_.reset(new AxiPins ANEMONE_AXI_PINS(t, near));
    far_.reset(new AxiPins ANEMONE_AXI_PINS(t, far));
    t.quiesce = t.inject_valid = 0;
}

Controller::~Controller() {
    top_->final();
}

uint64_t Controller::sideband() const {
    return top_->near_wsideband;
}

void Controller::setSideband(uint64_t value) {
    top_->near_rsideband = value;
}

void Controller::configure(const Job& job, uint64_t nearLines) {
    top_->config_nearLines = nearLines;
    top_->config_dedicatedStart = job.dedicatedStart;
    top_->config_dedicatedEnd = job.dedicatedEnd;
    top_->config_policy = job.policy;
    top_->config_n = job.n;
}

void Controller::reset(bool on, bool power) {
    top_->reset = on;
    top_->powerOn = power;
}

bool Controller::initialised() const {
    return top_->initialised;
}

Counters Controller::counters() const {
    const VFlatMemory& t = *top_;
    return {
        t.counters_hits,      t.counters_misses,     t.counters_swaps,
        t.counters_nearReads, t.counters_nearWrites, t.counters_farReads,
        t.counters_farWrites, t.counters_forwarded,  t.counters_nearErrors + t.counters_farErrors};
}

std::optional<Outcome> Controller::outcome() const {
    if (!top_->outcome_valid)
        return std::nullopt;
    return Outcome(top_->outcome_bits_kind);
}

void Controller::settle() {
    top_->clock = 0;
    top_->eval();
}

void Controller::tick() {
    top_->clock = 1;
    top_->eval();
    ++cycle_;
}

} // namespace anemone
