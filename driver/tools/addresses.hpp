/* SPDX-License-Identifier: GPL-2.0 */
/* Which addresses a counter stands for: the reverse of key and offset. */
#ifndef ANEMONECTL_ADDRESSES_HPP
#define ANEMONECTL_ADDRESSES_HPP

#include "json.hpp"
#include "telemetry.hpp"

/* The first and last byte of one range. */
struct Span {
    uint64_t first, last;
};

/* None: there are several ranges, or none is known. */
using Addresses = std::optional<Span>;

/* Keys of a region: how many, and the first of them. */
struct RegionKeys {
    uint32_t count = 0;
    uint64_t key = 0;
};

/* For every region. */
std::vector<RegionKeys> keys_of_regions(const Telemetry& telemetry);
/* Of a key; of its counter at an offset. */
Addresses key_addresses(const Session& session, const anemone_spec& spec, uint64_t key);
Addresses counter_addresses(const Session& session, const anemone_spec& spec, uint64_t key,
                            uint64_t offset);
/* "0x200000-0x3fffff", and "+2 keys" when there are three; "-" when not known. */
std::string addresses_text(const Addresses& addresses, uint32_t keys);
Json addresses_json(const Addresses& addresses);

#endif
