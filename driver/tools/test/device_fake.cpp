// SPDX-License-Identifier: GPL-2.0
/* device.hpp for tests: implements anemone(4) on the files anemone0, ... in $ANEMONE_FAKE. */
#include "device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include "fake_store.hpp"

std::vector<std::string> device_paths() {
    const char* folder = std::getenv("ANEMONE_FAKE");
    std::string pattern = std::string(folder ? folder : "/nowhere") + "/anemone[0-9]*";
    std::vector<std::string> paths;
    glob_t found = {};

    if (!glob(pattern.c_str(), 0, nullptr, &found))
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    return paths;
}

std::string device_proc(uint32_t pid) {
    const char* folder = std::getenv("ANEMONE_FAKE");

    return std::string(folder ? folder : "/nowhere") + "/proc/" + std::to_string(pid);
}

Descriptor device_open(const std::string& path) {
    FakeDevice* device;
    Descriptor fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct flock life = {};

    if (!fd || !fake_enter(fd.get(), &device))
        return Descriptor();
    /* Past all contents, so that it does not conflict with their locks. */
    if (device->last_owner < sizeof(*device))
        device->last_owner = sizeof(*device);
    device->last_owner++;
    life.l_type = F_WRLCK;
    life.l_start = lseek(fd.get(), static_cast<off_t>(device->last_owner), SEEK_SET);
    life.l_len = 1;
    fake_leave(fd.get(), device);
    return fcntl(fd.get(), F_OFD_SETLK, &life) ? Descriptor() : std::move(fd);
}

namespace {

/* --- Calls ------------------------------------------------------------------------------------ */

/* Sets errno, and returns the result of a failed call. */
int wrong(int error) {
    errno = error;
    return -1;
}

int info(const FakeDevice* device, anemone_info* info) {
    *info = {};
    info->size = sizeof(*info);
    info->uapi = ANEMONE_UAPI_VERSION;
    info->version = 1 << 16;
    info->flags = ANEMONE_INFO_INTERRUPTS | (device->flat ? ANEMONE_INFO_FLAT : 0);
    info->pipelines = FAKE_PIPELINES;
    info->pipelines_free = FAKE_PIPELINES;
    info->channels = FAKE_CHANNELS;
    info->states = FAKE_STATES;
    info->table = FAKE_TABLE;
    info->address_bits = FAKE_ADDRESS_BITS;
    info->features = UINT64_MAX;
    info->host_base = FAKE_HOST_BASE;
    info->host_size = 1ULL << FAKE_ADDRESS_BITS;
    std::strcpy(info->device, "0000:01:00.0");
    for (uint32_t i = 0; i < FAKE_TELEMETRIES; i++)
        if (device->telemetry[i].owner)
            info->pipelines_free -= device->telemetry[i].pipelines;
    return 0;
}

bool good(const anemone_spec* s) {
    static const uint8_t zero[sizeof(s->reserved)] = {};

    for (size_t i = 0; i < sizeof(s->name) && s->name[i]; i++)
        if (s->name[i] < ' ' || s->name[i] > '~')
            return false;
    return s->name[0] && !s->name[sizeof(s->name) - 1] && s->filter.type >= 1 &&
           s->filter.type <= 3 && !std::memcmp(s->pad, zero, 7) &&
           !std::memcmp(s->filter.pad, zero, 6) &&
           !std::memcmp(s->reserved, zero, sizeof(s->reserved)) &&
           !(s->flags & ~ANEMONE_SPEC_HOST) && !s->translation.primary.pad &&
           !s->translation.sub.pad && s->translation.primary.shift < 64 &&
           s->translation.sub.shift < 64 && !std::memcmp(s->update.pad, zero, 6) &&
           !std::memcmp(s->notify.pad, zero, 6) && !std::memcmp(s->read_effect.pad, zero, 6) &&
           s->update.op >= ANEMONE_OP_ADD && s->update.op <= ANEMONE_OP_EWMA8 &&
           s->update.op != ANEMONE_OP_RESET && s->notify.op <= ANEMONE_NOTIFY_LE;
}

/* As in the driver, part of the range must be in the memory, and keys must be whole. */
bool good_for_host(anemone_add* call) {
    const anemone_spec& spec = call->spec;
    uint64_t end = FAKE_HOST_BASE + (1ULL << FAKE_ADDRESS_BITS), start = spec.filter.start;
    const anemone_field& primary = spec.translation.primary;

    if (!(spec.flags & ANEMONE_SPEC_HOST))
        return true;
    if (start >= end || spec.filter.end <= FAKE_HOST_BASE)
        std::snprintf(call->reason, sizeof(call->reason), "%#llx is not in %#llx to %#llx",
                      spec.filter.start, static_cast<unsigned long long>(FAKE_HOST_BASE),
                      end - 1ULL);
    else if (primary.mask >> primary.shift != UINT64_MAX >> primary.shift)
        std::snprintf(call->reason, sizeof(call->reason), "primary.mask %#llx", primary.mask);
    else
        return true;
    return false;
}

int add(FakeDevice* device, uint64_t self, anemone_add* call) {
    uint64_t all = (1ULL << FAKE_ADDRESS_BITS) - 1, counters = 1;
    uint64_t last = (call->spec.translation.sub.mask & all) >> call->spec.translation.sub.shift;
    unsigned int width = call->spec.width ? call->spec.width : 64, place = 0;
    uint64_t one = uint64_t{FAKE_STATES} * 64 / width;
    anemone_info now;

    if (!good(&call->spec))
        return wrong(EINVAL);
    if (!good_for_host(call))
        return wrong(ERANGE);
    while (counters <= last && counters <= one)
        counters *= 2;
    if (counters > one) {
        std::snprintf(call->reason, sizeof(call->reason), "a region is larger than a pipeline");
        return wrong(ENOSPC);
    }
    call->region_counters = static_cast<uint32_t>(counters);
    call->regions =
        call->spec.regions ? call->spec.regions : static_cast<uint32_t>((one / counters));
    call->pipelines = static_cast<uint32_t>(((call->regions * counters + one - 1) / one));
    call->granule = 8 * 64 / width;
    info(device, &now);
    if (call->pipelines > now.pipelines_free) {
        std::snprintf(call->reason, sizeof(call->reason), "%u pipelines wanted, %u free",
                      call->pipelines, now.pipelines_free);
        return wrong(ENOSPC);
    }
    while (place < FAKE_TELEMETRIES && device->telemetry[place].owner)
        place++;
    if (place == FAKE_TELEMETRIES || call->pipelines > 1)
        return wrong(ENOSPC);
    call->id = ++device->last_id;
    FakeTelemetry& t = device->telemetry[place];

    t = {};
    t.owner = self;
    t.id = call->id;
    t.spec = call->spec;
    if (t.spec.flags & ANEMONE_SPEC_HOST) {
        t.spec.filter.start = std::max<uint64_t>(t.spec.filter.start, FAKE_HOST_BASE);
        t.spec.filter.end = std::min<uint64_t>(t.spec.filter.end, FAKE_HOST_BASE + all + 1);
    }
    t.regions = call->regions;
    t.region_counters = call->region_counters;
    t.pipelines = call->pipelines;
    return 0;
}

/* Like the driver: a key is an error if the filter lets none of its addresses pass. */
bool reached(const FakeTelemetry* t, uint64_t key) {
    unsigned int shift = t->spec.translation.primary.shift;

    if (fake_index(t, key) >= FAKE_TABLE)
        return false;
    return t->spec.translation.primary.mask >> shift != UINT64_MAX >> shift ||
           (key <= (t->spec.filter.end - 1) >> shift && key >= t->spec.filter.start >> shift);
}

int map(const FakeDevice* device, FakeTelemetry* t, anemone_map* call) {
    const anemone_entry* entries = reinterpret_cast<const anemone_entry*>(call->entries);

    call->done = 0;
    if (device->moved && t->spec.flags & ANEMONE_SPEC_HOST)
        return wrong(ESTALE);
    for (; call->done < call->count; call->done++) {
        const anemone_entry* e = &entries[call->done];
        bool unmap = e->flags & ANEMONE_ENTRY_UNMAP;

        if (!reached(t, e->key) || (!unmap && e->region >= t->regions))
            return wrong(ERANGE);

        uint32_t& region = t->region_of[fake_index(t, e->key)];

        if (unmap && !region)
            return wrong(ENOENT);
        t->status.mapped -= region != 0;
        region = unmap ? 0 : e->region + 1;
        t->status.mapped += !unmap;
    }
    return 0;
}

int read_counters(FakeTelemetry* t, const anemone_read* call) {
    auto* to = reinterpret_cast<uint64_t*>(call->values);
    uint32_t all = t->regions * t->region_counters;
    unsigned int width = t->spec.width ? t->spec.width : 64;
    bool effect = !(call->flags & ANEMONE_READ_SNAPSHOT);
    uint32_t line = 8 * 64 / width, end = call->first + call->count;

    if (call->pad || end > all || call->flags & ~3u)
        return wrong(EINVAL);
    if (effect && (call->first % line || (end % line && end != all)))
        return wrong(EINVAL);
    for (uint32_t i = call->first; i < end; i++) {
        uint64_t folded = 0;

        for (uint32_t c = 0; c < FAKE_CHANNELS; c++) {
            uint64_t* value = &t->value[c][i];

            if (call->flags & ANEMONE_READ_CHANNELS)
                *to++ = *value;
            folded += *value;
            if (effect && t->spec.read_effect.op == ANEMONE_OP_RESET)
                *value = t->spec.read_effect.operand;
        }
        if (!(call->flags & ANEMONE_READ_CHANNELS))
            *to++ = folded;
    }
    return 0;
}

int rotate(FakeTelemetry* t, anemone_rotate* call) {
    if (call->count && (t->keys || t->status.mapped))
        return wrong(EBUSY);
    if (call->count > FAKE_KEYS || t->region_counters > FAKE_TURN_COUNTERS)
        return wrong(E2BIG);
    if (call->count && (call->period_ms < 1 || call->period_ms > 60000))
        return wrong(EINVAL);
    if (call->count)
        std::memcpy(t->key, reinterpret_cast<const void*>(call->keys),
                    call->count * sizeof(*t->key));
    std::memset(t->turn, 0, sizeof(t->turn));
    t->keys = call->count;
    call->sweep_ns = (call->count + t->regions - 1) / t->regions * 1000000ULL * call->period_ms;
    return 0;
}

int turn(FakeDevice* device, FakeTelemetry* t, anemone_turn* call) {
    if (call->index >= t->keys || call->count > t->region_counters)
        return wrong(EINVAL);
    call->turns = device->turns;
    call->start_ns = 1000000000;
    call->end_ns = 1500000000;
    if (call->turns)
        std::memcpy(reinterpret_cast<void*>(call->values), t->turn[call->index],
                    call->count * sizeof(uint64_t));
    return 0;
}

int of_telemetry(FakeDevice* device, FakeTelemetry* t, unsigned long request, void* argument) {
    anemone_status status;

    switch (request) {
    case ANEMONE_REMOVE:
        *t = {};
        return 0;
    case ANEMONE_MAP:
        return map(device, t, static_cast<anemone_map*>(argument));
    case ANEMONE_READ:
        return read_counters(t, static_cast<anemone_read*>(argument));
    case ANEMONE_STATUS:
        status = t->status;
        status.size = sizeof(status);
        status.id = t->id;
        std::memcpy(argument, &status, sizeof(status));
        return 0;
    case ANEMONE_ROTATE:
        return rotate(t, static_cast<anemone_rotate*>(argument));
    case ANEMONE_TURN:
        return turn(device, t, static_cast<anemone_turn*>(argument));
    default:
        return wrong(ENOTTY);
    }
}

int call(FakeDevice* device, uint64_t self, unsigned long request, uint32_t* head) {
    /*
     * Every structure begins with its size and id; the command number holds the first version's
     * size.
     */
    if (head[0] < _IOC_SIZE(request))
        return wrong(EINVAL);
    if (request == ANEMONE_EVENTS) {
        const auto* events = reinterpret_cast<const anemone_events*>(head);

        if (events->record != sizeof(anemone_record) || events->flags & ~ANEMONE_EVENTS_LOST)
            return wrong(EINVAL);
        device->listens = 1;
        return 0;
    }
    if (request == ANEMONE_INFO)
        return info(device, reinterpret_cast<anemone_info*>(head));
    if (request == ANEMONE_ADD)
        return add(device, self, reinterpret_cast<anemone_add*>(head));
    for (uint32_t i = 0; i < FAKE_TELEMETRIES; i++)
        if (device->telemetry[i].owner == self && device->telemetry[i].id == head[1])
            return of_telemetry(device, &device->telemetry[i], request, head);
    return wrong(ENOENT);
}

} // namespace

int device_ioctl(int fd, unsigned long request, void* argument) {
    FakeDevice* device;
    int result;

    if (!fake_enter(fd, &device))
        return -1;
    result = call(device, static_cast<uint64_t>(lseek(fd, 0, SEEK_CUR)), request,
                  static_cast<uint32_t*>(argument));
    fake_leave(fd, device);
    return result;
}

bool device_listen(int fd) {
    anemone_events call = {sizeof(call), sizeof(anemone_record), ANEMONE_EVENTS_LOST, 0};

    return !device_ioctl(fd, ANEMONE_EVENTS, &call);
}

/* Polls every 20 ms. */
int device_poll(std::span<pollfd> polled, int milliseconds) {
    for (int waited = 0; waited < milliseconds; waited += 20) {
        timespec time = {0, 20000000};

        for (pollfd& one : polled) {
            FakeDevice* device;

            if (!fake_enter(one.fd, &device))
                return -1;
            one.revents = device->waiting ? POLLIN : 0;
            fake_leave(one.fd, device);
            if (one.revents)
                return 1;
        }
        if (nanosleep(&time, nullptr))
            return -1;
    }
    return 0;
}

ssize_t device_read(int fd, std::span<anemone_record> records) {
    FakeDevice* device;
    size_t count = 0;

    if (!fake_enter(fd, &device))
        return -1;
    if (device->listens)
        count = std::min<size_t>(device->waiting, records.size());
    std::copy_n(device->event, count, records.begin());
    std::copy(device->event + count, device->event + device->waiting, device->event);
    device->waiting -= static_cast<uint32_t>(count);
    fake_leave(fd, device);
    return count ? static_cast<ssize_t>(count) : wrong(EAGAIN);
}
