// SPDX-License-Identifier: GPL-2.0
#include "telemetry.hpp"

#include <anemone_regs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device.hpp"

namespace {

/* Counters per read, so that values fit into memory and no call occupies the device for long. */
constexpr uint32_t READ_AT_ONCE = 1u << 15;

/* The text of an error, with its meaning for the driver. */
std::string why(int error) {
    switch (error) {
    case EPERM:
    case EACCES:
        return "permission denied: counting needs CAP_PERFMON, mapping physical addresses "
               "CAP_SYS_ADMIN (see anemone(4))";
    case EIO:
        return "the driver gave the device up (see the kernel's log)";
    case ENODEV:
        return "the device is gone";
    case ENOENT:
        return "the telemetry is gone";
    case EBUSY:
        return "the telemetry is rotated, or the device is asleep";
    case ESTALE:
        return "the host has moved the memory since the rule was added; remove the rule and add it "
               "again";
    default:
        return error_text(error);
    }
}

template <class... Parts>
[[noreturn]] void refused(const Session& session, const Telemetry& telemetry,
                          const Parts&... parts) {
    fail(session.path, ": \"", telemetry.name, "\": ", parts...);
}

uint64_t address_of(const void* memory) {
    return reinterpret_cast<uintptr_t>(memory);
}

anemone_map map_call(const Telemetry& telemetry, std::span<const anemone_entry> entries) {
    anemone_map call = {};

    call.size = sizeof(call);
    call.id = telemetry.id;
    call.entries = address_of(entries.data());
    call.count = static_cast<uint32_t>(entries.size());
    return call;
}

/* Restores the entries after a failed call. */
void undo(const Session& session, const Telemetry& telemetry,
          std::span<const anemone_entry> entries) {
    std::vector<anemone_entry> old;

    for (const anemone_entry& entry : entries) {
        auto was = telemetry.map.find(entry.key);

        old.push_back(was != telemetry.map.end()
                          ? was->second
                          : anemone_entry{entry.key, 0, ANEMONE_ENTRY_UNMAP});
    }

    anemone_map call = map_call(telemetry, old);

    /* A second failure cannot be handled; the first one is reported. */
    (void)device_ioctl(session.fd.get(), ANEMONE_MAP, &call);
}

} // namespace

Telemetry* Session::find(std::string_view name) {
    auto found = std::ranges::find(telemetries, name, &Telemetry::name);

    return found == telemetries.end() ? nullptr : &*found;
}

std::optional<anemone_info> device_info(int fd) {
    anemone_info info = {};

    info.size = sizeof(info);
    if (fd < 0 || device_ioctl(fd, ANEMONE_INFO, &info))
        return std::nullopt;
    return info;
}

Limits limits_of(const anemone_info& info) {
    return {
        .pipelines = info.pipelines,
        .states = info.states,
        .table = info.table,
        .bytes = info.address_bits < 64 ? 1ULL << info.address_bits : UINT64_MAX,
        .features = info.features,
        .flat = (info.flags & ANEMONE_INFO_FLAT) != 0,
        .hash = (info.features & ANEMONE_FEATURES_HASH_MASK) != 0,
        .from_options = false,
        .host = false,
    };
}

void telemetry_map(const Session& session, Telemetry& telemetry,
                   std::span<const anemone_entry> entries) {
    anemone_map call = map_call(telemetry, entries);

    if (entries.empty())
        return;
    if (device_ioctl(session.fd.get(), ANEMONE_MAP, &call)) {
        int error = errno;
        size_t done = call.done < entries.size() ? call.done : 0;
        const anemone_entry& entry = entries[done];

        undo(session, telemetry, entries.first(done));
        if (error == ENOENT && entry.flags & ANEMONE_ENTRY_UNMAP)
            refused(session, telemetry, "key ", Hex{entry.key}, " is not mapped");
        if (error == ERANGE)
            refused(session, telemetry, "key ", Hex{entry.key}, " is past the table's ",
                    session.info.table, ", or no address of it passes the rule's range");
        refused(session, telemetry, "key ", Hex{entry.key}, " to region ", entry.region, ": ",
                why(error));
    }
    for (const anemone_entry& entry : entries) {
        if (entry.flags & ANEMONE_ENTRY_UNMAP)
            telemetry.map.erase(entry.key);
        else
            telemetry.map.insert_or_assign(entry.key, entry);
    }
}

/* --- Adding ----------------------------------------------------------------------------------- */

Telemetry telemetry_add(const Session& session, const Rule& rule) {
    anemone_add call = {};
    Telemetry added;

    call.size = sizeof(call);
    call.spec = rule.spec;
    if (device_ioctl(session.fd.get(), ANEMONE_ADD, &call)) {
        std::string reason(call.reason, strnlen(call.reason, sizeof(call.reason)));

        fail(session.path, ": rule \"", rule.name, "\" was refused: ", why(errno),
             reason.empty() ? "" : ": ", reason);
    }
    added.name = rule.name;
    added.id = call.id;
    added.regions = call.regions;
    added.region_counters = call.region_counters;
    added.pipelines = call.pipelines;
    added.granule = call.granule;
    added.spec = rule.spec;
    return added;
}

/* The keys of a map "identity". */
static std::vector<anemone_entry> identity(const anemone_info& info, const anemone_spec& spec,
                                           uint32_t regions) {
    unsigned int shift = spec.translation.primary.shift;
    uint64_t first = 0, keys = std::min(regions, info.table);
    std::vector<anemone_entry> entries;

    if (spec.flags & ANEMONE_SPEC_HOST) {
        /* The range may begin before the memory and end after it. */
        uint64_t start = std::max(spec.filter.start, info.host_base);
        uint64_t end = info.host_base + info.host_size;

        first = start >> shift;
        /*
         * Otherwise the range is in another address range of the memory, which the driver does not
         * report.
         */
        if (start < end)
            keys = std::min(keys, ((end - 1) >> shift) - first + 1);
    }
    for (uint32_t i = 0; i < keys; i++)
        entries.push_back({first + i, i, 0});
    return entries;
}

void telemetry_map_rule(const Session& session, const Rule& rule, Telemetry& added) {
    std::vector<anemone_entry> entries =
        rule.identity ? identity(session.info, rule.spec, added.regions) : rule.map;

    /* Leaves out keys that can never count: a replay allows them, but the driver refuses them. */
    auto left_out = std::erase_if(
        entries, [&](const anemone_entry& entry) { return !reaches(rule.spec, entry.key); });

    if (left_out && !rule.identity)
        note("rule \"", rule.name, "\": ", left_out,
             " keys of the map are left out: none of their addresses is in the range");
    telemetry_map(session, added, entries);
}

uint64_t telemetry_rotate(const Session& session, Telemetry& telemetry,
                          std::span<const uint64_t> keys, uint32_t period_ms) {
    anemone_rotate call = {};

    /* The driver maps the keys of a rotation itself, and refuses to while others are mapped. */
    if (!keys.empty()) {
        std::vector<anemone_entry> mapped;

        if (!telemetry.turns.empty())
            telemetry_rotate(session, telemetry, {}, 0);
        for (const auto& [key, entry] : telemetry.map)
            mapped.push_back({key, entry.region, entry.flags | ANEMONE_ENTRY_UNMAP});
        telemetry_map(session, telemetry, mapped);
    }
    call.size = sizeof(call);
    call.id = telemetry.id;
    call.keys = address_of(keys.data());
    call.count = static_cast<uint32_t>(keys.size());
    call.period_ms = period_ms;
    if (device_ioctl(session.fd.get(), ANEMONE_ROTATE, &call))
        refused(session, telemetry, "rotation of ", keys.size(), " keys: ", why(errno));
    telemetry.turns.assign(keys.begin(), keys.end());
    telemetry.period_ms = keys.empty() ? 0 : period_ms;
    return call.sweep_ns;
}

/* --- Reading ---------------------------------------------------------------------------------- */

anemone_status telemetry_status(const Session& session, const Telemetry& telemetry) {
    anemone_status status = {};

    status.size = sizeof(status);
    status.id = telemetry.id;
    if (device_ioctl(session.fd.get(), ANEMONE_STATUS, &status))
        refused(session, telemetry, "status: ", why(errno));
    return status;
}

std::vector<uint64_t> telemetry_read(const Session& session, const Telemetry& telemetry,
                                     uint32_t flags) {
    uint32_t all = telemetry.counters(), granule = telemetry.granule, step = READ_AT_ONCE;
    size_t each = flags & ANEMONE_READ_CHANNELS ? session.info.channels : 1;
    std::vector<uint64_t> values(all * each);

    if (granule && granule < READ_AT_ONCE)
        step -= READ_AT_ONCE % granule;
    for (uint32_t first = 0; first < all; first += step) {
        anemone_read call = {};

        call.size = sizeof(call);
        call.id = telemetry.id;
        call.flags = flags;
        call.first = first;
        call.count = std::min(all - first, step);
        call.values = address_of(values.data() + first * each);
        if (device_ioctl(session.fd.get(), ANEMONE_READ, &call))
            refused(session, telemetry, "reading counters from ", first, " on: ", why(errno));
    }
    return values;
}

Turn telemetry_turn(const Session& session, const Telemetry& telemetry, uint32_t index) {
    std::vector<uint64_t> values(telemetry.region_counters);
    anemone_turn call = {};

    call.size = sizeof(call);
    call.id = telemetry.id;
    call.index = index;
    call.count = telemetry.region_counters;
    call.values = address_of(values.data());
    if (device_ioctl(session.fd.get(), ANEMONE_TURN, &call))
        refused(session, telemetry, "turn of key ", Hex{telemetry.turns[index]}, ": ", why(errno));
    return {call.turns, call.start_ns, call.end_ns, std::move(values)};
}
