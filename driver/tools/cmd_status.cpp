// SPDX-License-Identifier: GPL-2.0
#include <cstdio>

#include "json.hpp"
#include "target.hpp"

namespace {

/* ANEMONE_HARVEST_*. */
const char* harvest_name(uint32_t harvest) {
    static constexpr const char* names[] = {"none", "difference", "acknowledge", "effect",
                                            "refused"};

    return harvest < std::size(names) ? names[harvest] : "unknown";
}

void show(const Telemetry& t, const anemone_status& status, bool json) {
    const struct {
        const char *name, *label;
        unsigned long long value;
    } lines[] = {
        {"matched", "accesses that updated a counter", status.matched},
        {"unmapped", "accesses whose key is not mapped", status.unmapped},
        {"out_of_range", "accesses past the last counter", status.out_of_range},
        {"notifications", "times the predicate held", status.notifications},
        {"events", "notifications that were reported", status.events},
        {"parity_errors", "reads with bad parity", status.parity_errors},
        {"mapped", "keys that are mapped", status.mapped},
        {"pipelines", "pipelines taken", t.pipelines},
        {"regions", "regions", t.regions},
        {"region_counters", "counters of a region", t.region_counters},
        {"rotated", "keys in rotation", t.turns.size()},
    };
    const char* harvest = harvest_name(status.harvest);
    Json object = {{"name", t.name}, {"id", t.id}};

    for (const auto& line : lines) {
        object[line.name] = line.value;
        if (!json)
            std::printf("%-16s %14llu  %s\n", line.name, line.value, line.label);
    }
    object["harvest"] = harvest;
    if (json)
        print_json(object);
    else
        std::printf("%-16s %14s  how reads with effect are made\n", "harvest", harvest);
}

int run(const Options& o) {
    Target target = open_telemetry(o, o.words[0], false);

    show(*target.telemetry, telemetry_status(target.session, *target.telemetry), o.json);
    return 0;
}

} // namespace

const Command command_status = {
    .name = "status",
    .summary = "show matched, unmapped and out-of-range accesses",
    .help = R"(usage: anemonectl status NAME [--json]

Every access that passes the rule's filter is matched, unmapped or out of range.
Shows these counts, notifications, errors, and the resources of the telemetry.

  -d, --device D  needed if several devices have a telemetry with this name
  -j, --json      print JSON
)",
    .options = OPTION_DEVICE | OPTION_JSON,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
