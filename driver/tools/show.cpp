// SPDX-License-Identifier: GPL-2.0
#include "show.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "addresses.hpp"
#include "device.hpp"

Limits device_limits(const std::string& path, bool host) {
    Descriptor fd = device_open(path);
    auto info = device_info(fd.get());

    if (!info)
        fail(path, ": ", error_text());
    return host ? limits_of(*info).of_host() : limits_of(*info);
}

void add_telemetry(Json& object, const Telemetry& t) {
    object["name"] = t.name;
    object["id"] = t.id;
    object["pipelines"] = t.pipelines;
    object["regions"] = t.regions;
    object["region_counters"] = t.region_counters;
    object["mapped"] = t.mapped();
}

namespace {

Json head_of(const Telemetry& t) {
    return {{"name", t.name}, {"region_counters", t.region_counters}};
}

/* --- Counters --------------------------------------------------------------------------------- */

/* A counter of a region, with a value or one for each channel. */
struct Counter {
    uint32_t region, offset;
    std::span<const uint64_t> values;
    uint32_t keys;
    Addresses addresses;
};

Json counter_json(const Counter& counter, bool channels) {
    Json object = {{"region", counter.region}, {"offset", counter.offset}};

    if (channels)
        object["channels"] = std::vector(counter.values.begin(), counter.values.end());
    else
        object["value"] = counter.values[0];
    object["keys"] = counter.keys;
    object["addresses"] = addresses_json(counter.addresses);
    return object;
}

void print_counter(const Counter& counter) {
    std::printf("%8u %8u", counter.region, counter.offset);
    for (uint64_t value : counter.values)
        std::printf(" %14" PRIu64, value);
    std::printf("  %s\n", addresses_text(counter.addresses, counter.keys).c_str());
}

void print_head(uint32_t channels) {
    std::printf("%8s %8s", "REGION", "OFFSET");
    for (uint32_t c = 0; c < channels; c++)
        std::printf("      CHANNEL %u", c);
    if (!channels)
        std::printf(" %14s", "VALUE");
    std::puts("  ADDRESSES");
}

void show_regions(const Session& session, const Telemetry& t, const Reading& reading) {
    uint32_t flags = (reading.snapshot ? ANEMONE_READ_SNAPSHOT : 0) |
                     (reading.channels ? ANEMONE_READ_CHANNELS : 0);
    uint32_t each = reading.channels ? session.info.channels : 1, shown = 0;
    std::vector<uint64_t> values = telemetry_read(session, t, flags);
    std::vector<RegionKeys> keys = keys_of_regions(t);
    std::optional<JsonList> list;

    if (reading.json)
        list.emplace(head_of(t), "counters");
    else
        print_head(reading.channels ? each : 0);
    for (uint32_t i = 0; i < t.counters(); i++) {
        Counter counter = {i / t.region_counters, i % t.region_counters,
                           std::span(values).subspan(size_t{i} * each, each), 0, std::nullopt};

        if (!reading.all && std::ranges::all_of(counter.values, [](auto v) { return !v; }))
            continue;
        counter.keys = keys[counter.region].count;
        if (counter.keys)
            counter.addresses =
                counter_addresses(session, t.spec, keys[counter.region].key, counter.offset);
        if (list)
            list->add(counter_json(counter, each > 1));
        else
            print_counter(counter);
        shown++;
    }
    if (list)
        list->close();
    else if (!shown)
        std::puts("       - all counters are 0");
}

/* --- Turns ------------------------------------------------------------------------------------ */

Json turn_json(uint64_t key, const Turn& turn) {
    return {{"key", key},
            {"turns", turn.turns},
            {"start_ns", turn.start_ns},
            {"end_ns", turn.end_ns},
            {"counters", Json::array()}};
}

void show_turns(const Session& session, const Telemetry& t, const Reading& reading) {
    std::optional<JsonList> list;
    Json head = head_of(t);

    head["period_ms"] = t.period_ms;
    if (reading.json)
        list.emplace(head, "turns");
    else
        std::printf("%16s %8s %14s %8s  ADDRESSES\n", "KEY", "OFFSET", "VALUE", "TURNS");
    for (uint32_t index = 0; index < t.turns.size(); index++) {
        uint64_t key = t.turns[index];
        Turn turn = telemetry_turn(session, t, index);
        Json object = turn_json(key, turn);

        for (uint32_t i = 0; i < turn.values.size() && turn.turns; i++) {
            uint64_t value = turn.values[i];

            if (!value && !reading.all)
                continue;

            Addresses addresses = counter_addresses(session, t.spec, key, i);

            if (list)
                object["counters"].push_back(
                    {{"offset", i}, {"value", value}, {"addresses", addresses_json(addresses)}});
            else
                std::printf("%#16" PRIx64 " %8u %14" PRIu64 " %8" PRIu64 "  %s\n", key, i, value,
                            turn.turns, addresses_text(addresses, 1).c_str());
        }
        if (list)
            list->add(object);
        else if (!turn.turns)
            std::printf("%#16" PRIx64 " %8s %14s %8u  no turn yet\n", key, "-", "-", 0u);
    }
    if (list)
        list->close();
}

} // namespace

void show_counters(const Session& session, const Telemetry& t, const Reading& reading) {
    if (t.turns.empty())
        show_regions(session, t, reading);
    else
        show_turns(session, t, reading);
}
