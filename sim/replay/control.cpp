// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <cstdio>
#include <stdexcept>

#include "anemone_regs.h"

namespace anemone {

namespace {
// Longest wait, in cycles: a clear goes through the table and the lines.
constexpr unsigned kPatience = 2 * (kTable + kLines) + 1000;

constexpr unsigned bits(uint64_t count) {
    return count <= 1 ? 0 : 1 + bits((count + 1) / 2);
}
constexpr uint64_t kWindow = BUILT_WINDOW_BYTES;
constexpr uint64_t kEffect = uint64_t(1)
                             << (kAddressBits > bits(kWindow) ? kAddressBits : bits(kWindow));
constexpr uint64_t kSnapshot = kEffect + kWindow;
constexpr uint64_t kAll = ~uint64_t(0) >> (63 - kPipelines); // vectors

#define FIELD(name, value) (uint64_t(value) << ANEMONE_##name##_SHIFT)
} // namespace

uint64_t lineAddress(unsigned pipeline, unsigned line, unsigned channel, bool effect) {
    return (effect ? kEffect : kSnapshot) +
           ((uint64_t(pipeline) * kLines + line) * kChannels + channel) * 64;
}

void Control::fail(uint32_t offset, const std::string& what) const {
    char place[16];
    std::snprintf(place, sizeof place, "0x%06x", offset);
    throw std::runtime_error(std::string("register ") + place + ": " + what);
}

void Control::step() {
    ControlPins& pins = expander_.control();
    pins.bready = pins.rready = 1;
    if (pins.bvalid) {
        if (posted_.empty())
            throw std::runtime_error("control port: a response without a request");
        if (pins.bresp)
            fail(posted_.front(), "write answered with an error");
        posted_.pop_front();
    }
    expander_.tick();
}

void Control::post(uint32_t offset, uint64_t value) {
    ControlPins& pins = expander_.control();
    pins.awvalid = pins.wvalid = 1;
    pins.awaddr = offset;
    pins.wdata = value;
    pins.wstrb = 0xFF;
    posted_.push_back(offset);
    for (unsigned i = 0; i < kPatience; ++i) {
        expander_.settle();
        const bool address = pins.awready, data = pins.wready;
        step();
        if (address)
            pins.awvalid = 0;
        if (data)
            pins.wvalid = 0;
        if (!pins.awvalid && !pins.wvalid)
            return;
    }
    fail(offset, "a write is not taken");
}

void Control::wait() {
    for (unsigned i = 0; i < kPatience; ++i) {
        if (posted_.empty())
            return;
        expander_.settle();
        step();
    }
    fail(posted_.front(), "a write is not answered");
}

void Control::write(uint32_t offset, uint64_t value) {
    post(offset, value);
    wait();
}

uint64_t Control::read(uint32_t offset) {
    ControlPins& pins = expander_.control();
    pins.arvalid = 1;
    pins.araddr = offset;
    for (unsigned i = 0; i < kPatience; ++i) {
        expander_.settle();
        const bool taken = pins.arready, answered = pins.rvalid, failed = pins.rresp;
        const uint64_t value = pins.rdata;
        step();
        if (taken)
            pins.arvalid = 0;
        if (answered && failed)
            fail(offset, "read answered with an error");
        if (answered)
            return value;
    }
    fail(offset, "a read is not answered");
}

void Control::expect(uint32_t offset, uint64_t value, const char* what) {
    const uint64_t seen = read(offset);
    if (seen != value)
        fail(offset, std::string(what) + " is " + std::to_string(seen) + ", expected " +
                         std::to_string(value));
}

void Control::start() {
    expect(ANEMONE_ID, ANEMONE_ID_MAGIC_VALUE, "id");
    expect(ANEMONE_CAPABILITY,
           FIELD(CAPABILITY_PIPELINES, kPipelines) | FIELD(CAPABILITY_CHANNELS, kChannels) |
               FIELD(CAPABILITY_STATES_LOG2, bits(kStates)) |
               FIELD(CAPABILITY_TABLE_LOG2, bits(kTable)) |
               FIELD(CAPABILITY_ADDRESS_BITS, kAddressBits) |
               FIELD(CAPABILITY_COUNTER_INDEX_BITS, bits(kStates) + 3),
           "capability");
    expect(ANEMONE_WINDOW, kWindow, "window");
    for (unsigned p = 0; p < kPipelines; ++p)
        for (unsigned i = 0; read(ANEMONE_PIPELINE(p) + ANEMONE_PIPELINE_STATUS); ++i)
            if (i == kPatience)
                fail(ANEMONE_PIPELINE(p) + ANEMONE_PIPELINE_STATUS, "the clear does not end");
    write(ANEMONE_EFFECT_WINDOW, kEffect | FIELD(EFFECT_WINDOW_ENABLE, 1));
    write(ANEMONE_SNAPSHOT_WINDOW, kSnapshot | FIELD(SNAPSHOT_WINDOW_ENABLE, 1));
    write(ANEMONE_INTERRUPT_ENABLE, kAll);
    write(ANEMONE_ERROR_ENABLE, ANEMONE_ERROR_STATUS_PARITY_MASK);
}

void Control::program(unsigned pipeline, const Rule& rule) {
    post(ANEMONE_RULE_START, rule.start);
    post(ANEMONE_RULE_END, rule.end);
    post(ANEMONE_RULE_PRIMARY_MASK, rule.primaryMask);
    post(ANEMONE_RULE_SUB_MASK, rule.subMask);
    post(ANEMONE_RULE_SHIFTS,
         FIELD(RULE_SHIFTS_PRIMARY, rule.primaryShift) | FIELD(RULE_SHIFTS_SUB, rule.subShift));
    post(ANEMONE_RULE_HASH,
         FIELD(RULE_HASH_MULTIPLIER, rule.hashMultiplier) | FIELD(RULE_HASH_SIZE, rule.hashSize));
    post(ANEMONE_RULE_OPERAND, rule.operand);
    post(ANEMONE_RULE_NOTIFY_OPERAND, rule.notifyOperand);
    post(ANEMONE_RULE_EFFECT_OPERAND, rule.effectOperand);
    post(ANEMONE_RULE_CONTROL,
         FIELD(RULE_CONTROL_ENABLE, 1) | FIELD(RULE_CONTROL_READS, rule.reads) |
             FIELD(RULE_CONTROL_WRITES, rule.writes) | FIELD(RULE_CONTROL_HASH, rule.hashSize > 0) |
             FIELD(RULE_CONTROL_COUNTER_WIDTH, rule.counterWidth) |
             FIELD(RULE_CONTROL_OPERAND_SOURCE, rule.operandSource) |
             FIELD(RULE_CONTROL_OP, rule.op) | FIELD(RULE_CONTROL_NOTIFY_OP, rule.notifyOp) |
             FIELD(RULE_CONTROL_EFFECT_KIND, rule.effectKind) |
             FIELD(RULE_CONTROL_EFFECT_OP, rule.effectOp));
    write(ANEMONE_RULE_COMMIT, FIELD(RULE_COMMIT_PIPELINE, pipeline));
}

void Control::map(unsigned pipeline, uint64_t key, uint64_t base) {
    post(ANEMONE_TABLE(pipeline * kTable + key), FIELD(TABLE_MAPPED, 1) | FIELD(TABLE_BASE, base));
}

Status Control::status(unsigned pipeline) {
    const auto at = [&](uint32_t offset) { return read(ANEMONE_PIPELINE(pipeline) + offset); };
    return {at(ANEMONE_PIPELINE_MATCHED),
            at(ANEMONE_PIPELINE_UNMAPPED),
            at(ANEMONE_PIPELINE_OUT_OF_RANGE),
            at(ANEMONE_PIPELINE_NOTIFICATIONS),
            at(ANEMONE_PIPELINE_PARITY_ERRORS),
            bool(at(ANEMONE_PIPELINE_NOTIFICATION) & ANEMONE_PIPELINE_NOTIFICATION_VALID_MASK)};
}

void Control::expectNoErrors() {
    expect(ANEMONE_ERROR_STATUS, 0, "error_status");
    expect(ANEMONE_DROPPED_WRITES, 0, "dropped_writes");
    expect(ANEMONE_REFUSED_READS, 0, "refused_reads");
}

} // namespace anemone
