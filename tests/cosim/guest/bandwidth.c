// SPDX-License-Identifier: Apache-2.0
/*
 * Listing 3 of the NEMO paper on the driver: bytes by tenant, and an event when a tenant passes a
 * cap. bandwidth TENANTS PAGES CAP: huge pages belong to the tenants in turn.
 */
#include <poll.h>
#include <sys/eventfd.h>

#include "telemetry.h"

#define LINE_BYTES 64

/* Expected events may be late on a busy machine. */
#define PATIENCE_MS 60000
#define MOMENT_MS 1000

static int comes(int fd, int within_ms) {
    struct pollfd one = {.fd = fd, .events = POLLIN};

    CHECK(poll(&one, 1, within_ms) >= 0);
    CHECK(!(one.revents & ~POLLIN));
    return one.revents;
}

static struct anemone_event take(int fd) {
    struct anemone_event event;

    CHECK(read(fd, &event, sizeof(event)) == sizeof(event));
    printf("event %u %u\n", event.counter, event.channel);
    return event;
}

static void none_is_left(int fd) {
    struct anemone_event event;

    CHECK(!comes(fd, MOMENT_MS));
    CHECK(read(fd, &event, sizeof(event)) == -1 && errno == EAGAIN);
}

int main(int argc, char** argv) {
    unsigned int tenants = atoi(argv[1]), pages = atoi(argv[2]), i;
    struct anemone_entry* entries = calloc(tenants * pages, sizeof(*entries));
    struct anemone_spec spec = counting("bandwidth", tenants);
    uint64_t *bytes = calloc(tenants * 2, sizeof(*bytes)), signals;
    int fd = open_device(), eventfds = eventfd(0, EFD_NONBLOCK);
    struct anemone_status counts;
    struct anemone_add added;

    CHECK(argc == 4);
    spec.update.operand = LINE_BYTES;
    spec.notify =
        (struct anemone_operation){.op = ANEMONE_NOTIFY_GE, .operand = strtoull(argv[3], NULL, 0)};
    added = add(fd, spec);
    for (i = 0; i < tenants * pages; i++)
        entries[i] = (struct anemone_entry){.key = i, .region = i % tenants};
    map_keys(fd, added.id, entries, tenants * pages);
    CHECK(!ioctl(fd, ANEMONE_EVENTFD,
                 &(struct anemone_eventfd){
                     .size = sizeof(struct anemone_eventfd), .id = added.id, .fd = eventfds}));
    printf("messages %d\n", !!(info(fd).flags & ANEMONE_INFO_INTERRUPTS));
    none_is_left(fd);

    /* One event, although many accesses are past the cap. */
    ask("trace tenants");
    CHECK(comes(fd, PATIENCE_MS));
    CHECK(read(eventfds, &signals, sizeof(signals)) == sizeof(signals) && signals == 1);
    CHECK(take(fd).id == added.id);
    none_is_left(fd);
    CHECK(read(eventfds, &signals, sizeof(signals)) == -1 && errno == EAGAIN);

    /* Reading it re-arms the pipeline, and the counters are still past the cap. */
    ask("trace again");
    CHECK(comes(fd, PATIENCE_MS));
    take(fd);
    counts = status(fd, added.id);
    printf("notifications %llu events %llu\n", (unsigned long long)counts.notifications,
           (unsigned long long)counts.events);

    /* A snapshot takes nothing away; the read starts a new period, in which no event comes. */
    read_counters(fd, added.id, ANEMONE_READ_SNAPSHOT, tenants, bytes);
    for (i = 0; i < tenants; i++)
        printf("tenant %u %llu\n", i, (unsigned long long)bytes[i]);
    read_counters(fd, added.id, ANEMONE_READ_CHANNELS, tenants, bytes);
    for (i = 0; i < tenants; i++)
        printf("channels %u %llu %llu\n", i, (unsigned long long)bytes[2 * i],
               (unsigned long long)bytes[2 * i + 1]);
    ask("trace again");
    none_is_left(fd);
    printf("interrupts %llu spurious %llu\n", (unsigned long long)info(fd).interrupts,
           (unsigned long long)info(fd).spurious);
    return 0;
}
