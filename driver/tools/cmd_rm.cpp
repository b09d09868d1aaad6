// SPDX-License-Identifier: GPL-2.0
#include <cstdio>

#include "device.hpp"
#include "json.hpp"
#include "target.hpp"

namespace {

/* Removes all telemetries of a device's holder; returns their number. */
size_t remove_all(const std::string& device) {
    Session session;
    auto link = Link::open(device, false, true, session);

    for (const Telemetry& telemetry : session.telemetries)
        link->remove(telemetry.id);
    return session.telemetries.size();
}

int run(const Options& o) {
    size_t removed = 0;

    if (o.all != o.words.empty())
        bad_input("rm: ", o.all ? "NAME and --all" : "NAME is missing", "; allowed: NAME or --all");
    if (!o.all) {
        Target target = open_telemetry(o, o.words[0], true);

        target.link->remove(target.telemetry->id);
        removed = 1;
    } else if (!o.device.empty()) {
        removed = remove_all(chosen_device(o));
    } else {
        for (const std::string& path : device_paths())
            removed += remove_all(path);
    }
    if (o.json)
        print_json({{"removed", removed}});
    else if (o.all)
        std::printf("%zu removed\n", removed);
    return 0;
}

} // namespace

const Command command_rm = {
    .name = "rm",
    .summary = "remove a telemetry, or all",
    .help = R"(usage: anemonectl rm NAME | --all [--device D] [--json]

Removes the telemetry and its counters, and frees its pipelines. The background
process anemone-holder ends with the last telemetry.

  -a, --all       remove all your telemetries
  -d, --device D  only on this device
  -j, --json      print JSON
)",
    .options = OPTION_ALL | OPTION_DEVICE | OPTION_JSON,
    .min_words = 0,
    .max_words = 1,
    .run = run,
};
