/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetries of an open device. The kernel knows them by id, and keeps only short names and no
 * list of the mapped keys; the holder (holder.hpp) keeps both.
 */
#ifndef ANEMONECTL_TELEMETRY_HPP
#define ANEMONECTL_TELEMETRY_HPP

#include <map>
#include <optional>
#include <span>

#include "rules.hpp"

struct Telemetry {
    std::string name;
    uint32_t id = 0, regions = 0, region_counters = 0, pipelines = 0, granule = 0;
    uint32_t period_ms = 0; /* of a rotation */
    anemone_spec spec = {};
    std::map<uint64_t, anemone_entry> map; /* by key */
    std::vector<uint64_t> turns;           /* keys of a rotation; empty: none is running */

    uint32_t mapped() const { return static_cast<uint32_t>(map.size()); }
    /* Counters of all regions; the kernel's indices have 32 bits, too. */
    uint32_t counters() const { return regions * region_counters; }
};

/* An open device, and the telemetries of that open file. */
struct Session {
    std::string path;
    Descriptor fd;
    anemone_info info = {};
    std::vector<Telemetry> telemetries;

    /* Null if there is none of that name. */
    Telemetry* find(std::string_view name);
};

/* Information on an open device; empty on failure, with errno. */
std::optional<anemone_info> device_info(int fd);
Limits limits_of(const anemone_info& info);

/*
 * A call that the kernel refuses throws. Adding has two steps, because the holder is informed in
 * between.
 */
Telemetry telemetry_add(const Session& session, const Rule& rule);
void telemetry_map_rule(const Session& session, const Rule& rule, Telemetry& added);
/* Sets or (ANEMONE_ENTRY_UNMAP) clears entries, in the kernel and in `map`: all or none. */
void telemetry_map(const Session& session, Telemetry& telemetry,
                   std::span<const anemone_entry> entries);
/*
 * Replaces the map or the previous rotation; without keys it ends the rotation. Returns the
 * nanoseconds until every key has had a turn.
 */
uint64_t telemetry_rotate(const Session& session, Telemetry& telemetry,
                          std::span<const uint64_t> keys, uint32_t period_ms);
anemone_status telemetry_status(const Session& session, const Telemetry& telemetry);

/* All counters; with ANEMONE_READ_CHANNELS one value per channel for each. */
std::vector<uint64_t> telemetry_read(const Session& session, const Telemetry& telemetry,
                                     uint32_t flags);

/* The counters of a rotated key after its last turn; turns 0: no turn yet. */
struct Turn {
    uint64_t turns, start_ns, end_ns;
    std::vector<uint64_t> values;
};
Turn telemetry_turn(const Session& session, const Telemetry& telemetry, uint32_t index);

#endif
