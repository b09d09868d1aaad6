// SPDX-License-Identifier: GPL-2.0
#include <cstdio>

#include "json.hpp"
#include "numbers.hpp"
#include "target.hpp"

namespace {

std::vector<uint64_t> read_keys(const std::string& path) {
    static constexpr const char* columns[] = {"key"};
    std::vector<uint64_t> keys;

    for (const std::vector<uint64_t>& row : read_numbers(path, columns))
        keys.push_back(row[0]);
    if (keys.empty())
        bad_input(path, ": file: keys are missing; allowed: one or more lines \"KEY\"");
    return keys;
}

int run(const Options& o) {
    bool file = !o.file.empty(), period = o.period_ms;

    if (o.stop ? file || period : !file || !period)
        bad_input("rotate: allowed: NAME --period MS -f KEYS, or NAME --stop");

    std::vector<uint64_t> keys = o.stop ? std::vector<uint64_t>() : read_keys(o.file);
    Target target = open_telemetry(o, o.words[0], true);
    Telemetry& t = *target.telemetry;
    uint64_t sweep_ns = telemetry_rotate(target.session, t, keys, o.period_ms);

    target.link->put(t);
    if (o.json)
        print_json({{"name", t.name},
                    {"keys", keys.size()},
                    {"period_ms", t.period_ms},
                    {"sweep_ns", sweep_ns}});
    else if (o.stop)
        std::printf("%s: rotation ended; no key is mapped\n", t.name.c_str());
    else
        std::printf("%s: %zu keys take turns of %u ms, %u at a time; all have had one after "
                    "%.1f s\n",
                    t.name.c_str(), keys.size(), t.period_ms, t.regions,
                    static_cast<double>(sweep_ns) / 1e9);
    return 0;
}

} // namespace

const Command command_rotate = {
    .name = "rotate",
    .summary = "count more keys than there are regions, in turns",
    .help = R"(usage: anemonectl rotate NAME --period MS -f KEYS | NAME --stop

Counts as many keys as the telemetry has regions for a period, its turn, reads them,
and goes on with the next keys. `anemonectl read` shows what each key counted in its
last turn.

      --period MS  length of a turn, 1 to 60000 ms
  -f, --file F     a key on each line; # begins a comment; - for stdin
      --stop       end the rotation
  -d, --device D   needed if several devices have a telemetry with this name
  -j, --json       print JSON

example:  seq 0 4095 | anemonectl rotate skew --period 500 -f -
)",
    .options = OPTION_PERIOD | OPTION_FILE | OPTION_STOP | OPTION_DEVICE | OPTION_JSON,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
