/* SPDX-License-Identifier: GPL-2.0 */
/* Files of keys: numbers on lines, with comments. */
#ifndef ANEMONECTL_NUMBERS_HPP
#define ANEMONECTL_NUMBERS_HPP

#include <span>
#include <vector>

#include "common.hpp"

/*
 * The file's lines of whole numbers (decimal or 0x, between blanks; # begins a comment), a number
 * for each column. `columns`: what messages call them.
 */
std::vector<std::vector<uint64_t>> read_numbers(const std::string& path,
                                                std::span<const char* const> columns);

#endif
