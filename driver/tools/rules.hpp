/* SPDX-License-Identifier: GPL-2.0 */
/* Reads rule files (docs/rules.md), the same as for `anemone replay`, for the driver. */
#ifndef ANEMONECTL_RULES_HPP
#define ANEMONECTL_RULES_HPP

#include <anemone_regs.h>
#include <linux/anemone.h>
#include <vector>

#include "common.hpp"

/* The sizes and features of a device, which limit a rule. */
struct Limits {
    uint32_t pipelines, states, table;
    uint64_t bytes;    /* of the device's memory */
    uint64_t features; /* the register `features` */
    bool flat, hash;
    bool from_options; /* command line options of these names change them */
    bool host;         /* the file's addresses and keys are the host's */

    /* The same for a file of host addresses. */
    Limits of_host() const;
};

/* All but the ops that are not standard. */
constexpr uint64_t standard_features =
    ~(1ULL << ANEMONE_UPDATE_OP_MIN | 1ULL << ANEMONE_UPDATE_OP_SUBSAT |
      1ULL << ANEMONE_UPDATE_OP_LAST | 1ULL << ANEMONE_UPDATE_OP_EWMA2 |
      1ULL << ANEMONE_UPDATE_OP_EWMA4 | 1ULL << ANEMONE_UPDATE_OP_EWMA8);

/* The paper's prototype, which the software model also assumes. */
constexpr Limits default_limits = {
    .pipelines = 8,
    .states = 8192,
    .table = 8192,
    .bytes = 16ULL << 30,
    .features = standard_features,
    .flat = false,
    .hash = false,
    .from_options = true,
    .host = false,
};

struct Rule {
    std::string name;
    anemone_spec spec = {};
    /*
     * Maps keys in order to the regions from 0 on, beginning with the first key of the device or of
     * the range in host memory.
     */
    bool identity = false;
    std::vector<anemone_entry> map;
};

/* Reads all rules of a file ("-" is stdin); throws its first error, and prints notes. */
std::vector<Rule> read_rules(const std::string& path, const Limits& limits);

/* Counters of a region: as many as `bytes` of memory have offsets, rounded up; 0 means 2^64. */
uint64_t region_counters(const anemone_spec& spec, uint64_t bytes);
/* Whether the filter lets any address of a key pass; the driver refuses other keys. */
bool reaches(const anemone_spec& spec, uint64_t key);
/* Bits of a counter; 0 in the spec means 64. */
unsigned int spec_width(const anemone_spec& spec);

/* Names of codes in rule files. */
const char* type_name(unsigned int type);
const char* near_name(unsigned int near);
const char* op_name(unsigned int op); /* of updates and of read effects */
const char* source_name(unsigned int source);
const char* predicate_name(unsigned int op);

#endif
