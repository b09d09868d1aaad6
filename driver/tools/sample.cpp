// SPDX-License-Identifier: GPL-2.0
#include "sample.hpp"

#include <algorithm>
#include <tuple>

namespace {

/* The count between two samples, even if another reader reset the counter in between. */
uint64_t difference(const anemone_spec& spec, uint64_t now, uint64_t before) {
    unsigned int width = spec_width(spec);
    uint64_t all = width < 64 ? (1ULL << width) - 1 : UINT64_MAX;

    if (now < before && spec.read_effect.op == ANEMONE_OP_RESET)
        return now - (spec.read_effect.operand & all);
    return (now - before) & all;
}

void add_row(Sample& sample, const Row& row) {
    if (!row.count)
        return;
    sample.rows.push_back(row);
    sample.total += row.count;
}

/* Adds rows of `values`, which start at a region or belong to a key's last turn. */
void add_rows(Sample& sample, const Session& session, const Telemetry& t, uint64_t region,
              std::span<const uint64_t> values, const RegionKeys& keys) {
    Row whole = {region, 0, 0, keys.count, std::nullopt};

    for (uint32_t i = 0; i < values.size(); i++) {
        whole.count += values[i];
        if (!sample.by_counter || !values[i])
            continue;

        Row row = {region, i, values[i], keys.count, std::nullopt};

        if (keys.count)
            row.addresses = counter_addresses(session, t.spec, keys.key, i);
        add_row(sample, row);
    }
    if (sample.by_counter)
        return;
    if (whole.count && keys.count)
        whole.addresses = key_addresses(session, t.spec, keys.key);
    add_row(sample, whole);
}

} // namespace

Sample take_sample(const Session& session, const Telemetry& t, bool by_counter,
                   std::vector<uint64_t>& last) {
    bool adds = t.spec.update.op == ANEMONE_OP_ADD || t.spec.update.op == ANEMONE_OP_ADDSAT;
    Sample sample = {by_counter || !adds, adds && t.turns.empty(), !t.turns.empty(), 0, {}};

    for (uint32_t i = 0; i < t.turns.size(); i++) {
        Turn turn = telemetry_turn(session, t, i);

        if (turn.turns)
            add_rows(sample, session, t, t.turns[i], turn.values, {1, t.turns[i]});
    }
    if (t.turns.empty()) {
        std::vector<RegionKeys> keys = keys_of_regions(t);
        std::vector<uint64_t> values = telemetry_read(session, t, ANEMONE_READ_SNAPSHOT);
        std::vector<uint64_t> counted = values;

        for (size_t i = 0; sample.is_count && i < values.size(); i++)
            counted[i] = difference(t.spec, values[i], i < last.size() ? last[i] : 0);
        for (uint32_t i = 0; i < t.regions; i++)
            add_rows(sample, session, t, i,
                     std::span(counted).subspan(size_t{i} * t.region_counters, t.region_counters),
                     keys[i]);
        last = std::move(values);
    }
    std::ranges::sort(sample.rows, [](const Row& a, const Row& b) {
        return std::tuple(b.count, a.region, a.offset) < std::tuple(a.count, b.region, b.offset);
    });
    return sample;
}
