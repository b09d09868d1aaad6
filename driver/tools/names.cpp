// SPDX-License-Identifier: GPL-2.0
#include "names.hpp"

#include <anemone_regs.h>

namespace {

/* "No op" and "reset" have no bit. */
constexpr uint64_t op_bit(unsigned int code) {
    return 1ULL << (code < ANEMONE_OP_RESET ? code - ANEMONE_OP_ADD
                                            : code - ANEMONE_OP_MIN + ANEMONE_UPDATE_OP_MIN);
}

constexpr Name op(const char* name, unsigned int code) {
    return {name, code, op_bit(code)};
}

constexpr uint64_t effect_bit(unsigned int bit) {
    return 1ULL << (ANEMONE_FEATURES_EFFECTS_SHIFT + bit);
}

/* A read effect by an op needs that op and the feature of read effects by ops. */
constexpr Name effect(const char* name, unsigned int code) {
    return {name, code, effect_bit(2) | op_bit(code)};
}

constexpr Name source(const char* name, unsigned int code) {
    return {name, code, 1ULL << (ANEMONE_FEATURES_OPERAND_SOURCES_SHIFT + code)};
}

constexpr Name predicate(const char* name, unsigned int code) {
    return {name, code, 1ULL << (ANEMONE_FEATURES_PREDICATES_SHIFT + code)};
}

constexpr Name width(const char* name, unsigned int bits, unsigned int code) {
    return {name, bits, 1ULL << (ANEMONE_FEATURES_WIDTHS_SHIFT + code)};
}

constexpr Name types[] = {
    {"R", ANEMONE_R, 0}, {"W", ANEMONE_W, 0}, {"RW", ANEMONE_R | ANEMONE_W, 0}};

constexpr Name nears[] = {
    {"any", ANEMONE_NEAR_ANY, 0}, {"hit", ANEMONE_NEAR_HIT, 0}, {"miss", ANEMONE_NEAR_MISS, 0}};

constexpr Name ops[] = {
    op("add", ANEMONE_OP_ADD),       op("sub", ANEMONE_OP_SUB),       op("shr", ANEMONE_OP_SHR),
    op("shl", ANEMONE_OP_SHL),       op("xor", ANEMONE_OP_XOR),       op("or", ANEMONE_OP_OR),
    op("max", ANEMONE_OP_MAX),       op("addsat", ANEMONE_OP_ADDSAT), op("min", ANEMONE_OP_MIN),
    op("subsat", ANEMONE_OP_SUBSAT), op("last", ANEMONE_OP_LAST),     op("ewma2", ANEMONE_OP_EWMA2),
    op("ewma4", ANEMONE_OP_EWMA4),   op("ewma8", ANEMONE_OP_EWMA8)};

constexpr Name sources[] = {source("imm", ANEMONE_OPERAND_VALUE),
                            source("line", ANEMONE_OPERAND_LINE),
                            source("is_write", ANEMONE_OPERAND_IS_WRITE)};

constexpr Name predicates[] = {
    {"none", ANEMONE_NOTIFY_NONE, 0},   predicate("eq", ANEMONE_NOTIFY_EQ),
    predicate("ge", ANEMONE_NOTIFY_GE), predicate("gt", ANEMONE_NOTIFY_GT),
    predicate("lt", ANEMONE_NOTIFY_LT), predicate("le", ANEMONE_NOTIFY_LE)};

constexpr Name effects[] = {
    {"none", ANEMONE_OP_NONE, 0},      {"reset", ANEMONE_OP_RESET, effect_bit(1)},
    effect("add", ANEMONE_OP_ADD),     effect("sub", ANEMONE_OP_SUB),
    effect("shr", ANEMONE_OP_SHR),     effect("shl", ANEMONE_OP_SHL),
    effect("xor", ANEMONE_OP_XOR),     effect("or", ANEMONE_OP_OR),
    effect("max", ANEMONE_OP_MAX),     effect("addsat", ANEMONE_OP_ADDSAT),
    effect("min", ANEMONE_OP_MIN),     effect("subsat", ANEMONE_OP_SUBSAT),
    effect("last", ANEMONE_OP_LAST),   effect("ewma2", ANEMONE_OP_EWMA2),
    effect("ewma4", ANEMONE_OP_EWMA4), effect("ewma8", ANEMONE_OP_EWMA8)};

constexpr Name widths[] = {width("8", 8, 0), width("16", 16, 1), width("32", 32, 2),
                           width("64", 64, 3)};

const char* name_of(Names names, unsigned int code) {
    for (const Name& name : names)
        if (name.code == code)
            return name.name;
    return "unknown";
}

} // namespace

const Names type_names = types, near_names = nears, op_names = ops, source_names = sources,
            predicate_names = predicates, effect_names = effects, width_names = widths;

const char* type_name(unsigned int type) {
    return name_of(types, type);
}
const char* near_name(unsigned int near) {
    return name_of(nears, near);
}
const char* op_name(unsigned int op) {
    return name_of(effects, op);
}
const char* source_name(unsigned int source) {
    return name_of(sources, source);
}
const char* predicate_name(unsigned int op) {
    return name_of(predicates, op);
}
