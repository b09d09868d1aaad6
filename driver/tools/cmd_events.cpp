// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <poll.h>

#include "addresses.hpp"
#include "device.hpp"
#include "interrupt.hpp"
#include "target.hpp"

namespace {

/* Longest delay until a new or removed telemetry is noticed. */
constexpr int LOOK_MS = 1000;
constexpr size_t AT_ONCE = 64;

/* Opens the devices on which this user has telemetries. */
std::vector<Session> look(const std::vector<std::string>& devices) {
    std::vector<Session> sessions;

    for (const std::string& device : devices) {
        Session session;

        if (!Link::open(device, false, false, session) || session.telemetries.empty())
            continue;
        if (!device_listen(session.fd.get()))
            fail(device, ": events: ", error_text());
        sessions.push_back(std::move(session));
    }
    return sessions;
}

const Telemetry* find(const Session& session, uint32_t id) {
    auto found = std::ranges::find(session.telemetries, id, &Telemetry::id);

    return found == session.telemetries.end() ? nullptr : &*found;
}

/* Position of a counter in its telemetry, and the addresses that it counts. */
struct Where {
    uint32_t region, offset;
    uint32_t keys;
    Addresses addresses;
};

Where where_of(const Session& session, const Telemetry& t, uint32_t counter) {
    Where where = {counter / t.region_counters, counter % t.region_counters, 0, std::nullopt};

    if (!t.turns.empty() || where.region >= t.regions)
        return where; /* the rotation may have mapped other keys by now */

    RegionKeys keys = keys_of_regions(t)[where.region];

    where.keys = keys.count;
    if (keys.count)
        where.addresses = counter_addresses(session, t.spec, keys.key, where.offset);
    return where;
}

void show_json(const Session& session, const anemone_record& record) {
    const anemone_event& event = record.event;
    const Telemetry* t = find(session, event.id);
    Json object = {{"device", session.path}};

    object["type"] = event.type == ANEMONE_EVENT_NOTIFICATION ? "notification"
                     : event.type == ANEMONE_EVENT_LOST       ? "lost"
                     : event.type == ANEMONE_EVENT_MORE_LOST  ? "more_lost"
                                                              : "unknown";
    object["time_ns"] = event.time_ns;
    if (event.type == ANEMONE_EVENT_MORE_LOST) {
        object["count"] = event.counter;
    } else {
        object["name"] = t ? Json(t->name) : Json(nullptr);
        object["id"] = event.id;
    }
    if (t && event.type == ANEMONE_EVENT_LOST) {
        object["region"] = event.counter / t->region_counters;
        object["address"] = record.address;
    } else if (t && event.type == ANEMONE_EVENT_NOTIFICATION) {
        Where where = where_of(session, *t, event.counter);

        object["region"] = where.region;
        object["offset"] = where.offset;
        object["channel"] = event.channel;
        object["keys"] = where.keys;
        object["addresses"] = addresses_json(where.addresses);
    }
    print_json(object);
}

void show(const Session& session, const anemone_record& record) {
    const anemone_event& event = record.event;
    const Telemetry* t = find(session, event.id);
    double seconds = static_cast<double>(event.time_ns) / 1e9;
    std::string name = t ? t->name : text("id ", event.id);

    if (event.type == ANEMONE_EVENT_MORE_LOST) {
        std::printf("%14.6f  %s: %u more entries were lost with their pages\n", seconds,
                    session.path.c_str(), event.counter);
    } else if (event.type == ANEMONE_EVENT_LOST) {
        std::printf("%14.6f  %s: the entry of address 0x%llx was lost with its page\n", seconds,
                    name.c_str(), record.address);
    } else if (t && event.type == ANEMONE_EVENT_NOTIFICATION) {
        Where where = where_of(session, *t, event.counter);

        std::printf("%14.6f  %s: region %u, offset %u, channel %u  %s\n", seconds, name.c_str(),
                    where.region, where.offset, event.channel,
                    addresses_text(where.addresses, where.keys).c_str());
    } else {
        std::printf("%14.6f  %s: event of type %u, counter %u\n", seconds, name.c_str(), event.type,
                    event.counter);
    }
}

/* Prints at most `max_count` waiting events of one device; returns their number. */
size_t show_waiting(const Session& session, size_t max_count, bool json) {
    std::array<anemone_record, AT_ONCE> records;
    auto wanted = std::span(records).first(std::min(max_count, records.size()));
    ssize_t got = device_read(session.fd.get(), wanted);

    /* Another reader of the same telemetries may have taken it. */
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got < 0)
        fail(session.path, ": events: ", error_text());
    for (const anemone_record& record : wanted.first(static_cast<size_t>(got)))
        (json ? show_json : show)(session, record);
    return static_cast<size_t>(got);
}

int run(const Options& o) {
    std::vector<std::string> devices = candidates(o);
    std::vector<Session> sessions = look(devices);
    size_t left = o.count ? o.count : SIZE_MAX;

    if (sessions.empty())
        bad_input("events: no telemetry is held; allowed: one that was added (`anemonectl list` "
                  "lists them)");
    catch_interrupts();
    while (!interrupted && !sessions.empty()) {
        std::vector<pollfd> polled;

        for (const Session& session : sessions)
            polled.push_back({session.fd.get(), POLLIN, 0});
        device_poll(polled, LOOK_MS);
        /* Read again each time, because names and maps may have changed. */
        sessions = look(devices);
        for (const Session& session : sessions) {
            left -= show_waiting(session, left, o.json);
            if (std::fflush(stdout) || !left)
                return 0;
        }
    }
    if (!interrupted)
        note("the last telemetry was removed");
    return 0;
}

} // namespace

const Command command_events = {
    .name = "events",
    .summary = "print notifications as they arrive",
    .help = R"(usage: anemonectl events [--count N] [--device D] [--json]

Prints a line when the predicate of a rule (`notify`) holds: the time in seconds
(CLOCK_MONOTONIC), the telemetry, the region and offset of the first counter for
which it held, and that counter's addresses. It watches all your telemetries until
Ctrl-C or until the last one is removed. Reading an event re-arms its pipeline, so a
predicate that always holds gives one line at a time. If two `events` read the same
device, each event goes to only one of them.

It also prints entries of a program's own pages (ANEMONE_ENTRY_VIRTUAL, anemone(4))
that were removed with their page.

      --count N   end after N events
  -d, --device D  only events of this device
  -j, --json      print JSON: an object on a line for each event

example:  anemonectl events --json | while read -r event; do ...; done
)",
    .options = OPTION_COUNT | OPTION_DEVICE | OPTION_JSON,
    .min_words = 0,
    .max_words = 0,
    .run = run,
};
