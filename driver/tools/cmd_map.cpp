// SPDX-License-Identifier: GPL-2.0
#include <cstdio>

#include "json.hpp"
#include "numbers.hpp"
#include "target.hpp"

namespace {

/* A region of the telemetry's. `what`: of which argument or file. */
uint32_t region(const Telemetry& t, std::string_view what, uint64_t number) {
    if (number >= t.regions)
        bad_input(what, " is ", number, "; allowed: a region of 0 to ", t.regions - 1, " of \"",
                  t.name, '"');
    return static_cast<uint32_t>(number);
}

std::vector<anemone_entry> from_file(const Options& o, const Telemetry& t) {
    static constexpr const char* names[] = {"key", "region"};
    /* To unmap, a line needs no region. */
    std::span columns = std::span<const char* const>(names).first(o.unmap ? 1 : 2);
    std::vector<anemone_entry> entries;

    for (const std::vector<uint64_t>& row : read_numbers(o.file, columns))
        entries.push_back({row[0], o.unmap ? 0 : region(t, o.file, row[1]), 0});
    return entries;
}

anemone_entry from_words(const Options& o, const Telemetry& t) {
    anemone_entry entry = {};

    entry.key = parse_number("KEY", o.words[1], 0, UINT64_MAX);
    if (!o.unmap)
        entry.region = region(t, "REGION", parse_number("REGION", o.words[2], 0, UINT64_MAX));
    return entry;
}

int run(const Options& o) {
    size_t wanted = !o.file.empty() ? 1 : o.unmap ? 2 : 3;

    if (o.words.size() != wanted)
        bad_input("map: ", o.words.size(),
                  " words; allowed: NAME KEY REGION, NAME --unmap KEY, NAME -f FILE");

    Target target = open_telemetry(o, o.words[0], true);
    Telemetry& t = *target.telemetry;

    if (!t.turns.empty())
        bad_input("map: \"", t.name, "\" is rotated; allowed: one that is not (`anemonectl rotate ",
                  t.name, " --stop`)");

    std::vector<anemone_entry> entries =
        !o.file.empty() ? from_file(o, t) : std::vector{from_words(o, t)};

    for (anemone_entry& entry : entries)
        entry.flags = o.unmap ? ANEMONE_ENTRY_UNMAP : 0;
    telemetry_map(target.session, t, entries);
    target.link->put(t);
    if (o.json)
        print_json({{"name", t.name},
                    {o.unmap ? "unmapped" : "set", entries.size()},
                    {"mapped", t.mapped()}});
    else
        std::printf("%s: %zu key%s %s, %u mapped\n", t.name.c_str(), entries.size(),
                    plural(entries.size()), o.unmap ? "unmapped" : "set", t.mapped());
    return 0;
}

} // namespace

const Command command_map = {
    .name = "map",
    .summary = "choose the region of counters that a key's accesses go to",
    .help = R"(usage: anemonectl map NAME KEY REGION | NAME --unmap KEY | NAME -f FILE

An access's key is (address & primary.mask) >> primary.shift; a 2 MiB page's with
shift 21, say. A key that is mapped is counted in its region, one that is not only
as unmapped (`anemonectl status`). Several keys may share a region. A file's
entries are set all or none.

  -f, --file F    lines "KEY REGION", or "KEY" with --unmap; # begins a comment;
                  - for stdin
      --unmap     forget the keys
  -d, --device D  where several devices have a telemetry of this name
  -j, --json      for programs

example:  anemonectl map skew 0x323 1
)",
    .options = OPTION_FILE | OPTION_UNMAP | OPTION_DEVICE | OPTION_JSON,
    .least = 1,
    .most = 3,
    .run = run,
};
