/* SPDX-License-Identifier: GPL-2.0 */
/* Files with lines of numbers and comments. */
#ifndef ANEMONECTL_NUMBERS_HPP
#define ANEMONECTL_NUMBERS_HPP

#include <span>
#include <vector>

#include "common.hpp"

/*
 * Reads lines of whole numbers (decimal or 0x, separated by blanks; # begins a comment), one for
 * each column. `columns` names them in messages.
 */
std::vector<std::vector<uint64_t>> read_numbers(const std::string& path,
                                                std::span<const char* const> columns);

#endif
