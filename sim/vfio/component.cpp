// SPDX-License-Identifier: Apache-2.0
#include "component.h"

#include "anemone_pci.h"

namespace anemone {

namespace {
constexpr uint32_t kHdmPointer = 0x80; // from the first header on
constexpr uint32_t kCommit = 1 << 9;

unsigned log2(unsigned value) {
    unsigned bits = 0;
    while (value >>= 1)
        ++bits;
    return bits;
}
} // namespace

ComponentRegisters::ComponentRegisters(const HostMemory& memory) {
    static_assert(kFirst == ANEMONE_CXL_CACHEMEM);
    // Capability headers: version 1, one capability, and its offset.
    put(kFirst, ANEMONE_CXL_CM_ID | 1 << 16 | 1 << 20 | 1 << 24);
    put(kFirst + 4, ANEMONE_CXL_HDM_ID | 1 << 16 | kHdmPointer << 20);
    if (!memory.decodes())
        return; // only one decoder is enabled
    const uint64_t hdm = kFirst + kHdmPointer, decoder = hdm + ANEMONE_CXL_DECODER(0);
    put(hdm + 4, ANEMONE_CXL_HDM_ENABLE);
    put(decoder, uint32_t(memory.base));
    put(decoder + 4, uint32_t(memory.base >> 32));
    put(decoder + 8, uint32_t(memory.bytes));
    put(decoder + 12, uint32_t(memory.bytes >> 32));
    const bool committed = memory.source == HostMemory::Source::kDecoder;
    put(decoder + 16, (committed ? kCommit | ANEMONE_CXL_DECODER_COMMITTED : 0) |
                          log2(memory.ways) << 4 | log2(memory.granularity / 256));
}

uint64_t ComponentRegisters::read(uint64_t offset) const {
    const uint64_t word = (offset - kFirst) / 4; // huge if the offset is below the first
    return offset < kFirst || word + 1 >= words_.size()
               ? 0
               : words_[word] | uint64_t(words_[word + 1]) << 32;
}

} // namespace anemone
