// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cstdio>
#include <ranges>

#include "json.hpp"
#include "numbers.hpp"
#include "pages.hpp"
#include "target.hpp"

namespace {

/* Checks a region number; `what` names the argument or file. */
uint32_t region(const Telemetry& t, std::string_view what, uint64_t number) {
    if (number >= t.regions)
        bad_input(what, " is ", number, "; allowed: a region of 0 to ", t.regions - 1, " of \"",
                  t.name, '"');
    return static_cast<uint32_t>(number);
}

std::vector<anemone_entry> from_file(const Options& o, const Telemetry& t) {
    static constexpr const char* names[] = {"key", "region"};
    /* An unmap line needs no region. */
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

/* Chooses a free region for each key that has none. */
std::vector<anemone_entry> in_free_regions(const Options& o, const Telemetry& t,
                                           std::span<const ProcessKey> keys) {
    auto unmapped = [&](const ProcessKey& key) { return !t.map.contains(key.key); };
    std::vector<anemone_entry> entries;
    std::vector<bool> taken(t.regions);
    uint32_t free = 0;

    for (const auto& [key, entry] : t.map)
        if (entry.region < t.regions)
            taken[entry.region] = true;
    for (const ProcessKey& key : keys | std::views::filter(unmapped)) {
        while (free < t.regions && taken[free])
            free++;
        if (free == t.regions)
            fail("process ", o.pid, " has ", std::ranges::count_if(keys, unmapped),
                 " keys without a region, and ", entries.size(), " region", plural(entries.size()),
                 " of \"", t.name, "\" are free: name a REGION for all, or a --range");
        entries.push_back({key.key, free++, 0});
    }
    return entries;
}

std::vector<anemone_entry> from_process(const Options& o, const Session& session,
                                        const Telemetry& t, std::vector<ProcessKey>& keys) {
    std::vector<anemone_entry> entries;
    uint32_t all = 0;

    if (!(t.spec.flags & ANEMONE_SPEC_HOST))
        bad_input("map: \"", t.name,
                  "\" has the device's addresses; allowed with --pid: one of "
                  "`anemonectl add --host-addresses`");
    if (o.words.size() == 2)
        all = region(t, "REGION", parse_number("REGION", o.words[1], 0, UINT64_MAX));
    keys = keys_of_process(o.pid, t.spec, {o.first, o.last}, session.info.table);
    if (keys.empty())
        fail("process ", o.pid, " has no page in the rule's range");
    if (o.words.size() == 1)
        return in_free_regions(o, t, keys);
    for (const ProcessKey& key : keys)
        entries.push_back({key.key, all, 0});
    return entries;
}

/* The result in JSON; for a process, the region of each of its addresses. */
Json json_of(const Options& o, const Telemetry& t, size_t set, std::span<const ProcessKey> keys) {
    Json object = {{"name", t.name}, {o.unmap ? "unmapped" : "set", set}, {"mapped", t.mapped()}};

    for (const ProcessKey& key : keys)
        object["pages"].push_back(
            {{"address", key.address}, {"key", key.key}, {"region", t.map.at(key.key).region}});
    return object;
}

void check_words(const Options& o) {
    size_t max_count = o.pid ? 2 : !o.file.empty() ? 1 : o.unmap ? 2 : 3;
    size_t min_count = o.pid ? 1 : max_count;

    if (!o.pid && o.last != UINT64_MAX)
        bad_input("map: --range is of a process's addresses; allowed: with --pid");
    if (o.words.size() < min_count || o.words.size() > max_count ||
        (o.pid && (o.unmap || !o.file.empty())))
        bad_input("map: ", o.words.size(),
                  " words; allowed: NAME KEY REGION, NAME --unmap KEY, NAME -f FILE, "
                  "NAME --pid PID [REGION]");
}

int run(const Options& o) {
    check_words(o);

    Target target = open_telemetry(o, o.words[0], true);
    Telemetry& t = *target.telemetry;

    if (!t.turns.empty())
        bad_input("map: \"", t.name, "\" is rotated; allowed: one that is not (`anemonectl rotate ",
                  t.name, " --stop`)");

    std::vector<ProcessKey> keys;
    std::vector<anemone_entry> entries = o.pid ? from_process(o, target.session, t, keys)
                                         : !o.file.empty() ? from_file(o, t)
                                                           : std::vector{from_words(o, t)};

    for (anemone_entry& entry : entries)
        entry.flags = o.unmap ? ANEMONE_ENTRY_UNMAP : 0;
    telemetry_map(target.session, t, entries);
    target.link->put(t);
    if (o.json)
        print_json(json_of(o, t, entries.size(), keys));
    else
        std::printf("%s: %zu key%s %s, %u mapped\n", t.name.c_str(), entries.size(),
                    plural(entries.size()), o.unmap ? "unmapped" : "set", t.mapped());
    return 0;
}

} // namespace

const Command command_map = {
    .name = "map",
    .summary = "choose the region that counts a key's accesses",
    .help = R"(usage: anemonectl map NAME KEY REGION | NAME --unmap KEY | NAME -f FILE
       anemonectl map NAME --pid PID [REGION] [--range START-END]

An access's key is (address & primary.mask) >> primary.shift: with shift 21, the
number of a 2 MiB page. Accesses of a mapped key are counted in its region, others
only as unmapped (`anemonectl status`). Several keys may share a region. A file's
entries are all set, or none.

With --pid the keys are those of a running process's current pages in the rule's
range, which must be host addresses (`anemonectl add --help`). Each key without a
region gets a free one, or all keys get REGION. Pages that move later are not
followed. This needs CAP_SYS_ADMIN and permission to trace the process.

  -f, --file F    lines "KEY REGION", or "KEY" with --unmap; # begins a comment;
                  - for stdin
      --unmap     unmap the keys
      --pid PID   map the pages of this process
      --range A-B only these addresses of the process, B exclusive
  -d, --device D  needed if several devices have a telemetry with this name
  -j, --json      print JSON

example:  anemonectl map skew 0x323 1
)",
    .options = OPTION_FILE | OPTION_UNMAP | OPTION_PID | OPTION_DEVICE | OPTION_JSON,
    .min_words = 1,
    .max_words = 3,
    .run = run,
};
