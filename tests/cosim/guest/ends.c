// SPDX-License-Identifier: Apache-2.0
/*
 * The device goes while it is in use: with a telemetry, a queued event and a blocked reader. ends
 * unbind FOLDER: it is unbound from its driver, that sysfs folder. ends fault KIND: it breaks, and
 * the driver gives it up. ends munmap KIND: the driver notices the fault in the invalidation of a
 * page. Every later call must return at once.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>

#include "user_pages.h"

static int expected; /* error expected of calls */

static void* wait_for_event(void* argument) {
    int fd = *(int*)argument;
    struct pollfd one = {.fd = fd, .events = POLLIN};

    CHECK(poll(&one, 1, 50000) == 1);
    CHECK((one.revents & (POLLERR | POLLHUP)) == (POLLERR | POLLHUP));
    return NULL;
}

static void unbind(const char* driver) {
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/unbind", driver);
    fd = open(path, O_WRONLY);
    CHECK(fd >= 0);
    CHECK(write(fd, "0000:01:00.0", 12) == 12);
    close(fd);
    expected = ENODEV;
}

/* The driver notices where it must not sleep. */
static void break_it_under_a_page(int fd, const char* kind) {
    char* page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct anemone_add pages;

    CHECK(page != MAP_FAILED);
    page[0] = 1;
    pages = add(fd, counting_pages("a page", 1, 12, physical(page)));
    CHECK(!map_user_page(fd, pages.id, page, 0));
    ask("fault %s", kind);
    CHECK(!munmap(page, PAGE));
    CHECK(info(fd).flags & ANEMONE_INFO_FAILED);
    expected = EIO;
}

/* The driver notices when it needs the device. */
static void break_it(int fd, uint32_t id, const char* kind) {
    struct anemone_read call = {.size = sizeof(call), .id = id, .count = 16};
    struct anemone_add added = {.size = sizeof(added), .spec = counting("another", 1)};
    uint64_t values[16];

    ask("fault %s", kind);
    call.values = (uintptr_t)values;
    expected = EIO;
    if (!strcmp(kind, "never-done"))
        CHECK(ioctl(fd, ANEMONE_ADD, &added) == -1 && errno == EIO);
    else
        CHECK(ioctl(fd, ANEMONE_READ, &call) == -1 && errno == EIO);
    CHECK(info(fd).flags & ANEMONE_INFO_FAILED);
}

static void all_calls_fail(int fd, uint32_t id) {
    uint64_t values[16];
    struct anemone_event event;
    struct anemone_add added = {.size = sizeof(added), .spec = counting("late", 1)};
    struct anemone_entry entry = {.key = 1};
    struct anemone_map map = {
        .size = sizeof(map), .id = id, .entries = (uintptr_t)&entry, .count = 1};
    struct anemone_read counters = {
        .size = sizeof(counters), .id = id, .count = 16, .values = (uintptr_t)values};
    struct anemone_status counts = {.size = sizeof(counts), .id = id};
    struct anemone_id snapshot = {.size = sizeof(snapshot), .id = id};

#define FAILS(call) CHECK((call) == -1 && errno == expected)
    FAILS(ioctl(fd, ANEMONE_ADD, &added));
    FAILS(ioctl(fd, ANEMONE_MAP, &map));
    FAILS(ioctl(fd, ANEMONE_READ, &counters));
    FAILS(ioctl(fd, ANEMONE_STATUS, &counts));
    FAILS(ioctl(fd, ANEMONE_SNAPSHOT, &snapshot));
    while (read(fd, &event, sizeof(event)) == sizeof(event))
        ;
    FAILS(read(fd, &event, sizeof(event)));
#undef FAILS
    /* INFO and REMOVE still work. */
    info(fd);
    CHECK(!ioctl(fd, ANEMONE_REMOVE, &snapshot));
}

int main(int argc, char** argv) {
    struct anemone_spec spec = counting("until the end", 16);
    struct anemone_entry entry = {.key = 0, .region = 0};
    int fd = open_device(), waiting = open_device();
    struct anemone_add added;
    pthread_t thread;

    CHECK(argc == 3);
    spec.notify = (struct anemone_operation){.op = ANEMONE_NOTIFY_GE, .operand = 1};
    added = add(fd, spec);
    map_keys(fd, added.id, &entry, 1);
    ask("access 0 1"); /* the queued event */
    CHECK(!pthread_create(&thread, NULL, wait_for_event, &waiting));
    usleep(100000);
    if (!strcmp(argv[1], "unbind"))
        unbind(argv[2]);
    else if (!strcmp(argv[1], "munmap"))
        break_it_under_a_page(fd, argv[2]);
    else
        break_it(fd, added.id, argv[2]);
    CHECK(!pthread_join(thread, NULL));
    all_calls_fail(fd, added.id);
    close(waiting);
    close(fd);
    puts("ended");
    return 0;
}
