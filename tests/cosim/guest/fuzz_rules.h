/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for fuzz.c: valid ones, ones with recognisable counters, and invalid ones. */
#ifndef FUZZ_RULES_H
#define FUZZ_RULES_H

#include "fuzz.h"

#define HUGE_SHIFT 21

static inline struct anemone_operation operation(struct worker* w) {
    return (struct anemone_operation){.op = ANEMONE_OP_ADD + below(w, 8), .operand = edge_value(w)};
}

static inline struct anemone_spec valid_spec(struct worker* w, bool host) {
    static const uint8_t widths[] = {0, 8, 16, 32, 64};
    unsigned int bits = one_in(w, 3) ? 1 + below(w, 6) : 0;
    struct anemone_spec spec = {
        .name = "fuzz",
        .filter.type = 1 + below(w, 3),
        .width = widths[below(w, 5)],
        .regions = one_in(w, 24) ? 0 : 1 + below(w, one_in(w, 16) ? 20000 : 64),
        .translation.primary = {.mask = ANEMONE_ALL_MEM, .shift = HUGE_SHIFT},
        .translation.sub = {.mask = (1ULL << (12 + bits)) - (1ULL << 12), .shift = 12},
        .update = operation(w),
        .read_effect = {.op = one_in(w, 2) ? ANEMONE_OP_RESET : ANEMONE_OP_NONE},
        .flags = host ? ANEMONE_SPEC_HOST : 0,
    };

    spec.update.source = below(w, 3);
    if (!one_in(w, 3))
        spec.notify = (struct anemone_operation){.op = below(w, 6), .operand = below(w, 3)};
    if (one_in(w, 8))
        spec.read_effect = operation(w);
    if (one_in(w, 8))
        spec.filter.end = 1 + any(w) % MEMORY_BYTES;
    return spec;
}

/*
 * Makes counters that are 0 or a value that no other telemetry has, so that their owner is visible.
 */
static inline uint64_t tag(struct worker* w, struct anemone_spec* spec) {
    unsigned int width = spec->width ? spec->width : 64;
    uint64_t value = (any(w) | 1) & ~0ULL >> (64 - width);

    spec->update = (struct anemone_operation){.op = one_in(w, 2) ? ANEMONE_OP_OR : ANEMONE_OP_MAX,
                                              .operand = value};
    spec->read_effect =
        (struct anemone_operation){.op = one_in(w, 2) ? ANEMONE_OP_RESET : ANEMONE_OP_NONE};
    return value;
}

/* Makes one or two fields invalid. */
static inline void make_invalid(struct worker* w, struct anemone_spec* spec) {
    unsigned int times = 1 + below(w, 2);

    while (times--) {
        switch (below(w, 14)) {
        case 0:
            spec->filter.start = edge_value(w);
            break;
        case 1:
            spec->filter.end = edge_value(w);
            break;
        case 2:
            spec->filter.type = any(w);
            break;
        case 3:
            spec->filter.near = any(w);
            break;
        case 4:
            spec->width = any(w);
            break;
        case 5:
            spec->regions = edge_value(w);
            break;
        case 6:
            spec->translation.primary.mask = edge_value(w);
            break;
        case 7:
            spec->translation.primary.shift = one_in(w, 2) ? below(w, 66) : edge_value(w);
            break;
        case 8:
            spec->translation.sub.mask = edge_value(w);
            break;
        case 9:
            spec->translation.sub.shift = one_in(w, 2) ? below(w, 66) : edge_value(w);
            break;
        case 10:
            spec->name[below(w, sizeof(spec->name))] = any(w);
            break;
        case 11:
            spec->flags = edge_value(w);
            break;
        case 12:
            memset(spec->name, 'x', sizeof(spec->name));
            break;
        default:
            ((uint8_t*)spec)[below(w, sizeof(*spec))] = any(w);
        }
    }
}

#endif
