// SPDX-License-Identifier: GPL-2.0
#include <cstdio>

#include "device.hpp"
#include "json.hpp"
#include "link.hpp"
#include "options.hpp"
#include "show.hpp"

namespace {

Json json_of(const Session& s) {
    const anemone_info& info = s.info;
    Json telemetries = Json::array();

    for (const Telemetry& telemetry : s.telemetries) {
        Json object;

        add_telemetry(object, telemetry);
        telemetries.push_back(object);
    }
    return {
        {"device", s.path},
        {"pci", info.device},
        {"version_major", info.version >> 16},
        {"version_minor", info.version & 0xffff},
        {"pipelines", info.pipelines},
        {"pipelines_free", info.pipelines_free},
        {"channels", info.channels},
        {"states", info.states},
        {"table", info.table},
        {"address_bits", info.address_bits},
        {"features", info.features},
        {"host_base", info.host_base},
        {"host_size", info.host_size},
        {"interrupts", (info.flags & ANEMONE_INFO_INTERRUPTS) != 0},
        {"interrupts_taken", info.interrupts},
        {"interrupts_spurious", info.spurious},
        {"flat", (info.flags & ANEMONE_INFO_FLAT) != 0},
        {"failed", (info.flags & ANEMONE_INFO_FAILED) != 0},
        {"telemetries", telemetries},
    };
}

void show(const Session& s) {
    const anemone_info& info = s.info;

    std::printf("%s  %s  register map %u.%u%s\n", s.path.c_str(), info.device, info.version >> 16,
                info.version & 0xffff,
                info.flags & ANEMONE_INFO_FAILED ? "  FAILED: the driver gave it up" : "");
    std::printf("  pipelines   %u, %u free\n", info.pipelines, info.pipelines_free);
    std::printf("  counters    %u channels, %u words of 64 bits a pipeline on each\n",
                info.channels, info.states);
    std::printf("  table       %u keys a pipeline\n", info.table);
    std::printf("  memory      %u bits of address", info.address_bits);
    if (info.host_size)
        std::printf(", at 0x%llx-0x%llx of the host", info.host_base,
                    info.host_base + info.host_size - 1);
    std::printf("\n  flat mode   %s\n", info.flags & ANEMONE_INFO_FLAT ? "built in" : "no");
    if (info.flags & ANEMONE_INFO_INTERRUPTS)
        std::printf("  interrupts  %llu taken, %llu spurious\n", info.interrupts, info.spurious);
    else
        std::printf("  interrupts  none: the driver polls for notifications\n");
    for (const Telemetry& t : s.telemetries)
        std::printf("  telemetry   %s: id %u, %u pipeline%s, %u region%s of %u, %u mapped\n",
                    t.name.c_str(), t.id, t.pipelines, plural(t.pipelines), t.regions,
                    plural(t.regions), t.region_counters, t.mapped());
}

/* Opens a device and its holder's telemetries; empty, with a note, if it cannot be opened. */
std::optional<Session> look_at(const std::string& path) {
    Session session;

    if (Link::open(path, false, false, session))
        return session;
    session.path = path;
    session.fd = device_open(path);

    auto info = device_info(session.fd.get());

    if (!info) {
        note(path, ": ", error_text());
        return std::nullopt;
    }
    session.info = *info;
    return session;
}

int run(const Options& o) {
    std::vector<std::string> paths = device_paths();
    Json list = Json::array();
    int status = 0;

    if (paths.empty() && !o.json)
        std::puts("no devices: is the driver loaded (lsmod | grep anemone)?");
    for (const std::string& path : paths) {
        auto session = look_at(path);

        if (!session)
            status = STATUS_FAILED;
        else if (o.json)
            list.push_back(json_of(*session));
        else
            show(*session);
    }
    if (o.json)
        print_json(list);
    return status;
}

} // namespace

const Command command_list = {
    .name = "list",
    .summary = "list devices and your telemetries",
    .help = R"(usage: anemonectl list [--json]

Lists /dev/anemone*: pipelines and how many are free, counters, keys, host addresses
of the memory, flat memory mode, and the telemetries that you added with
`anemonectl add`.

  -j, --json  print JSON: a list with an object for each device
)",
    .options = OPTION_JSON,
    .min_words = 0,
    .max_words = 0,
    .run = run,
};
