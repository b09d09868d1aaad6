/* SPDX-License-Identifier: GPL-2.0 */
/* Host addresses of a running process's pages, from /proc/PID/pagemap. */
#ifndef ANEMONECTL_PAGES_HPP
#define ANEMONECTL_PAGES_HPP

#include "addresses.hpp"

/* A key of a rule, and the first address of the process with it. */
struct ProcessKey {
    uint64_t address, key;
};

/*
 * The keys of a process's current pages under a rule of host addresses: each key once, ordered by
 * address. `within`: only these addresses of the process; more than `limit` keys are an error.
 */
std::vector<ProcessKey> keys_of_process(uint32_t pid, const anemone_spec& spec, Span within,
                                        uint32_t limit);

#endif
