// SPDX-License-Identifier: Apache-2.0
/*
 * Which huge pages of the expander's memory are hot? pages PROGRAM ARGUMENT...: counts by host
 * address while the program runs, and prints the counts of pages that were accessed.
 */
#include <sys/wait.h>

#include "telemetry.h"

int main(int argc, char** argv) {
    int fd = open_device(), ended;
    struct anemone_info device = info(fd);
    uint64_t first = device.host_base >> HUGE_SHIFT;
    unsigned int pages = device.host_size >> HUGE_SHIFT, i;
    struct anemone_entry* entries = calloc(pages, sizeof(*entries));
    struct anemone_spec spec = counting("pages", pages);
    uint64_t* counts = calloc(pages, sizeof(*counts));
    struct anemone_add added;
    pid_t child;

    CHECK(argc > 1 && pages && entries && counts);
    spec.flags = ANEMONE_SPEC_HOST;
    added = add(fd, spec);
    for (i = 0; i < pages; i++)
        entries[i] = (struct anemone_entry){.key = first + i, .region = i};
    map_keys(fd, added.id, entries, pages);
    /* Drop what was counted so far; there must be no access between the two calls. */
    ask("settled");
    read_counters(fd, added.id, 0, pages, counts);
    ask("quiet");

    child = fork();
    CHECK(child >= 0);
    if (!child) {
        execvp(argv[1], argv + 1);
        fail("%s: %s", argv[1], strerror(errno));
    }
    CHECK(waitpid(child, &ended, 0) == child && !ended);

    ask("settled");
    read_counters(fd, added.id, 0, pages, counts);
    ask("quiet");
    for (i = 0; i < pages; i++)
        if (counts[i])
            printf("page %#llx %llu\n", (unsigned long long)(first + i) << HUGE_SHIFT,
                   (unsigned long long)counts[i]);
    return 0;
}
