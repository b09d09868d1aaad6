// SPDX-License-Identifier: Apache-2.0
#include "instruction.hpp"

#include <Zydis/Zydis.h>

#include <cstring>

namespace capture {
namespace {

const ZydisDecoder& decoder() {
    static const ZydisDecoder made = [] {
        ZydisDecoder d;
        ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return d;
    }();
    return made;
}

std::uint64_t bit_of(ZydisRegister reg) {
    // Zydis names no enclosing register of a flags register.
    if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_FLAGS)
        return 1ull << kFlagsBit;
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64:
        return 1ull << ZydisRegisterGetId(whole);
    case ZYDIS_REGCLASS_XMM: // which class encloses the others depends on the version of Zydis
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM: {
        const int id = ZydisRegisterGetId(whole);
        return id < 16 ? 1ull << (kVectorBit + id) : 0; // QEMU has no AVX-512
    }
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
        return 1ull << kX87Bit;
    default:
        return 0;
    }
}

bool non_temporal(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_MOVNTI:
    case ZYDIS_MNEMONIC_MOVNTQ:
    case ZYDIS_MNEMONIC_MOVNTDQ:
    case ZYDIS_MNEMONIC_MOVNTPD:
    case ZYDIS_MNEMONIC_MOVNTPS:
    case ZYDIS_MNEMONIC_MOVNTSD:
    case ZYDIS_MNEMONIC_MOVNTSS:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMOVNTDQ:
    case ZYDIS_MNEMONIC_VMOVNTPD:
    case ZYDIS_MNEMONIC_VMOVNTPS:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
        return true;
    default:
        return false;
    }
}

// Zeroing idioms: the result does not depend on the register's old value.
bool clears(const ZydisDecodedInstruction& insn, const ZydisDecodedOperand* operands) {
    switch (insn.mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD:
        break;
    default:
        return false;
    }
    const unsigned last = insn.operand_count_visible - 1u;
    return last > 0 && operands[last].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[last - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[last].reg.value == operands[last - 1].reg.value && operands[last].size >= 32;
}

// A mark is a NOPL whose displacement holds the mark's number and a constant.
Mark mark_of(const void* code, std::size_t bytes) {
    static const unsigned char nop[] = {0x0f, 0x1f, 0x80}, constant[] = {0x00, 0xe1, 0x27};
    const auto* at = static_cast<const unsigned char*>(code);
    if (bytes != 7 || std::memcmp(at, nop, 3) != 0 || std::memcmp(at + 4, constant, 3) != 0 ||
        at[3] > static_cast<unsigned>(Mark::mpi_ends))
        return Mark::none;
    return static_cast<Mark>(at[3]);
}

void take_register(const ZydisDecodedOperand& operand, Instruction& to) {
    const std::uint64_t bit = bit_of(operand.reg.value);
    if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        to.reads |= bit;
    if (!(operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        return;
    to.writes |= bit;
    // A 32-bit write clears the upper half of a general register; a narrower write keeps the rest.
    const bool part = bit < 1ull << kVectorBit && operand.size < 32;
    if (part || operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
        to.reads |= bit;
}

} // namespace

Instruction decode(const void* code, std::size_t bytes, std::uint64_t pc) {
    Instruction made{};
    made.pc = pc;
    made.bytes = static_cast<std::uint8_t>(bytes);
    made.mark = mark_of(code, bytes);
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), code, bytes, &insn, operands)))
        return made; // unknown to the decoder: no registers
    const bool zero = clears(insn, operands);
    for (unsigned i = 0; i < insn.operand_count; i++) {
        const ZydisDecodedOperand& operand = operands[i];
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
            take_register(operand, made);
        } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
            const std::uint64_t makes = bit_of(operand.mem.base) | bit_of(operand.mem.index);
            // LEA computes an address and accesses no memory.
            if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
                made.reads |= makes;
                continue;
            }
            made.address |= makes;
            made.loads |= (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
        }
    }
    if (zero)
        made.reads = 0;
    switch (insn.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
        made.branch = true;
        break;
    case ZYDIS_CATEGORY_STRINGOP:
        made.string = true;
        break;
    default:
        break;
    }
    constexpr auto kRepeats = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    made.repeated = made.string && (insn.attributes & kRepeats) != 0;
    made.non_temporal = non_temporal(insn.mnemonic);
    made.fence = insn.mnemonic == ZYDIS_MNEMONIC_SFENCE || insn.mnemonic == ZYDIS_MNEMONIC_MFENCE ||
                 (insn.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
    return made;
}

} // namespace capture
