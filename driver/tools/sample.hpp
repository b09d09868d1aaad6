/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of a telemetry since the last sample, hottest first, read by snapshots. */
#ifndef ANEMONECTL_SAMPLE_HPP
#define ANEMONECTL_SAMPLE_HPP

#include "addresses.hpp"

/* A region, a counter of a region, or a key of a rotation. */
struct Row {
    uint64_t region; /* or the key */
    uint32_t offset; /* only if by_counter */
    uint64_t count;
    uint32_t keys;
    Addresses addresses;
};

struct Sample {
    bool by_counter; /* one row per counter instead of per region */
    bool is_count;   /* otherwise values of an op without meaningful differences */
    bool is_turn;    /* of each key's last turn, at any time */
    uint64_t total;
    std::vector<Row> rows; /* without zero counts */
};

/* Computes differences to `last`, and replaces it; empty at the first call. */
Sample take_sample(const Session& session, const Telemetry& telemetry, bool by_counter,
                   std::vector<uint64_t>& last);

#endif
