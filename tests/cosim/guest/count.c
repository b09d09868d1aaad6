// SPDX-License-Identifier: Apache-2.0
/*
 * Checks that the device counts. count: one access, one count. count COMMAND: the same after a
 * command that makes the device lose its state; the telemetry stays, and counts from 0.
 */
#include "telemetry.h"

static uint64_t counted(int fd, uint32_t id) {
    uint64_t values[8];

    read_counters(fd, id, ANEMONE_READ_SNAPSHOT, 8, values);
    return values[5];
}

int main(int argc, char** argv) {
    struct anemone_entry entry = {.key = 3, .region = 5};
    int fd = open_device();
    struct anemone_add added = add(fd, counting("one", 8));

    map_keys(fd, added.id, &entry, 1);
    ask("access %d 0", 3 << HUGE_SHIFT);
    CHECK(counted(fd, added.id) == 1);
    if (argc == 2) {
        CHECK(!system(argv[1]));
        CHECK(counted(fd, added.id) == 0);
        ask("access %d 1", 3 << HUGE_SHIFT);
        ask("access %d 1", (3 << HUGE_SHIFT) + 64);
        CHECK(counted(fd, added.id) == 2);
    }
    printf("spurious %llu failed %u\n", (unsigned long long)info(fd).spurious,
           info(fd).flags & ANEMONE_INFO_FAILED);
    return 0;
}
