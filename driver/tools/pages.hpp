/* SPDX-License-Identifier: GPL-2.0 */
/* Where the pages of a running process are in the host's memory: /proc/PID/pagemap. */
#ifndef ANEMONECTL_PAGES_HPP
#define ANEMONECTL_PAGES_HPP

#include "addresses.hpp"

/* A key of a rule, and the first address of the process that has it. */
struct ProcessKey {
    uint64_t address, key;
};

/*
 * Keys of a rule of host addresses that the process's pages have now, each once, by address.
 * `within`: only these addresses of the process; more than `most` keys are an error.
 */
std::vector<ProcessKey> keys_of_process(uint32_t pid, const anemone_spec& spec, Span within,
                                        uint32_t most);

#endif
