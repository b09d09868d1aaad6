/* SPDX-License-Identifier: GPL-2.0 */
/* The addresses that a counter stands for: the inverse of key and offset. */
#ifndef ANEMONECTL_ADDRESSES_HPP
#define ANEMONECTL_ADDRESSES_HPP

#include "json.hpp"
#include "telemetry.hpp"

/* The first and last byte of one range. */
struct Span {
    uint64_t first, last;
};

/* Empty if there are several ranges, or none is known. */
using Addresses = std::optional<Span>;

/* The number of keys of a region, and its first key. */
struct RegionKeys {
    uint32_t count = 0;
    uint64_t key = 0;
};

/* One element per region. */
std::vector<RegionKeys> keys_of_regions(const Telemetry& telemetry);
/* The addresses of a key, and of its counter at an offset. */
Addresses key_addresses(const Session& session, const anemone_spec& spec, uint64_t key);
Addresses counter_addresses(const Session& session, const anemone_spec& spec, uint64_t key,
                            uint64_t offset);
/* "0x200000-0x3fffff", followed by "+2 keys" if there are three; "-" if not known. */
std::string addresses_text(const Addresses& addresses, uint32_t keys);
Json addresses_json(const Addresses& addresses);

#endif
