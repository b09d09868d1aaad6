/* SPDX-License-Identifier: GPL-2.0 */
/* What a telemetry counted since it was last looked at, hottest first; it is not disturbed. */
#ifndef ANEMONECTL_SAMPLE_HPP
#define ANEMONECTL_SAMPLE_HPP

#include "addresses.hpp"

/* A region, a counter of one, or a key that takes turns. */
struct Row {
    uint64_t region; /* or key */
    uint32_t offset; /* with `by_counter` */
    uint64_t count;
    uint32_t keys;
    Addresses addresses;
};

struct Sample {
    bool by_counter; /* a row for each counter, not for each region */
    bool is_count;   /* else values of an op whose differences mean nothing */
    bool is_turn;    /* of each key's last turn, whenever that was */
    uint64_t total;
    std::vector<Row> rows; /* without those of 0 */
};

/* Differences are to the values of the last look, which it replaces; empty before the first. */
Sample take_sample(const Session& session, const Telemetry& telemetry, bool by_counter,
                   std::vector<uint64_t>& last);

#endif
