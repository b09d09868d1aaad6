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
    .summary = "read counters, with the rule's read effect",
    .help = R"(usage: anemonectl read NAME [--snapshot] [--channels] [--all] [--json]

Shows the counters that are not zero: region, offset in it, value, and the addresses
they stand for (of the first key, where a region has several). The rule's read_effect
is applied: with a reset each read begins an interval. Of a telemetry that is
rotated, what each key counted in its last turn.

      --snapshot  without the read effect: nobody else notices
      --channels  a value for each memory channel, instead of the whole
  -a, --all       those that are zero, too
  -d, --device D  where several devices have a telemetry of this name
  -j, --json      for programs
)",
    .options = OPTION_SNAPSHOT | OPTION_CHANNELS | OPTION_ALL | OPTION_DEVICE | OPTION_JSON,
    .least = 1,
    .most = 1,
    .run = run,
};
