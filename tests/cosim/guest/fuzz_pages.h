/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the worker's pages, which are then moved or freed; and processes without capabilities.
 */
#ifndef FUZZ_PAGES_H
#define FUZZ_PAGES_H

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fuzz_calls.h"
#include "pagemap.h"

#define ARENA_BYTES (4UL << 20)
#define HUGE (1UL << HUGE_SHIFT)
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

/* --- User pages --- */

/* Maps memory of two huge pages, if there are any. */
static inline char* new_arena(struct worker* w) {
    char* start =
        mmap(NULL, ARENA_BYTES + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* aligned = (char*)(((uintptr_t)start + HUGE - 1) & -HUGE);

    CHECK(start != MAP_FAILED);
    munmap(start, aligned - start);
    munmap(aligned + ARENA_BYTES, start + HUGE - aligned);
    if (!one_in(w, 6))
        madvise(aligned, ARENA_BYTES, MADV_HUGEPAGE);
    if (!one_in(w, 8))
        memset(aligned, 1, ARENA_BYTES);
    return aligned;
}

/* Writes a child's or this process's copy of the pages. */
static inline void write_in_child(struct worker* w) {
    pid_t child = fork();
    int status;

    if (!child) {
        memset(w->arena, 2, ARENA_BYTES);
        _exit(0);
    }
    if (child < 0)
        return;
    if (one_in(w, 2))
        memset(w->arena, 3, ARENA_BYTES);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
}

/* Replaces memory in one call, so that no mapping of another thread takes its place. */
static inline bool instead(char* start, size_t size, int protection) {
    return mmap(start, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == start;
}

/* Several mappings cannot be moved at once. */
static inline bool move(struct worker* w) {
    char* to = mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(to != MAP_FAILED);
    if (mremap(w->arena, ARENA_BYTES, ARENA_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to) {
        CHECK(errno == EFAULT);
        return false;
    }
    w->arena = to;
    return true;
}

/*
 * Moves or frees pages; returns whether all of them are others now. *whole: whether all of the
 * arena can still be written.
 */
static inline bool disturb(struct worker* w, bool* whole) {
    size_t at = below(w, ARENA_BYTES >> 12) << 12, size = 4096UL << below(w, 9);
    unsigned int kind = below(w, 9);

    if (at + size > ARENA_BYTES)
        size = ARENA_BYTES - at;
    *whole = kind > 2;
    switch (kind) {
    case 0:
        return instead(w->arena, ARENA_BYTES, PROT_NONE);
    case 1: /* only some of it, which splits a huge page */
        instead(w->arena + at, size, PROT_NONE);
        return false;
    case 2:
        mprotect(w->arena + at, size, one_in(w, 2) ? PROT_NONE : PROT_READ);
        return false;
    case 3:
        return instead(w->arena, ARENA_BYTES, PROT_READ | PROT_WRITE);
    case 4:
        return !madvise(w->arena, ARENA_BYTES, MADV_DONTNEED);
    case 5:
        madvise(w->arena + at, size, MADV_DONTNEED);
        return false;
    case 6:
        madvise(w->arena + at, size, one_in(w, 2) ? MADV_FREE : MADV_NOHUGEPAGE);
        return false;
    case 7:
        return move(w);
    default:
        write_in_child(w);
        return false;
    }
}

/* Reaches of keys, and how often pages of each were exclusive and counted. */
#define KEY_SHIFTS 4
static const uint8_t key_shifts[KEY_SHIFTS] = {12, 16, 20, 21};
static atomic_long exclusive_counted[KEY_SHIFTS];

static inline void count_exclusive(unsigned int shift) {
    for (unsigned int i = 0; i < KEY_SHIFTS; i++)
        if (key_shifts[i] == shift)
            atomic_fetch_add(&exclusive_counted[i], 1);
}

static inline struct telemetry* host_telemetry(struct worker* w, int fd,
                                               struct private_file* file) {
    struct anemone_add add = {.size = sizeof(add), .spec = valid_spec(w, true)};
    uint8_t shift = key_shifts[below(w, KEY_SHIFTS)];
    bool tagged = one_in(w, 2);
    uint64_t value = 0, window = (uint64_t)device.table << shift;

    /* The table covers the memory around one of the arena's pages. */
    add.spec.filter.start = physical(w->arena + below(w, ARENA_BYTES)) / window * window;
    add.spec.filter.end = add.spec.filter.start + window;
    if (add.spec.filter.start < device.host_base)
        add.spec.filter.start = device.host_base;
    add.spec.regions = 1 + below(w, 64);
    add.spec.translation.primary.shift = shift;
    add.spec.translation.primary.mask = ANEMONE_ALL_MEM << shift;
    add.spec.translation.sub.mask = 0;
    if (tagged)
        value = tag(w, &add.spec);
    if (file->count == TELEMETRIES || call(w, fd, ANEMONE_ADD, &add))
        return NULL;
    remember(w, file, &add, tagged, value);
    return &file->telemetry[file->count - 1];
}

/* Maps pages of the arena; an error is that of the first page that cannot be mapped. */
static inline void map_pages(struct worker* w, int fd, const struct telemetry* telemetry,
                             uint32_t flags) {
    unsigned int shift = telemetry->spec.translation.primary.shift, i;
    /* A key with a larger reach than the arena has one address, which is refused. */
    uint32_t places = shift <= HUGE_SHIFT ? ARENA_BYTES >> shift : 1;
    struct anemone_entry entries[ENTRIES];
    struct anemone_map map = {.size = sizeof(map),
                              .id = telemetry->id,
                              .entries = (uintptr_t)entries,
                              .count = 1 + below(w, ENTRIES)};

    for (i = 0; i < map.count; i++)
        entries[i] = (struct anemone_entry){
            .key = (uintptr_t)w->arena + ((uint64_t)below(w, places) << shift),
            .region = below(w, telemetry->regions),
            .flags = ANEMONE_ENTRY_VIRTUAL | flags,
        };
    if (one_in(w, 8)) {
        i = below(w, map.count);
        entries[i].key = one_in(w, 2) ? edge_value(w) : entries[i].key + below(w, 1 << 12);
    }
    call(w, fd, ANEMONE_MAP, &map);
    EXPECT(w, map.done <= map.count);
}

static inline void op_pages(struct worker* w, int fd, struct private_file* file) {
    struct telemetry* telemetry = choose(w, file);
    struct anemone_status status = {.size = sizeof(status)};
    bool fresh = !telemetry || telemetry->turns || !(telemetry->spec.flags & ANEMONE_SPEC_HOST) ||
                 telemetry->spec.translation.primary.shift == HUGE_SHIFT;
    unsigned int times = 1 + below(w, 4);
    bool whole;

    if (!file)
        return;
    if (!w->arena)
        w->arena = new_arena(w);
    if (fresh)
        telemetry = host_telemetry(w, fd, file);
    if (!telemetry)
        return;
    status.id = telemetry->id;
    while (times--)
        map_pages(w, fd, telemetry, one_in(w, 4) ? ANEMONE_ENTRY_UNMAP : 0);
    if (!call(w, fd, ANEMONE_STATUS, &status) && status.mapped)
        count_exclusive(telemetry->spec.translation.primary.shift);
    note(w, "disturb %p", w->arena);
    if (disturb(w, &whole)) {
        EXPECT(w, !call(w, fd, ANEMONE_STATUS, &status) || w->failed);
        /* A telemetry that was reused may have entries of other pages. */
        EXPECT(w, !fresh || !status.mapped || w->failed);
    }
    map_pages(w, fd, telemetry, one_in(w, 2) ? ANEMONE_ENTRY_UNMAP : 0);
    if (!whole || one_in(w, 2)) {
        munmap(w->arena, ARENA_BYTES);
        w->arena = NULL;
    }
}

/* --- Capabilities --- */

/* Drops all but these of root's capabilities. */
static inline void keep(uint64_t capabilities) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {
        {.effective = capabilities, .permitted = capabilities},
        {.effective = capabilities >> 32, .permitted = capabilities >> 32},
    };

    if (syscall(SYS_capset, &header, data))
        _exit(2);
}

#define CHILD(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(2, "unprivileged: %s (line %d, errno: %d)\n", #condition, __LINE__, errno);    \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define REFUSED(call) ((call) == -1 && errno == EPERM)

/* Maps pages that may be missing, at an address that may no longer have a huge page. */
static inline bool map_arena_pages(const struct worker* w, int fd, struct anemone_map* map) {
    if (!ioctl(fd, ANEMONE_MAP, map))
        return true;
    if (errno == EINVAL)
        return (uintptr_t)w->arena % HUGE;
    return errno == EACCES || errno == EFAULT || errno == ERANGE || errno == EINTR;
}

/* With CAP_PERFMON alone it can add telemetries, but use neither keys nor physical addresses. */
static inline void only_perfmon(struct worker* w, int fd) {
    struct anemone_add add = {.size = sizeof(add), .spec = valid_spec(w, true)};
    struct anemone_entry entry = {.key = below(w, HOT_KEYS)};
    uint64_t key = 1;
    struct anemone_map map = {.size = sizeof(map), .entries = (uintptr_t)&entry, .count = 1};
    struct anemone_rotate rotate = {
        .size = sizeof(rotate), .keys = (uintptr_t)&key, .count = 1, .period_ms = 10};

    if (ioctl(fd, ANEMONE_ADD, &add)) {
        CHILD(errno == ENOSPC || errno == EDQUOT || errno == EOPNOTSUPP || errno == ERANGE);
        return;
    }
    map.id = rotate.id = add.id;
    CHILD(REFUSED(ioctl(fd, ANEMONE_MAP, &map)) && !map.done);
    entry.flags = ANEMONE_ENTRY_UNMAP;
    CHILD(REFUSED(ioctl(fd, ANEMONE_MAP, &map)));
    CHILD(REFUSED(ioctl(fd, ANEMONE_ROTATE, &rotate)));
    if (!w->arena)
        return;
    entry = (struct anemone_entry){.key = (uintptr_t)w->arena, .flags = ANEMONE_ENTRY_VIRTUAL};
    CHILD(map_arena_pages(w, fd, &map));
    w->arena[0]++; /* copies the page, which is shared with the parent */
    CHILD(map_arena_pages(w, fd, &map));
}

static inline void op_child(struct worker* w, int fd, struct private_file* file) {
    bool perfmon = one_in(w, 2);
    pid_t child = fork();
    int status, fresh;

    atomic_fetch_sub(&left, 1);
    if (!child) {
        struct anemone_add add = {.size = sizeof(add), .spec = valid_spec(w, false)};
        struct anemone_info info = {.size = sizeof(info)};

        fresh = open(NODE, O_RDWR);
        CHILD(fresh >= 0);
        keep(perfmon ? 1ULL << CAP_PERFMON : 0);
        CHILD(!ioctl(fresh, ANEMONE_INFO, &info));
        if (perfmon)
            only_perfmon(w, fresh);
        else /* also on a file that a process with all capabilities opened */
            CHILD(REFUSED(ioctl(one_in(w, 2) ? fd : fresh, ANEMONE_ADD, &add)));
        _exit(0);
    }
    if (child < 0)
        return;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    note(w, "child with %s: %#x", perfmon ? "CAP_PERFMON" : "no rights", status);
    EXPECT(w, !status);
    (void)file;
}

#endif
