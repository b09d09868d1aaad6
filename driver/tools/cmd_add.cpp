// SPDX-License-Identifier: GPL-2.0
#include <cstdio>

#include "json.hpp"
#include "show.hpp"
#include "target.hpp"

namespace {

void show_added(const Session& session, std::span<const Telemetry> added, bool json) {
    Json list = Json::array();

    for (const Telemetry& t : added) {
        Json object = {{"device", session.path}};

        if (!json)
            std::printf("%s: %s, id %u, %u pipeline%s, %u region%s of %u counter%s, %u key%s "
                        "mapped\n",
                        session.path.c_str(), t.name.c_str(), t.id, t.pipelines,
                        plural(t.pipelines), t.regions, plural(t.regions), t.region_counters,
                        plural(t.region_counters), t.mapped(), plural(t.mapped()));
        add_telemetry(object, t);
        list.push_back(object);
    }
    if (json)
        print_json(list);
}

int run(const Options& o) {
    if (o.file.empty())
        bad_input("add: --file is missing; allowed: a rule file (docs/rules.md), - for stdin");

    std::string device = chosen_device(o);
    std::vector<Rule> rules = read_rules(o.file, device_limits(device, o.host));
    Session session;
    auto link = Link::open(device, true, true, session);
    std::vector<Telemetry> added;

    for (size_t i = 0; i < rules.size(); i++)
        if (session.find(rules[i].name))
            bad_input(o.file, ": rule ", i + 1, ": name is \"", rules[i].name,
                      "\"; allowed: one that is not taken on ", device,
                      " (`anemonectl rm` frees it)");
    /* If the program ends before the commit, the holder removes all of them. */
    for (const Rule& rule : rules) {
        added.push_back(telemetry_add(session, rule));
        link->put(added.back());
        telemetry_map_rule(session, rule, added.back());
        link->put(added.back());
    }
    link->commit();
    show_added(session, added, o.json);
    return 0;
}

} // namespace

const Command command_add = {
    .name = "add",
    .summary = "add the rules of a file, all or none",
    .help = R"(usage: anemonectl add -f RULES.toml [--device D] [--json]

Adds each [[rule]] of the file (docs/rules.md) as a telemetry and maps its keys. If
one is refused, none is added. They count until `anemonectl rm`: a background
process, anemone-holder, keeps the device open for them and ends with the last one.
Base indices of a map must be multiples of a region's counters, because the driver
places the regions. read_every is for replays and is ignored.

  -f, --file F    the rules; - for stdin
      --host-addresses  addresses and keys in the file are host addresses, not
                  device addresses
  -d, --device D  /dev/anemone1, anemone1 or 1; not needed if there is only one
  -j, --json      print JSON: a list with an object for each rule

example:  anemonectl add -f hotness.toml && anemonectl watch hotness
)",
    .options = OPTION_FILE | OPTION_HOST | OPTION_DEVICE | OPTION_JSON,
    .min_words = 0,
    .max_words = 0,
    .run = run,
};
