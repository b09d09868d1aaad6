/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What telemetry costs the host, in instructions between marks (sim/plugin/instructions.c): polls
 * and notifications of the driver, compared with a loop that takes samples of accesses, as a PEBS
 * reader does.
 */
#include <sched.h>
#include <stdatomic.h>

#include "mark.h"
#include "telemetry.h"

#define COUNTERS 8192
#define RECORDS 8192
#define EVENTS 8
#define BUCKETS 16384

static uint64_t values[COUNTERS];

/* A sample of 32 bytes, the smallest that perf writes for address and time. */
struct record {
    uint32_t type;
    uint16_t misc, size;
    uint64_t ip, time, address;
};

static struct {
    _Atomic uint64_t head, tail;
    struct record records[RECORDS];
} ring;

/* Accesses by huge page, in a hash table with open addressing. */
static struct {
    uint64_t page, accesses;
} pages[BUCKETS];

static void take_sample(const struct record* record) {
    uint64_t page = (record->address >> HUGE_SHIFT) + 1;
    uint64_t bucket = page * 0x9E3779B97F4A7C15u >> 50;

    if (record->type != 9) /* PERF_RECORD_SAMPLE */
        return;
    while (pages[bucket].page && pages[bucket].page != page)
        bucket = (bucket + 1) % BUCKETS;
    pages[bucket].page = page;
    pages[bucket].accesses++;
}

__attribute__((noinline)) static void take_samples(void) {
    uint64_t head = atomic_load_explicit(&ring.head, memory_order_acquire), tail = ring.tail;

    for (; tail < head; tail++)
        take_sample(&ring.records[tail % RECORDS]);
    atomic_store_explicit(&ring.tail, tail, memory_order_release);
}

static void fill_ring(void) {
    for (unsigned i = 0; i < RECORDS; i++)
        ring.records[i] =
            (struct record){.type = 9,
                            .size = sizeof(struct record),
                            .time = i,
                            .address = (uint64_t)(i * 2654435761u % 4096) << HUGE_SHIFT};
    ring.head = RECORDS;
}

static void poll_counters(int fd) {
    struct anemone_add telemetry = add(fd, counting("hotness", COUNTERS));
    struct anemone_entry entry = {.key = 1, .region = 5};

    map_keys(fd, telemetry.id, &entry, 1);
    read_counters(fd, telemetry.id, 0, COUNTERS, values); /* makes the pages present */
    MARK(0);
    MARK(1); /* cost of the mark itself */
    read_counters(fd, telemetry.id, 0, 8, values);
    MARK(2);
    read_counters(fd, telemetry.id, 0, COUNTERS, values);
    MARK(3);
    CHECK(
        !ioctl(fd, ANEMONE_REMOVE, &(struct anemone_id){sizeof(struct anemone_id), telemetry.id}));
}

/* Blocks in read(2), like a program that has nothing else to do. */
static void wait_for_events(int fd) {
    struct anemone_spec spec = counting("watched", 8);
    struct anemone_entry entry = {.key = 1, .region = 5};
    struct anemone_add telemetry;

    spec.notify.op = ANEMONE_NOTIFY_GE;
    spec.notify.operand = 1;
    telemetry = add(fd, spec);
    map_keys(fd, telemetry.id, &entry, 1);
    CHECK(!fcntl(fd, F_SETFL, 0));
    for (unsigned i = 0; i < EVENTS; i++) {
        struct anemone_event event;

        ask("soon");
        MARK(4);
        CHECK(read(fd, &event, sizeof(event)) == sizeof(event));
        MARK(5);
        CHECK(event.counter == 5);
    }
}

int main(void) {
    int fd = open_device();

    /* Only interrupts run between two marks. */
    CHECK(!sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}));
    fill_ring();
    poll_counters(fd);
    wait_for_events(fd);
    memset(pages, 0, sizeof(pages));
    MARK(6);
    take_samples();
    MARK(7);
    for (unsigned i = 0, all = 0; i <= BUCKETS; i++)
        if (i < BUCKETS)
            all += pages[i].accesses;
        else
            CHECK(all == RECORDS);
    puts("done");
    return 0;
}
