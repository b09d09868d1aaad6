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

Adds each [[rule]] of the file (docs/rules.md) as a telemetry and maps its keys; if
one is refused, none is added. They count until `anemonectl rm`: a process in the
background, anemone-holder, keeps the device open for them and ends with the last.
A map's base indices have to be multiples of the region's counters, as the driver
places regions; read_every is of replays and ignored.

  -f, --file F    the rules; - for stdin
      --host-addresses  addresses and keys of the file are the host's, not the
                  device's
  -d, --device D  /dev/anemone1, anemone1 or 1; not needed where there is only one
  -j, --json      for programs: a list with an object for each rule

example:  anemonectl add -f hotness.toml && anemonectl watch hotness
)",
    .options = OPTION_FILE | OPTION_HOST | OPTION_DEVICE | OPTION_JSON,
    .least = 0,
    .most = 0,
    .run = run,
};
