// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "VTelemetryEngine.h"
#include "verilated.h"
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

namespace {
// Longest wait for anything that set-up waits for, in cycles: a clear walks the table or the lines.
constexpr unsigned kPatience = 2 * (kTable + kLines) + 1000;

[[noreturn]] void stuck(const char* what) {
    throw std::runtime_error(std::string(what) + " is not ready after " +
                             std::to_string(kPatience) + " cycles");
}
} // namespace

Engine::Engine() : context_(std::make_unique<VerilatedContext>()) {
    context_->threads(ANEMONE_THREADS);
    top_ = std::make_unique<VTelemetryEngine>(context_.get());
}

Engine::~Engine() {
    top_->final();
}

void Engine::settle() {
    top_->clock = 0;
    top_->eval();
}

void Engine::tick() {
    top_->clock = 1;
    top_->eval();
    ++cycle_;
}

void Engine::idle(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) {
        settle();
        tick();
    }
}

// The switches are over constants once a caller's loop over channels is unrolled.
void Engine::offerEvent(unsigned channel, uint64_t address, bool write) {
    switch (channel) {
#define X(c)                                                                                       \
    case c:                                                                                        \
        top_->io_events_##c##_valid = 1;                                                           \
        top_->io_events_##c##_bits_address = address;                                              \
        top_->io_events_##c##_bits_write = write;                                                  \
        top_->io_reads_##c##_valid = 0;                                                            \
        break;
        ANEMONE_EACH_CHANNEL(X)
#undef X
    }
}

void Engine::offerRead(unsigned channel, unsigned pipeline, unsigned line, bool effect) {
    switch (channel) {
#define X(c)                                                                                       \
    case c:                                                                                        \
        top_->io_events_##c##_valid = 0;                                                           \
        top_->io_reads_##c##_valid = 1;                                                            \
        top_->io_reads_##c##_bits_pipeline = pipeline;                                             \
        top_->io_reads_##c##_bits_line = line;                                                     \
        top_->io_reads_##c##_bits_effect = effect;                                                 \
        break;
        ANEMONE_EACH_CHANNEL(X)
#undef X
    }
}

void Engine::offerNothing(unsigned channel) {
    switch (channel) {
#define X(c)                                                                                       \
    case c:                                                                                        \
        top_->io_events_##c##_valid = 0;                                                           \
        top_->io_reads_##c##_valid = 0;                                                            \
        break;
        ANEMONE_EACH_CHANNEL(X)
#undef X
    }
}

bool Engine::readReady(unsigned channel) const {
    switch (channel) {
#define X(c)                                                                                       \
    case c:                                                                                        \
        return top_->io_reads_##c##_ready;
        ANEMONE_EACH_CHANNEL(X)
#undef X
    }
    return false;
}

bool Engine::lineValid(unsigned channel) const {
    switch (channel) {
#define X(c)                                                                                       \
    case c:                                                                                        \
        return top_->io_lines_##c##_valid;
        ANEMONE_EACH_CHANNEL(X)
#undef X
    }
    return false;
}

Line Engine::line(unsigned channel) const {
    switch (channel) {
#define X(c)                                                                                       \
    case c:                                                                                        \
        return {{top_->io_lines_##c##_bits_words_0, top_->io_lines_##c##_bits_words_1,             \
                 top_->io_lines_##c##_bits_words_2, top_->io_lines_##c##_bits_words_3,             \
                 top_->io_lines_##c##_bits_words_4, top_->io_lines_##c##_bits_words_5,             \
                 top_->io_lines_##c##_bits_words_6, top_->io_lines_##c##_bits_words_7},            \
                bool(top_->io_lines_##c##_bits_poison)};
        ANEMONE_EACH_CHANNEL(X)
#undef X
    }
    return {};
}

Status Engine::status(unsigned pipeline) const {
    switch (pipeline) {
#define X(p)                                                                                       \
    case p:                                                                                        \
        return {top_->io_status_##p##_matched,      top_->io_status_##p##_unmapped,                \
                top_->io_status_##p##_outOfRange,   top_->io_status_##p##_notifications,           \
                top_->io_status_##p##_parityErrors, bool(top_->io_status_##p##_notified)};
        ANEMONE_EACH_PIPELINE(X)
#undef X
    }
    return {};
}

void Engine::reset() {
    for (unsigned c = 0; c < kChannels; ++c)
        offerNothing(c);
    top_->io_rule_valid = 0;
    top_->io_table_valid = 0;
    top_->io_clear_valid = 0;
#define X(p) top_->io_acknowledge_##p = 0;
    ANEMONE_EACH_PIPELINE(X)
#undef X
    top_->reset = 1;
    idle(4);
    top_->reset = 0;
    for (unsigned i = 0; i < kPatience; ++i) {
        settle();
#define X(p) || top_->io_status_##p##_clearing
        const bool clearing = false ANEMONE_EACH_PIPELINE(X);
#undef X
        if (!clearing)
            return;
        tick();
    }
    stuck("a pipeline that is being cleared");
}

void Engine::program(unsigned pipeline, const Rule& rule) {
    // Verilator wants inputs without bits past their width; a mask may have 64.
    constexpr uint64_t kAddress = ~uint64_t(0) >> (64 - ANEMONE_ADDRESS_BITS);
    top_->io_rule_valid = 1;
    top_->io_rule_bits_pipeline = pipeline;
    top_->io_rule_bits_rule_enable = 1;
    top_->io_rule_bits_rule_reads = rule.reads;
    top_->io_rule_bits_rule_writes = rule.writes;
    top_->io_rule_bits_rule_start = rule.start;
    top_->io_rule_bits_rule_end = rule.end;
    top_->io_rule_bits_rule_primaryMask = rule.primaryMask & kAddress;
    top_->io_rule_bits_rule_primaryShift = rule.primaryShift;
    top_->io_rule_bits_rule_subMask = rule.subMask & kAddress;
    top_->io_rule_bits_rule_subShift = rule.subShift;
    top_->io_rule_bits_rule_op = rule.op;
    top_->io_rule_bits_rule_operandSource = rule.operandSource;
    top_->io_rule_bits_rule_operand = rule.operand;
    top_->io_rule_bits_rule_counterWidth = rule.counterWidth;
    top_->io_rule_bits_rule_notifyOp = rule.notifyOp;
    top_->io_rule_bits_rule_notifyOperand = rule.notifyOperand;
    top_->io_rule_bits_rule_effectKind = rule.effectKind;
    top_->io_rule_bits_rule_effectOp = rule.effectOp;
    top_->io_rule_bits_rule_effectOperand = rule.effectOperand;
    for (unsigned i = 0; i < kPatience; ++i) {
        settle();
        const bool taken = top_->io_rule_ready;
        tick();
        if (taken) {
            top_->io_rule_valid = 0;
            return;
        }
    }
    stuck("the rule port");
}

void Engine::map(unsigned pipeline, uint64_t key, uint64_t base) {
    top_->io_table_valid = 1;
    top_->io_table_bits_pipeline = pipeline;
    top_->io_table_bits_key = key;
    top_->io_table_bits_base = base;
    top_->io_table_bits_mapped = 1;
    for (unsigned i = 0; i < kPatience; ++i) {
        settle();
        const bool taken = top_->io_table_ready;
        tick();
        if (taken) {
            top_->io_table_valid = 0;
            return;
        }
    }
    stuck("the table port");
}

bool Engine::writesState() const {
    // The lanes are found by name, wherever the hierarchy has them: a StateArray's write port
    // is public (public.vlt).
    static const std::vector<const CData*> selects = [this] {
        std::vector<const CData*> found;
        for (const auto& [name, scope] : *context_->scopeNameMap())
            if (const VerilatedVar* var = scope->varFind("io_write_words"))
                found.push_back(static_cast<const CData*>(var->datap()));
        if (found.size() != kPipelines * kChannels)
            throw std::runtime_error("found the state arrays of " + std::to_string(found.size()) +
                                     " lanes");
        return found;
    }();
    for (const CData* select : selects)
        if (*select)
            return true;
    return false;
}

} // namespace anemone
