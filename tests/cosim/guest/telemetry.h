/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's calls for test programs; each exits the program if the call fails. */
#ifndef TELEMETRY_H
#define TELEMETRY_H

#include <stdint.h>
#include <sys/ioctl.h>

#include <linux/anemone.h>

#include "host.h"

#define HUGE_SHIFT 21

static inline int open_device(void) {
    int fd = open("/dev/anemone0", O_RDWR | O_CLOEXEC | O_NONBLOCK);

    CHECK(fd >= 0);
    return fd;
}

/* A rule for all reads and writes: 64-bit counters with ADD, reset by reads. */
static inline struct anemone_spec counting(const char* name, uint32_t regions) {
    struct anemone_spec spec = {
        .filter = {.type = ANEMONE_R | ANEMONE_W},
        .width = 64,
        .regions = regions,
        .translation.primary = {.mask = ANEMONE_ALL_MEM, .shift = HUGE_SHIFT},
        .update = {.op = ANEMONE_OP_ADD, .operand = 1},
        .read_effect = {.op = ANEMONE_OP_RESET},
    };

    snprintf(spec.name, sizeof(spec.name), "%s", name);
    return spec;
}

static inline struct anemone_add add(int fd, struct anemone_spec spec) {
    struct anemone_add call = {.size = sizeof(call), .spec = spec};

    if (ioctl(fd, ANEMONE_ADD, &call))
        fail("%s is refused: %s (%s)", spec.name, call.reason, strerror(errno));
    return call;
}

static inline void map_keys(int fd, uint32_t id, const struct anemone_entry* entries,
                            uint32_t count) {
    struct anemone_map call = {
        .size = sizeof(call), .id = id, .entries = (uintptr_t)entries, .count = count};

    if (ioctl(fd, ANEMONE_MAP, &call))
        fail("entry %u is refused: %s", call.done, strerror(errno));
    CHECK(call.done == count);
}

static inline void read_counters(int fd, uint32_t id, uint32_t flags, uint32_t count,
                                 uint64_t* values) {
    struct anemone_read call = {.size = sizeof(call),
                                .id = id,
                                .flags = flags,
                                .count = count,
                                .values = (uintptr_t)values};

    CHECK(!ioctl(fd, ANEMONE_READ, &call));
}

static inline struct anemone_status status(int fd, uint32_t id) {
    struct anemone_status call = {.size = sizeof(call), .id = id};

    CHECK(!ioctl(fd, ANEMONE_STATUS, &call));
    return call;
}

static inline struct anemone_info info(int fd) {
    struct anemone_info call = {.size = sizeof(call)};

    CHECK(!ioctl(fd, ANEMONE_INFO, &call));
    return call;
}

#endif
