/* SPDX-License-Identifier: GPL-2.0 */
/* Codes of the uapi and their names in rule files. */
#ifndef ANEMONECTL_NAMES_HPP
#define ANEMONECTL_NAMES_HPP

#include <span>

#include "rules.hpp"

struct Name {
    const char* name;
    unsigned int code;
    uint64_t feature; /* bits of the register `features` that are all needed; 0: always built in */
};

using Names = std::span<const Name>;

extern const Names type_names, near_names, op_names, source_names, predicate_names, effect_names,
    width_names;

#endif
