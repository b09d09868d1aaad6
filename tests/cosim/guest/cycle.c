// SPDX-License-Identifier: Apache-2.0
/* Uses a little of everything that the driver allocates, and leaves some of it to close(2). */
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "telemetry.h"

#define REGIONS 16

int main(void) {
    struct anemone_entry entries[REGIONS];
    uint64_t values[REGIONS], keys[2 * REGIONS];
    int fd = open_device(), count = eventfd(0, EFD_CLOEXEC);
    uint32_t id = add(fd, counting("mapped", REGIONS)).id;
    struct anemone_id one = {.size = sizeof(one), .id = id};
    struct anemone_eventfd eventfd_ = {.size = sizeof(eventfd_), .id = id, .fd = count};
    struct anemone_rotate rotate = {
        .size = sizeof(rotate), .keys = (uintptr_t)keys, .count = 2 * REGIONS, .period_ms = 1};
    unsigned int i;

    for (i = 0; i < REGIONS; i++)
        entries[i] = (struct anemone_entry){.key = 97 * i, .region = i};
    for (i = 0; i < 2 * REGIONS; i++)
        keys[i] = i;
    map_keys(fd, id, entries, REGIONS);
    read_counters(fd, id, 0, REGIONS, values);
    CHECK(!ioctl(fd, ANEMONE_EVENTFD, &eventfd_));
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, ANEMONE_SNAPSHOT_OFFSET(id)) != MAP_FAILED);
    CHECK(!ioctl(fd, ANEMONE_SNAPSHOT, &one));
    rotate.id = add(fd, counting("rotating", REGIONS)).id;
    CHECK(!ioctl(fd, ANEMONE_ROTATE, &rotate));
    one.id = add(fd, counting("removed", REGIONS)).id;
    CHECK(!ioctl(fd, ANEMONE_REMOVE, &one));
    return 0;
}
