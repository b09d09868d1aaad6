// SPDX-License-Identifier: Apache-2.0
#include "expander.h"

#include <stdexcept>
#include <string>

#include "VMemoryExpander.h"
#include "verilated_syms.h"

namespace anemone {

Expander::Expander()
    : context_(std::make_unique<VerilatedContext>()),
      top_((context_->threads(BUILT_THREADS), std::make_unique<VMemoryExpander>(context_.get()))) {
    VMemoryExpander& t = *top_;
#if BUILT_RATIO
#define MEMORIES(c)                                                                                \
    memories_.push_back({ANEMONE_AXI_PINS(t, tiers_##c##_near), &t.tiers_##c##_near_wsideband,     \
                         &t.tiers_##c##_near_rsideband});                                          \
    memories_.push_back({ANEMONE_AXI_PINS(t, tiers_##c##_far)});
#else
#define MEMORIES(c) memories_.push_back({ANEMONE_AXI_PINS(t, downstream_##c)});
#endif
    BUILT_EACH_CHANNEL(MEMORIES)
#undef MEMORIES
#define PORT(i) upstream_.push_back(ANEMONE_AXI_PINS(t, upstream_##i));
    BUILT_EACH_PORT(PORT)
#undef PORT
    control_.reset(new ControlPins{
        t.control_awaddr, t.control_awvalid, t.control_awready, t.control_wdata, t.control_wstrb,
        t.control_wvalid, t.control_wready, t.control_bresp, t.control_bvalid, t.control_bready,
        t.control_araddr, t.control_arvalid, t.control_arready, t.control_rdata, t.control_rresp,
        t.control_rvalid, t.control_rready});
    t.interrupt_ready = 1;
    // Found by name, because the hierarchy depends on the configuration. public.vlt makes them
    // public.
    writes_ = find("io_write_words", kPipelines * kChannels);
    lines_ = find("io_line_valid", kChannels);
    beats_ = find("io_beat_valid", kChannels);
}

Expander::~Expander() {
    top_->final();
}

void Expander::settle() {
    top_->clock = 0;
    top_->eval();
}

void Expander::tick() {
    if (const int vector = message(); vector >= 0)
        ++messages_.at(std::size_t(vector));
    top_->clock = 1;
    top_->eval();
    ++cycle_;
}

int Expander::message() const {
    return top_->interrupt_valid ? int(top_->interrupt_vector) : -1;
}

void Expander::setReset(bool on) {
#if BUILT_RATIO
    top_->powerOn = on && !poweredUp_;
    poweredUp_ |= !on;
#endif
    top_->quiesce = 0;
    top_->reset = on;
}

void Expander::beginReset() {
    setReset(true);
    idle(4);
}

void Expander::reset() {
    beginReset();
    endReset();
    idle(kAfterReset);
}

void Expander::idle(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) {
        settle();
        tick();
    }
}

bool Expander::any(const std::vector<const CData*>& signals) {
    for (const CData* signal : signals)
        if (*signal)
            return true;
    return false;
}

std::vector<const CData*> Expander::find(const char* name, std::size_t count) const {
    std::vector<const CData*> found;
    for (const auto& [scope, inside] : *context_->scopeNameMap())
        if (const VerilatedVar* var = inside->varFind(name))
            found.push_back(static_cast<const CData*>(var->datap()));
    if (found.size() != count)
        throw std::runtime_error(std::string(name) + ": found " + std::to_string(found.size()) +
                                 " in the hardware, not " + std::to_string(count));
    return found;
}

} // namespace anemone
