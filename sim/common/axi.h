// SPDX-License-Identifier: Apache-2.0
// The pins of a 512-bit AXI4 port in a verilated module.
#pragma once

#include <cstdint>

#include "verilated.h"

namespace anemone {

constexpr unsigned kLineWords = 8; // 64-bit words in a memory line and in a beat
constexpr unsigned kLineSize = 6;  // log2 of a line's bytes, the value of AxSIZE

// The address of the line that contains a byte.
constexpr uint64_t lineOf(uint64_t address) {
    return address >> kLineSize << kLineSize;
}

using BeatData = VlWide<16>; // 512 bits

// The 64-bit words of a beat.
inline uint64_t word(const BeatData& data, unsigned w) {
    return data[2 * w] | uint64_t(data[2 * w + 1]) << 32;
}
inline void setWord(BeatData& data, unsigned w, uint64_t value) {
    data[2 * w] = uint32_t(value);
    data[2 * w + 1] = uint32_t(value >> 32);
}

// The channels of an AXI4 port.
struct AddressPins {
    SData& id;
    QData& addr;
    SData& len;
    CData &size, &burst, &valid, &ready;
};
struct WriteDataPins {
    BeatData& data;
    QData& strb;
    CData &last, &user, &valid, &ready;
};
struct WriteResponsePins {
    SData& id;
    CData &resp, &valid, &ready;
};
struct ReadDataPins {
    SData& id;
    BeatData& data;
    CData &resp, &last, &user, &valid, &ready;
};
struct AxiPins {
    AddressPins aw, ar;
    WriteDataPins w;
    WriteResponsePins b;
    ReadDataPins r;
};

// Binds the port of verilated module `t` whose pin names begin with `p`.
#define ANEMONE_ADDRESS_PINS(t, p)                                                                 \
    {t.p##id, t.p##addr, t.p##len, t.p##size, t.p##burst, t.p##valid, t.p##ready}
#define ANEMONE_AXI_PINS(t, p)                                                                     \
    {                                                                                              \
        ANEMONE_ADDRESS_PINS(t, p##_aw), ANEMONE_ADDRESS_PINS(t, p##_ar),                          \
            {t.p##_wdata, t.p##_wstrb, t.p##_wlast, t.p##_wuser, t.p##_wvalid, t.p##_wready},      \
            {t.p##_bid, t.p##_bresp, t.p##_bvalid, t.p##_bready}, {                                \
            t.p##_rid, t.p##_rdata, t.p##_rresp, t.p##_rlast, t.p##_ruser, t.p##_rvalid,           \
                t.p##_rready                                                                       \
        }                                                                                          \
    }

} // namespace anemone
