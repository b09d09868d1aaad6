// SPDX-License-Identifier: GPL-2.0
#include <cstdio>

#include "show.hpp"
#include "target.hpp"

namespace {

int run(const Options& o) {
    Target target = open_telemetry(o, o.words[0], false);

    show_counters(target.session, *target.telemetry, {o.snapshot, o.channels, o.all, o.json});
    if (o.json)
        std::puts("");
    return 0;
}

} // namespace

const Command command_read = {
    .name = "read",
    .summary = "read counters and apply the rule's read effect",
    .help = R"(usage: anemonectl read NAME [--snapshot] [--channels] [--all] [--json]

Shows the counters that are not zero: region, offset, value and addresses (of the
first key, if a region has several). It applies the rule's read_effect; with a reset,
each read begins a new interval. For a rotated telemetry it shows what each key
counted in its last turn.

      --snapshot  read without the read effect, which other readers do not notice
      --channels  show a value for each memory channel instead of the sum
  -a, --all       show counters that are zero, too
  -d, --device D  needed if several devices have a telemetry with this name
  -j, --json      print JSON
)",
    .options = OPTION_SNAPSHOT | OPTION_CHANNELS | OPTION_ALL | OPTION_DEVICE | OPTION_JSON,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
