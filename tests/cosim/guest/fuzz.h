/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the headers of fuzz.c: workers, the telemetries that they remember, and one call. */
#ifndef FUZZ_H
#define FUZZ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "host.h"
#include "uapi/linux/anemone.h"

#define NODE "/dev/anemone0"
#define PRIVATE_FILES 2 /* files that only one worker uses, so that it knows their contents */
#define SHARED_FILES 3  /* files of all workers; the first one is read with waiting */
#define TELEMETRIES 4   /* remembered per file; more seldom fit the pipelines */
#define MEMORY_BYTES (1ULL << 34)
#define HOT_KEYS 64 /* keys that the host accesses */
#define TRACE 24
#define RECORD_MAX 64 /* maximum bytes of a requested event record */
#define REQUESTS 11
#define VALUES_BYTES (16 << 20) /* an 8-bit counter of every pipeline and channel */

struct telemetry {
    uint32_t id, regions, counters, granule; /* counters: per region */
    struct anemone_spec spec;
    bool tagged; /* its counters are 0 or `tag` */
    uint64_t tag;
    uint32_t turns; /* number of keys in its rotation; 0: none */
};

struct private_file {
    int fd;
    unsigned int record; /* bytes of an event record */
    unsigned int count;
    struct telemetry telemetry[TELEMETRIES];
};

struct worker {
    unsigned int number;
    uint64_t state; /* state of the random numbers */
    pthread_t thread;
    struct private_file files[PRIVATE_FILES];
    uint64_t* values; /* room for all counters of the device */
    char* arena;      /* pages for entries; NULL: none */
    int fail;         /* /proc/thread-self/fail-nth, or -1 */
    bool failed;      /* an allocation failed in the last call */
    char trace[TRACE][96];
    unsigned int traced;
};

static int shared[SHARED_FILES];
static struct anemone_info device;
static atomic_long left, done[REQUESTS], refused[REQUESTS]; /* calls left, and results by request */

/* --- Random numbers (splitmix64): a worker's calls follow from its seed --- */

static inline uint64_t any(struct worker* w) {
    uint64_t z = w->state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline uint32_t below(struct worker* w, uint32_t limit) {
    return any(w) % limit;
}

static inline bool one_in(struct worker* w, uint32_t n) {
    return !below(w, n);
}

/* Numbers that are seldom valid. */
static inline uint64_t edge_value(struct worker* w) {
    const uint64_t edges[] = {
        0,          1,          ~0ULL,        1ULL << 31,       (1ULL << 32) - 1,
        1ULL << 32, 1ULL << 63, device.table, device.table - 1, 4096};

    return one_in(w, 3) ? any(w) : edges[below(w, sizeof(edges) / sizeof(*edges))];
}

/* --- Failures --- */

__attribute__((format(printf, 2, 3))) static inline void note(struct worker* w, const char* format,
                                                              ...) {
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(w->trace[w->traced++ % TRACE], sizeof(w->trace[0]), format, arguments);
    va_end(arguments);
}

static inline void show_trace(const struct worker* w) {
    unsigned int i;

    fprintf(stderr, "worker %u, its last calls:\n", w->number);
    for (i = w->traced < TRACE ? 0 : w->traced - TRACE; i < w->traced; i++)
        fprintf(stderr, "  %s\n", w->trace[i % TRACE]);
}

#define EXPECT(w, condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            show_trace(w);                                                                         \
            fail("%s:%d: %s", __FILE__, __LINE__, #condition);                                     \
        }                                                                                          \
    } while (0)

/* --- One call --- */

/*
 * Errors that a call may return (include/uapi/linux/anemone.h), besides EFAULT, EINVAL and E2BIG.
 */
static const int allowed[REQUESTS][8] = {
    [_IOC_NR(ANEMONE_INFO)] = {0},
    [_IOC_NR(ANEMONE_ADD)] = {EPERM, EOPNOTSUPP, ERANGE, ENOSPC, EDQUOT},
    [_IOC_NR(ANEMONE_REMOVE)] = {ENOENT},
    [_IOC_NR(ANEMONE_MAP)] = {ENOENT, EBUSY, ERANGE, EPERM, EACCES, EINTR},
    [_IOC_NR(ANEMONE_READ)] = {ENOENT, EBUSY, ERANGE},
    [_IOC_NR(ANEMONE_STATUS)] = {ENOENT},
    [_IOC_NR(ANEMONE_EVENTFD)] = {ENOENT, EBADF},
    [_IOC_NR(ANEMONE_ROTATE)] = {ENOENT, EPERM, EBUSY, ERANGE},
    [_IOC_NR(ANEMONE_TURN)] = {ENOENT, ERANGE},
    [_IOC_NR(ANEMONE_SNAPSHOT)] = {ENOENT, ENXIO},
    [_IOC_NR(ANEMONE_EVENTS)] = {0},
};

static inline bool may_be(const struct worker* w, unsigned int number, int error) {
    unsigned int i;

    if (error == EFAULT || error == EINVAL || error == E2BIG || (w->failed && error == ENOMEM))
        return true;
    for (i = 0; i < 8 && allowed[number][i]; i++)
        if (allowed[number][i] == error)
            return true;
    return false;
}

/* Makes the n-th allocation from now on fail, if the kernel can. */
static inline void arm(struct worker* w) {
    char text[12];

    w->failed = false;
    if (w->fail >= 0 && one_in(w, 6) &&
        pwrite(w->fail, text, snprintf(text, sizeof(text), "%u", 1 + below(w, 12)), 0) < 0)
        fail("fail-nth: %s", strerror(errno));
}

static inline void disarm(struct worker* w) {
    char text[12] = "";

    if (w->fail < 0)
        return;
    w->failed = pread(w->fail, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
    if (pwrite(w->fail, "0", 1, 0) < 0)
        fail("fail-nth: %s", strerror(errno));
}

/* Makes an ioctl; returns 0 or its error, which must be an allowed one. */
static inline int call(struct worker* w, int fd, unsigned long request, void* argument) {
    unsigned int number = _IOC_NR(request);
    int error;

    arm(w);
    error = ioctl(fd, request, argument) ? errno : 0;
    disarm(w);
    atomic_fetch_sub(&left, 1);
    atomic_fetch_add(error ? &refused[number] : &done[number], 1);
    note(w, "fd %d request %u id %u: %s%s", fd, number, ((uint32_t*)argument)[1],
         error ? strerror(error) : "done", w->failed ? ", an allocation failed" : "");
    if (error && !may_be(w, number, error)) {
        show_trace(w);
        fail("request %u returns %s", number, strerror(error));
    }
    return error;
}

/*
 * The same with a distorted argument of `size` bytes: another size, data after its end, or an
 * address that is not mapped. Returns 0 or the error.
 */
static inline int misshapen(struct worker* w, int fd, unsigned long request, const void* argument,
                            size_t size) {
    static const uint64_t bad[] = {0, 8, 0xffff888000001000, 1ULL << 63, 0x7ffffffffff8, ~7ULL};
    union {
        uint32_t size;
        uint8_t byte[8192];
    } copy = {0};
    int error, expected = 0;

    memcpy(&copy, argument, size);
    switch (below(w, 6)) {
    case 0: /* of an older caller */
        copy.size = 8 + below(w, size - 7);
        break;
    case 1: /* of a newer one */
        copy.size = size + below(w, 4096 - size + 1);
        break;
    case 2: /* larger than the driver knows */
        copy.size = size + 8 + below(w, 256);
        copy.byte[size + below(w, copy.size - size)] = 1 + below(w, 255);
        expected = E2BIG;
        break;
    case 3:
        copy.size = one_in(w, 2) ? below(w, 8) : 4097 + below(w, ~0U - 4097);
        expected = EINVAL;
        break;
    case 4:
        error = ioctl(fd, request, bad[below(w, sizeof(bad) / sizeof(*bad))]) ? errno : 0;
        atomic_fetch_sub(&left, 1);
        EXPECT(w, error == EFAULT);
        return error;
    default: /* any byte may have any value */
        copy.byte[4 + below(w, size - 4)] = any(w);
    }
    error = call(w, fd, request, &copy);
    EXPECT(w, !expected || error == expected);
    /* No worker remembers an added telemetry. */
    if (!error && _IOC_NR(request) == _IOC_NR(ANEMONE_ADD))
        call(w, fd, ANEMONE_REMOVE,
             &(struct anemone_id){.size = sizeof(struct anemone_id),
                                  .id = ((struct anemone_add*)&copy)->id});
    return error;
}

/* `good`, or seldom an unusable pointer. */
static inline uint64_t pointer(struct worker* w, const void* good) {
    static const uint64_t bad[] = {0, 8, 0xffff888000001000, 1ULL << 63, 0x7ffffffffff8, ~7ULL};

    return one_in(w, 16) ? bad[below(w, sizeof(bad) / sizeof(*bad))] : (uintptr_t)good;
}

static inline int open_node(int flags) {
    int fd = open(NODE, O_RDWR | O_CLOEXEC | flags);

    CHECK(fd >= 0);
    return fd;
}

#endif
