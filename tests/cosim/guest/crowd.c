// SPDX-License-Identifier: Apache-2.0
/*
 * Several threads use the device at once: each repeatedly adds a telemetry that notifies, maps,
 * reads, waits for events and removes it. crowd THREADS SECONDS. Calls may fail with EIO while the
 * device is reset, and with ENOSPC and EBUSY because of each other.
 */
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "telemetry.h"

#define REGIONS 64

static time_t end;
static unsigned int rounds;

static void allowed(int result) {
    if (result)
        CHECK(errno == EIO || errno == ENOSPC || errno == EBUSY || errno == EAGAIN);
}

static void use(int fd, uint32_t id) {
    struct anemone_entry entries[REGIONS];
    uint64_t values[REGIONS];
    struct anemone_map map = {
        .size = sizeof(map), .id = id, .entries = (uintptr_t)entries, .count = REGIONS};
    struct anemone_read counters = {
        .size = sizeof(counters), .id = id, .count = REGIONS, .values = (uintptr_t)values};
    struct pollfd one = {.fd = fd, .events = POLLIN};
    struct anemone_event event;

    for (unsigned int i = 0; i < REGIONS; i++)
        entries[i] = (struct anemone_entry){.key = i, .region = REGIONS - 1 - i};
    allowed(ioctl(fd, ANEMONE_MAP, &map));
    for (unsigned int i = 0; i < 4; i++) {
        counters.flags = i % 2 ? ANEMONE_READ_SNAPSHOT : 0;
        allowed(ioctl(fd, ANEMONE_READ, &counters));
        poll(&one, 1, 1);
        allowed(read(fd, &event, sizeof(event)) == sizeof(event) ? 0 : -1);
    }
}

static void* work(void* unused) {
    while (time(NULL) < end) {
        struct anemone_spec spec = counting("crowd", REGIONS);
        struct anemone_add call = {.size = sizeof(call)};
        struct anemone_id removed = {.size = sizeof(removed)};
        int fd = open_device();

        spec.notify = (struct anemone_operation){.op = ANEMONE_NOTIFY_GE, .operand = 3};
        call.spec = spec;
        if (ioctl(fd, ANEMONE_ADD, &call)) {
            allowed(-1);
        } else {
            use(fd, call.id);
            removed.id = call.id;
            /* Every other time the telemetry is removed with its file. */
            if (__atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED) % 2)
                CHECK(!ioctl(fd, ANEMONE_REMOVE, &removed));
        }
        close(fd);
    }
    return unused;
}

int main(int argc, char** argv) {
    unsigned int threads = argc == 3 ? atoi(argv[1]) : 0;
    pthread_t thread[32];

    CHECK(threads && threads <= 32);
    end = time(NULL) + atoi(argv[2]);
    for (unsigned int i = 0; i < threads; i++)
        CHECK(!pthread_create(&thread[i], NULL, work, NULL));
    for (unsigned int i = 0; i < threads; i++)
        CHECK(!pthread_join(thread[i], NULL));
    printf("rounds %u\n", rounds);
    return 0;
}
