/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of fuzz.c. On a worker's private file the results are checked against the telemetries
 * that it remembers; on a file that all workers share (file = NULL) they are not.
 */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "fuzz_rules.h"

#define READ_MAX 512 /* usual maximum of counters to read, because a line takes long */
#define ENTRIES 64

/* --- Telemetries of a file --- */

static inline struct telemetry* choose(struct worker* w, struct private_file* file) {
    return file && file->count ? &file->telemetry[below(w, file->count)] : NULL;
}

static inline struct telemetry* find(struct private_file* file, uint32_t id) {
    unsigned int i;

    for (i = 0; i < file->count; i++)
        if (file->telemetry[i].id == id)
            return &file->telemetry[i];
    return NULL;
}

/* The id of `telemetry`; seldom, or if there is none, any number. */
static inline uint32_t id_of(struct worker* w, const struct telemetry* telemetry) {
    if (telemetry && !one_in(w, 20))
        return telemetry->id;
    return one_in(w, 8) ? (uint32_t)edge_value(w) : 1 + below(w, 3);
}

/* The telemetry that a call was made for. An id of another file does not exist. */
static inline struct telemetry* telemetry_of(struct worker* w, struct private_file* file,
                                             uint32_t id, int error) {
    struct telemetry* telemetry = file ? find(file, id) : NULL;

    if (file && !telemetry)
        EXPECT(w, error == ENOENT);
    return telemetry;
}

static inline void forget(struct private_file* file, struct telemetry* telemetry) {
    *telemetry = file->telemetry[--file->count];
}

static inline void op_info(struct worker* w, int fd, struct private_file* file) {
    struct anemone_info info = {.size = sizeof(info)};

    if (one_in(w, 8)) {
        misshapen(w, fd, ANEMONE_INFO, &info, sizeof(info));
        return;
    }
    EXPECT(w, !call(w, fd, ANEMONE_INFO, &info) || w->failed);
    EXPECT(w, !(info.flags & ANEMONE_INFO_FAILED) && info.pipelines_free <= info.pipelines);
    (void)file;
}

static inline void remember(struct worker* w, struct private_file* file,
                            const struct anemone_add* add, bool tagged, uint64_t value) {
    EXPECT(w, add->id && !find(file, add->id));
    EXPECT(w, add->regions && add->region_counters && add->granule && add->pipelines);
    EXPECT(w, !add->spec.regions || add->regions == add->spec.regions);
    file->telemetry[file->count++] = (struct telemetry){
        .id = add->id,
        .regions = add->regions,
        .counters = add->region_counters,
        .granule = add->granule,
        .spec = add->spec,
        .tagged = tagged,
        .tag = value,
    };
}

static inline void op_add(struct worker* w, int fd, struct private_file* file) {
    struct anemone_add add = {.size = sizeof(add)};
    bool tagged = one_in(w, 2), valid = !one_in(w, 4);
    uint64_t value = 0;
    int error;

    add.spec = valid_spec(w, one_in(w, 4));
    if (tagged)
        value = tag(w, &add.spec);
    if (!valid)
        make_invalid(w, &add.spec);
    if (one_in(w, 6)) {
        misshapen(w, fd, ANEMONE_ADD, &add, sizeof(add));
        return;
    }
    if (file && file->count == TELEMETRIES)
        return;
    error = call(w, fd, ANEMONE_ADD, &add);
    if (error && !w->failed)
        EXPECT(w, memchr(add.reason, '\0', sizeof(add.reason)) && add.reason[0]);
    if (!error && file)
        remember(w, file, &add, tagged && valid, value);
}

static inline void op_remove(struct worker* w, int fd, struct private_file* file) {
    struct telemetry* telemetry = choose(w, file);
    struct anemone_id id = {.size = sizeof(id), .id = id_of(w, telemetry)};
    int error = call(w, fd, ANEMONE_REMOVE, &id);

    telemetry = telemetry_of(w, file, id.id, error);
    if (telemetry) {
        EXPECT(w, !error || w->failed);
        if (!error)
            forget(file, telemetry);
    }
}

/* Whether a key in the table is in this memory, if the filter lets all of it pass. */
static inline bool in_memory(const struct anemone_spec* spec, uint64_t key) {
    const struct anemone_field* field = &spec->translation.primary;
    bool host = spec->flags & ANEMONE_SPEC_HOST;
    uint64_t first = host ? device.host_base : 0, bytes = host ? device.host_size : MEMORY_BYTES;

    return field->mask >> field->shift != ~0ULL >> field->shift ||
           (key >= first >> field->shift && key <= (first + bytes - 1) >> field->shift);
}

static inline void op_map(struct worker* w, int fd, struct private_file* file) {
    struct telemetry* telemetry = choose(w, file);
    struct anemone_entry entries[ENTRIES] = {0};
    struct anemone_map map = {.size = sizeof(map), .id = id_of(w, telemetry)};
    uint32_t regions = telemetry ? telemetry->regions : 64, i, good;
    bool valid = !one_in(w, 4);
    int error;

    map.count = 1 + below(w, ENTRIES);
    for (i = 0; i < map.count; i++)
        entries[i] = (struct anemone_entry){.key = below(w, one_in(w, 4) ? device.table : HOT_KEYS),
                                            .region = below(w, regions)};
    if (!valid) {
        i = below(w, map.count);
        entries[i].key = one_in(w, 2) ? edge_value(w) : entries[i].key;
        entries[i].region = one_in(w, 2) ? edge_value(w) : entries[i].region;
        entries[i].flags = one_in(w, 8) ? edge_value(w) : below(w, 4);
    }
    map.entries = pointer(w, entries);
    if (map.entries != (uintptr_t)entries || one_in(w, 16)) {
        misshapen(w, fd, ANEMONE_MAP, &map, sizeof(map));
        return;
    }
    error = call(w, fd, ANEMONE_MAP, &map);
    telemetry = telemetry_of(w, file, map.id, error);
    /* It may be another telemetry than was chosen, with fewer regions. */
    valid = valid && telemetry && regions <= telemetry->regions;
    if (telemetry && telemetry->turns)
        EXPECT(w, error == EBUSY);
    else if (valid && !telemetry->spec.filter.start && !telemetry->spec.filter.end) {
        for (good = 0; good < map.count && in_memory(&telemetry->spec, entries[good].key);)
            good++;
        EXPECT(w, error == EINTR || w->failed || error == (good < map.count ? ERANGE : 0));
        EXPECT(w, error != ERANGE || map.done == good);
    }
    EXPECT(w, error || map.done == map.count);
}

/* --- Counters --- */

static inline void check_values(struct worker* w, const struct telemetry* telemetry,
                                const uint64_t* values, size_t count) {
    size_t i;

    for (i = 0; telemetry->tagged && i < count; i++)
        EXPECT(w, !values[i] || values[i] == telemetry->tag);
}

static inline uint32_t total(const struct telemetry* telemetry) {
    return telemetry->regions * telemetry->counters;
}

/* Chooses a start and an end so that whole lines are read. */
static inline void choose_range(struct worker* w, const struct telemetry* telemetry,
                                struct anemone_read* read) {
    uint32_t all = total(telemetry);

    read->first = below(w, all);
    read->first -= read->first % telemetry->granule;
    read->count = below(w, all - read->first + 1);
    if (read->count > READ_MAX)
        read->count = READ_MAX;
    if (read->first + read->count != all)
        read->count -= read->count % telemetry->granule;
}

static inline void op_read(struct worker* w, int fd, struct private_file* file) {
    struct telemetry* telemetry = choose(w, file);
    struct anemone_read read = {.size = sizeof(read), .id = id_of(w, telemetry)};
    bool valid = telemetry && !one_in(w, 3);
    int error;

    read.flags = below(w, 4);
    read.values = pointer(w, w->values);
    if (telemetry)
        choose_range(w, telemetry, &read);
    else
        read.count = below(w, READ_MAX);
    if (!valid) {
        if (one_in(w, 2))
            read.first = edge_value(w);
        else if (one_in(w, 4))
            read.flags = edge_value(w);
        else if (one_in(w, 8))
            read.pad = 1;
        else /* past the end, or partial lines */
            read.count = one_in(w, 2) ? ~0U - below(w, 8) : below(w, READ_MAX);
    }
    if (read.values != (uintptr_t)w->values || one_in(w, 16)) {
        misshapen(w, fd, ANEMONE_READ, &read, sizeof(read));
        return;
    }
    error = call(w, fd, ANEMONE_READ, &read);
    telemetry = telemetry_of(w, file, read.id, error);
    if (!telemetry)
        return;
    if (valid && telemetry->turns && !(read.flags & ANEMONE_READ_SNAPSHOT))
        EXPECT(w, error == EBUSY);
    else if (valid && read.first + read.count <= total(telemetry))
        EXPECT(w, !error || error == EINVAL || w->failed);
    if (!error)
        check_values(w, telemetry, w->values,
                     (size_t)read.count *
                         (read.flags & ANEMONE_READ_CHANNELS ? device.channels : 1));
}

static inline void op_status(struct worker* w, int fd, struct private_file* file) {
    struct telemetry* telemetry = choose(w, file);
    struct anemone_status status = {.size = sizeof(status), .id = id_of(w, telemetry)};
    int error;

    if (one_in(w, 12)) {
        misshapen(w, fd, ANEMONE_STATUS, &status, sizeof(status));
        return;
    }
    error = call(w, fd, ANEMONE_STATUS, &status);
    telemetry = telemetry_of(w, file, status.id, error);
    if (!telemetry || error)
        return;
    EXPECT(w, status.mapped <= device.table && status.out_of_range <= status.matched);
    EXPECT(w, telemetry->spec.notify.op || !status.events);
}

/* --- Events --- */

static inline void op_eventfd(struct worker* w, int fd, struct private_file* file) {
    struct telemetry* telemetry = choose(w, file);
    struct anemone_eventfd eventfd_ = {.size = sizeof(eventfd_), .id = id_of(w, telemetry)};
    int count = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), error;

    CHECK(count >= 0);
    eventfd_.fd = one_in(w, 8) ? (int)edge_value(w) : one_in(w, 6) ? -1 : one_in(w, 8) ? fd : count;
    if (one_in(w, 8))
        misshapen(w, fd, ANEMONE_EVENTFD, &eventfd_, sizeof(eventfd_));
    error = call(w, fd, ANEMONE_EVENTFD, &eventfd_);
    if (telemetry_of(w, file, eventfd_.id, error) && (eventfd_.fd == count || eventfd_.fd == -1))
        EXPECT(w, !error || w->failed);
    close(count); /* before anything is signalled */
}

static inline void check_event(struct worker* w, const struct anemone_event* event,
                               struct private_file* file) {
    struct telemetry* telemetry = file ? find(file, event->id) : NULL;

    EXPECT(w, event->time_ns && event->channel < device.channels);
    if (event->type == ANEMONE_EVENT_MORE_LOST)
        return;
    EXPECT(w, event->id && event->type <= ANEMONE_EVENT_LOST);
    EXPECT(w, !file || (telemetry && (telemetry->spec.notify.op || event->type) &&
                        event->counter < total(telemetry)));
}

static inline void op_events(struct worker* w, int fd, struct private_file* file) {
    struct anemone_record events[8];
    struct pollfd one = {.fd = fd, .events = POLLIN | POLLOUT | POLLPRI};
    size_t size = one_in(w, 8) ? below(w, sizeof(events)) : sizeof(events);
    size_t record = file ? file->record : sizeof(struct anemone_event);
    ssize_t got, i;
    void* into;

    CHECK(poll(&one, 1, below(w, 2)) >= 0 || errno == EINTR);
    EXPECT(w, !(one.revents & ~POLLIN));
    atomic_fetch_sub(&left, 1);
    into = (void*)pointer(w, events);
    got = read(fd, into, size);
    note(w, "fd %d read of %zu: %zd", fd, size, got);
    if (size < record) {
        /* The kernel refuses an address outside of user space before the driver is called. */
        EXPECT(w, got == -1 && (errno == EINVAL || (into != events && errno == EFAULT)));
        return;
    }
    EXPECT(w, got > 0 || errno == EAGAIN || errno == EFAULT || errno == EINTR);
    EXPECT(w, got <= 0 || got % record == 0);
    for (i = 0; i < got / (ssize_t)record; i++)
        check_event(w, (void*)((char*)events + i * record), file);
}

static inline void op_records(struct worker* w, int fd, struct private_file* file) {
    struct anemone_events events = {.size = sizeof(events),
                                    .record = 24 + 8 * below(w, (RECORD_MAX - 24) / 8 + 1),
                                    .flags = below(w, 2)};

    if (!file) /* its workers would not know of the change */
        return;
    if (one_in(w, 4)) /* the number may be valid, so another call follows */
        misshapen(w, fd, ANEMONE_EVENTS, &events, sizeof(events));
    EXPECT(w, !call(w, fd, ANEMONE_EVENTS, &events));
    EXPECT(w, events.known == sizeof(struct anemone_record));
    file->record = events.record;
}

/* --- Rotation --- */

static inline void op_rotate(struct worker* w, int fd, struct private_file* file) {
    static __thread uint64_t keys[512];
    struct telemetry* telemetry = choose(w, file);
    struct anemone_rotate rotate = {.size = sizeof(rotate), .id = id_of(w, telemetry)};
    uint32_t i;
    int error;

    for (i = 0; i < 512; i++)
        keys[i] = i;
    if (one_in(w, 8))
        keys[below(w, 512)] = below(w, 512); /* usually names a key twice */
    rotate.count = one_in(w, 3) ? 0 : one_in(w, 16) ? edge_value(w) : 1 + below(w, 512);
    rotate.period_ms = one_in(w, 16) ? edge_value(w) : 20 + below(w, 200);
    rotate.keys = pointer(w, keys);
    if (one_in(w, 16))
        keys[below(w, 512)] = edge_value(w);
    /* At most the array's size, or with no memory after its end. */
    if (rotate.count > 512)
        rotate.keys = 0x7fffffffe000;
    error = call(w, fd, ANEMONE_ROTATE, &rotate);
    telemetry = telemetry_of(w, file, rotate.id, error);
    if (!telemetry)
        return;
    EXPECT(w, rotate.count || error == (telemetry->turns ? 0 : ENOENT));
    EXPECT(w, !telemetry->turns || !rotate.count || error);
    if (!error)
        telemetry->turns = rotate.count;
}

static inline void op_turn(struct worker* w, int fd, struct private_file* file) {
    struct telemetry* telemetry = choose(w, file);
    struct anemone_turn turn = {.size = sizeof(turn), .id = id_of(w, telemetry)};
    uint32_t counters = telemetry ? telemetry->counters : 1;
    int error;

    turn.index = one_in(w, 8) ? edge_value(w)
                              : below(w, telemetry && telemetry->turns ? telemetry->turns : 8);
    turn.count = one_in(w, 8) ? counters + 1 + below(w, 8) : below(w, counters + 1);
    turn.values = (uintptr_t)w->values;
    if (one_in(w, 16)) {
        misshapen(w, fd, ANEMONE_TURN, &turn, sizeof(turn));
        return;
    }
    error = call(w, fd, ANEMONE_TURN, &turn);
    telemetry = telemetry_of(w, file, turn.id, error);
    if (!telemetry || w->failed)
        return;
    if (turn.count > telemetry->counters || (telemetry->turns && turn.index >= telemetry->turns))
        EXPECT(w,
               error == (turn.count <= telemetry->counters && !telemetry->turns ? ENOENT : ERANGE));
    else
        EXPECT(w, error == (telemetry->turns ? 0 : ENOENT));
    if (!error) {
        EXPECT(w, turn.end_ns >= turn.start_ns && (turn.turns || !turn.end_ns));
        check_values(w, telemetry, w->values, turn.count);
    }
}

/* --- Snapshots in shared memory --- */

static inline void check_snapshot(struct worker* w, int fd, const struct telemetry* telemetry) {
    size_t size = sizeof(struct anemone_snapshot) + 8ULL * total(telemetry);
    struct anemone_id id = {.size = sizeof(id), .id = telemetry->id};
    const struct anemone_snapshot* seen;
    int error;

    seen = mmap(NULL, size, PROT_READ, one_in(w, 2) ? MAP_SHARED : MAP_PRIVATE, fd,
                ANEMONE_SNAPSHOT_OFFSET(telemetry->id));
    EXPECT(w, seen != MAP_FAILED);
    EXPECT(w, mprotect((void*)seen, size, PROT_READ | PROT_WRITE) && errno == EACCES);
    error = call(w, fd, ANEMONE_SNAPSHOT, &id);
    EXPECT(w, !error || w->failed);
    EXPECT(w, !(seen->sequence & 1) && (error || seen->count == total(telemetry)));
    check_values(w, telemetry, (const uint64_t*)seen->values, seen->count);
    if (one_in(w, 8)) { /* it ends with its telemetry or file, but a mapping stays */
        EXPECT(w, !call(w, fd, ANEMONE_REMOVE, &id) || w->failed);
        EXPECT(w, !(seen->sequence & 1));
    }
    if (!one_in(w, 16))
        munmap((void*)seen, size);
}

static inline void op_snapshot(struct worker* w, int fd, struct private_file* file) {
    struct telemetry* telemetry = choose(w, file);
    struct anemone_id id = {.size = sizeof(id), .id = id_of(w, telemetry)};
    uint64_t offset = ANEMONE_SNAPSHOT_OFFSET(id.id) | (one_in(w, 4) ? below(w, 1 << 20) << 12 : 0);
    int protection = one_in(w, 3) ? PROT_READ | PROT_WRITE : PROT_READ, error;
    size_t size = one_in(w, 8) ? 1ULL << below(w, 34) : 4096;
    void* seen;

    if (telemetry && total(telemetry) <= 8 * READ_MAX && one_in(w, 2)) {
        struct telemetry one = *telemetry;

        check_snapshot(w, fd, &one);
        /* It may have been removed: ask. */
        if (call(w, fd, ANEMONE_STATUS,
                 &(struct anemone_status){.size = sizeof(struct anemone_status), .id = one.id}) ==
            ENOENT)
            forget(file, telemetry);
        return;
    }
    atomic_fetch_sub(&left, 1);
    seen = mmap(NULL, size, protection, one_in(w, 2) ? MAP_SHARED : MAP_PRIVATE, fd, offset);
    note(w, "fd %d mmap of %zu at %#llx", fd, size, (unsigned long long)offset);
    if (seen != MAP_FAILED) {
        EXPECT(w, protection == PROT_READ && (!file || find(file, id.id)));
        munmap(seen, size);
    } else {
        EXPECT(w, errno == EPERM || errno == ENXIO || errno == EINVAL || errno == ENOMEM ||
                      errno == EOVERFLOW);
        EXPECT(w,
               protection == PROT_READ || errno == EPERM || errno == ENOMEM || errno == EOVERFLOW);
    }
    error = call(w, fd, ANEMONE_SNAPSHOT, &id);
    telemetry_of(w, file, id.id, error);
}

/* --- Numbers that are no calls --- */

static inline void op_number(struct worker* w, int fd, struct private_file* file) {
    uint64_t argument[64] = {8};
    unsigned long request =
        one_in(w, 2) ? any(w) : _IOWR(ANEMONE_IOC, REQUESTS + below(w, 246), int);

    if (_IOC_TYPE(request) == ANEMONE_IOC && _IOC_NR(request) < REQUESTS)
        return;
    atomic_fetch_sub(&left, 1);
    /* Some numbers are valid for every file, such as FIOCLEX. */
    if (_IOC_TYPE(request) == ANEMONE_IOC)
        EXPECT(w, ioctl(fd, request, argument) && errno == ENOTTY);
    (void)file;
}

#endif
