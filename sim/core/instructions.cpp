// SPDX-License-Identifier: Apache-2.0
#include "instructions.hpp"

namespace core {

namespace {

constexpr std::uint8_t kNotTaken = 2, kTaken = 3; // a branch's latency (op.hpp)

} // namespace

std::array<Translator::Number, 2> Translator::latest(std::uint64_t registers, Number also) const {
    std::array<Number, 2> found{also, kNoWriter};
    for (std::uint64_t left = registers; left != 0; left &= left - 1) {
        const auto at = static_cast<unsigned>(__builtin_ctzll(left));
        const Number writer = at < kRegisters ? writer_[at] : kNoWriter;
        if (writer > found[0])
            found = {writer, found[0]};
        else if (writer != found[0] && writer > found[1])
            found[1] = writer;
    }
    return found;
}

Op* Translator::put(Op* out, Kind kind, const Executed& insn, std::uint64_t address,
                    std::uint8_t latency, const std::array<Number, 2>& inputs) {
    *out = {address, static_cast<std::uint32_t>(insn.pc), {0, 0}, kind, latency, 0, 0};
    out->continues = next_ > began_;
    for (unsigned i = 0; i < 2; i++) {
        const Number back = inputs[i] == kNoWriter ? 0 : next_ - inputs[i];
        out->from[i] = static_cast<std::uint16_t>(back <= 0xFFFF ? back : 0);
    }
    next_++;
    return out + 1;
}

Op* Translator::add(const Executed& insn, const Touched* touched, std::size_t n, Op* out) {
    began_ = next_;
    Number result = kNoWriter; // the operation with the instruction's result
    bool stores = false;
    for (const Touched* each = touched; each != touched + n; each++) {
        stores |= each->store;
        if (each->store)
            continue;
        result = next_;
        out =
            put(out, Kind::load, insn, each->address, 0, latest(insn.address_registers, kNoWriter));
    }
    // A plain load needs no compute operation.
    const bool loads = result != kNoWriter;
    const bool moves = loads && insn.reads == 0 && !stores;
    if (insn.branch || (insn.writes != 0 && !moves) || (!loads && !stores)) {
        const auto inputs = latest(insn.reads, result);
        result = next_;
        if (insn.branch)
            out = put(out, Kind::branch, insn, 0, insn.went ? kTaken : kNotTaken, inputs);
        else
            out = put(out, Kind::compute, insn, 0, 1, inputs);
    }
    for (const Touched* each = touched; each != touched + n; each++)
        if (each->store)
            out = put(out, Kind::store, insn, each->address, 0,
                      latest(insn.reads | insn.address_registers, result));
    if (result != kNoWriter)
        for (std::uint64_t left = insn.writes; left != 0; left &= left - 1)
            if (const auto at = static_cast<unsigned>(__builtin_ctzll(left)); at < kRegisters)
                writer_[at] = result;
    return out;
}

} // namespace core
