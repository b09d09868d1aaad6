// SPDX-License-Identifier: Apache-2.0
#include "expander.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "VMemoryExpander.h"
#include "verilated_syms.h"

// A failed assertion of the RTL ends the run at once: what it would count afterwards is worth
// nothing. Verilator calls these (VL_USER_FATAL, VL_USER_STOP).
void vl_stop(const char* file, int line, const char* hierarchy) {
    std::fflush(stdout);
    std::fprintf(stderr, "RTL assertion in %s (%s:%d)\n", hierarchy, file, line);
    std::_Exit(3);
}

void vl_fatal(const char* file, int line, const char* hierarchy, const char* message) {
    std::fflush(stdout);
    std::fprintf(stderr, "RTL assertion in %s (%s:%d): %s\n", hierarchy, file, line, message);
    std::_Exit(3);
}

namespace anemone {

Expander::Expander()
    : context_(std::make_unique<VerilatedContext>()),
      top_((context_->threads(BUILT_THREADS), std::make_unique<VMemoryExpander>(context_.get()))) {
    VMemoryExpander& t = *top_;
#define ADDRESS(p, c) {t.p##id, t.p##addr, t.p##len, t.p##size, t.p##burst, t.p##valid, t.p##ready}
#define PINS(p)                                                                                    \
    {                                                                                              \
        ADDRESS(p##_aw, c), ADDRESS(p##_ar, c),                                                    \
            {t.p##_wdata, t.p##_wstrb, t.p##_wlast, t.p##_wuser, t.p##_wvalid, t.p##_wready},      \
            {t.p##_bid, t.p##_bresp, t.p##_bvalid, t.p##_bready}, {                                \
            t.p##_rid, t.p##_rdata, t.p##_rresp, t.p##_rlast, t.p##_ruser, t.p##_rvalid,           \
                t.p##_rready                                                                       \
        }                                                                                          \
    }
#define X(c)                                                                                       \
    upstream_.push_back(PINS(upstream_##c));                                                       \
    downstream_.push_back(PINS(downstream_##c));
    BUILT_EACH_CHANNEL(X)
#undef X
#undef PINS
#undef ADDRESS
    control_.reset(new ControlPins{
        t.control_awaddr, t.control_awvalid, t.control_awready, t.control_wdata, t.control_wstrb,
        t.control_wvalid, t.control_wready, t.control_bresp, t.control_bvalid, t.control_bready,
        t.control_araddr, t.control_arvalid, t.control_arready, t.control_rdata, t.control_rresp,
        t.control_rvalid, t.control_rready});
    t.interrupt_ready = 1;
    // Found by name, wherever the hierarchy has them: they are public (public.vlt).
    writes_ = find("io_write_words", kPipelines * kChannels);
    lines_ = find("io_line_valid", kChannels);
}

Expander::~Expander() {
    top_->final();
}

void Expander::settle() {
    top_->clock = 0;
    top_->eval();
}

void Expander::tick() {
    if (top_->interrupt_valid)
        ++messages_.at(top_->interrupt_vector);
    top_->clock = 1;
    top_->eval();
    ++cycle_;
}

void Expander::reset() {
    top_->reset = 1;
    idle(4);
    top_->reset = 0;
    idle(1u << BUILT_ID_BITS);
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
