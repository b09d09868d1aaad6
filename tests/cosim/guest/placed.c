// SPDX-License-Identifier: Apache-2.0
/*
 * placed NODE [KEY ...]: adds a telemetry of the host's huge pages; prints why it is refused, or
 * what each key counted of the accesses that the host then makes. placed NODE from START [KEY ...]:
 * of its 4 KiB pages, from address START on.
 */
#include "telemetry.h"

int main(int argc, char** argv) {
    struct anemone_add call = {.size = sizeof(call)};
    struct anemone_entry entries[8] = {0};
    uint64_t counts[8];
    int small = argc > 3 && !strcmp(argv[2], "from"), i;
    int fd = open(argc > 1 ? argv[1] : "", O_RDWR | O_CLOEXEC), keys = argc - 2 - 2 * small;
    char** key = argv + argc - keys;

    CHECK(fd >= 0 && keys >= 0 && keys <= 8);
    call.spec = counting("placed", 8);
    call.spec.flags = ANEMONE_SPEC_HOST;
    if (small) {
        call.spec.translation.primary.shift = 12;
        call.spec.filter.start = strtoull(argv[3], NULL, 0);
        call.spec.filter.end = ~0ULL;
    }
    if (ioctl(fd, ANEMONE_ADD, &call)) {
        printf("%s refused: %s (%s)\n", argv[1], call.reason, strerror(errno));
        return 0;
    }
    for (i = 0; i < keys; i++)
        entries[i] = (struct anemone_entry){.key = strtoull(key[i], NULL, 0), .region = i};
    map_keys(fd, call.id, entries, keys);
    ask("accesses");
    read_counters(fd, call.id, 0, 8, counts);
    for (i = 0; i < keys; i++)
        printf("%s key %s: %llu\n", argv[1], key[i], (unsigned long long)counts[i]);
    return 0;
}
