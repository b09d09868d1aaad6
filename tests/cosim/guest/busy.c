// SPDX-License-Identifier: Apache-2.0
/*
 * Something happens to the device while everything of the driver is in use: telemetries, one of
 * them rotated; an entry for a user page; a mapped snapshot; threads that read; one whose pages
 * come and go; one blocked in read(2), and one in poll(2). busy stays COMMAND: the device stays,
 * and its telemetries count again, including the page. busy goes COMMAND: it does not come back,
 * all waiters wake up, and every call returns the error.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "user_pages.h"

#define REGIONS 16
#define KEYS 40
#define KEY 3 /* key that is counted */

static bool goes;
static atomic_bool over;
static atomic_long reads;
static uint32_t id, user_page_id; /* telemetries on `used`: by key, and by user page */
static int used, waited;
static uint8_t* page; /* has an entry to region 0 */
static uint64_t where;

/* Errors that are allowed while the device is suspended, in reset, broken or gone. */
static bool excused(int error) {
    return error == EBUSY || (goes && (error == EIO || error == ENODEV));
}

static void* wait_in_read(void* unused) {
    struct anemone_event event;

    CHECK(read(waited, &event, sizeof(event)) == -1);
    CHECK(goes && (errno == ENODEV || errno == EIO));
    return unused;
}

static void* wait_in_poll(void* unused) {
    struct pollfd one = {.fd = waited, .events = POLLIN};

    CHECK(poll(&one, 1, -1) == 1);
    CHECK(goes && (one.revents & (POLLERR | POLLHUP)) == (POLLERR | POLLHUP));
    return unused;
}

/* Reads, adds and removes until the device is gone or the test is over. */
static void* read_on(void* unused) {
    uint64_t values[REGIONS];

    while (!atomic_load(&over)) {
        struct anemone_add added = {.size = sizeof(added), .spec = counting("reader", REGIONS)};
        struct anemone_read read = {.size = sizeof(read),
                                    .id = id,
                                    .flags = ANEMONE_READ_SNAPSHOT,
                                    .count = REGIONS,
                                    .values = (uintptr_t)values};
        int fd = open("/dev/anemone0", O_RDWR);

        if (fd < 0) {
            CHECK(goes && (errno == ENOENT || errno == ENODEV));
            break;
        }
        CHECK(!ioctl(used, ANEMONE_READ, &read) || excused(errno));
        if (ioctl(fd, ANEMONE_ADD, &added)) {
            CHECK(excused(errno));
        } else {
            read.id = added.id;
            CHECK(!ioctl(fd, ANEMONE_READ, &read) || excused(errno));
        }
        close(fd);
        atomic_fetch_add(&reads, 1);
    }
    return unused;
}

static uint8_t* new_page(void) {
    uint8_t* made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(made != MAP_FAILED);
    made[0] = 1;
    return made;
}

/* Pages whose entries are lost with them, whatever the device does. */
static void* come_and_go(void* unused) {
    while (!atomic_load(&over)) {
        uint8_t* other = new_page();
        int error = map_user_page(used, user_page_id, other, 1);

        /* A suspend interrupts running calls. */
        CHECK(!error || error == ERANGE || error == EINTR || excused(error));
        CHECK(!munmap(other, PAGE));
        usleep(2000);
    }
    return unused;
}

static void map_page_again(void) {
    page = new_page();
    where = physical(page);
    user_page_id = add(used, counting_pages("own", REGIONS, 12, where)).id;
    CHECK(!map_user_page(used, user_page_id, page, 0));
}

static uint64_t user_page_count(void) {
    uint64_t values[REGIONS];

    ask("access %llu 0", (unsigned long long)(where - GUEST_MEMORY_BASE));
    read_counters(used, user_page_id, ANEMONE_READ_SNAPSHOT, REGIONS, values);
    return values[0];
}

/* The page is counted as long as this program has it. */
static void user_page_counts(void) {
    uint64_t before = user_page_count();

    CHECK(user_page_count() == before + 1);
    CHECK(!munmap(page, PAGE));
    CHECK(user_page_count() == before + 1);
    CHECK(!status(used, user_page_id).mapped);
}

static uint32_t rotating(int fd) {
    struct anemone_add added = add(fd, counting("rotating", REGIONS));
    uint64_t keys[KEYS];
    struct anemone_rotate rotate = {.size = sizeof(rotate),
                                    .id = added.id,
                                    .keys = (uintptr_t)keys,
                                    .count = KEYS,
                                    .period_ms = 5};
    unsigned int i;

    for (i = 0; i < KEYS; i++)
        keys[i] = i;
    CHECK(!ioctl(fd, ANEMONE_ROTATE, &rotate));
    return added.id;
}

static void counts_again(int fd) {
    uint64_t values[REGIONS], before;

    read_counters(fd, id, ANEMONE_READ_SNAPSHOT, REGIONS, values);
    before = values[KEY];
    ask("access %d 0", KEY << HUGE_SHIFT);
    read_counters(fd, id, ANEMONE_READ_SNAPSHOT, REGIONS, values);
    CHECK(values[KEY] == before + 1);
}

static void all_is_over(int fd, const struct anemone_snapshot* seen, uint32_t rotates) {
    struct anemone_turn turn = {.size = sizeof(turn), .id = rotates};
    struct anemone_rotate stop = {.size = sizeof(stop), .id = rotates};
    struct anemone_id one = {.size = sizeof(one), .id = id};
    uint64_t values[REGIONS];
    struct anemone_read read = {
        .size = sizeof(read), .id = id, .count = REGIONS, .values = (uintptr_t)values};

#define GONE(request, argument) CHECK(ioctl(fd, request, argument) == -1 && errno == ENODEV)
    GONE(ANEMONE_READ, &read);
    GONE(ANEMONE_TURN, &turn);
    GONE(ANEMONE_ROTATE, &stop);
    GONE(ANEMONE_SNAPSHOT, &one);
#undef GONE
    CHECK(!(seen->sequence & 1) && seen->count == REGIONS);
    info(fd);
    CHECK(!ioctl(fd, ANEMONE_REMOVE, &one));
    CHECK(!(seen->sequence & 1));
}

int main(int argc, char** argv) {
    struct anemone_entry entry = {.key = KEY, .region = KEY};
    struct anemone_id one = {.size = sizeof(one)};
    const struct anemone_snapshot* seen;
    pthread_t threads[5];
    uint32_t rotates;
    long before;

    CHECK(argc == 3);
    goes = !strcmp(argv[1], "goes");
    used = open_device();
    waited = open("/dev/anemone0", O_RDWR);
    id = one.id = add(used, counting("used", REGIONS)).id;
    map_keys(used, id, &entry, 1);
    rotates = rotating(used);
    map_page_again();
    seen = mmap(NULL, 4096, PROT_READ, MAP_SHARED, used, ANEMONE_SNAPSHOT_OFFSET(id));
    CHECK(seen != MAP_FAILED && !ioctl(used, ANEMONE_SNAPSHOT, &one));
    counts_again(used);

    CHECK(!pthread_create(&threads[0], NULL, read_on, NULL));
    CHECK(!pthread_create(&threads[1], NULL, read_on, NULL));
    CHECK(!pthread_create(&threads[2], NULL, wait_in_read, NULL));
    CHECK(!pthread_create(&threads[3], NULL, wait_in_poll, NULL));
    CHECK(!pthread_create(&threads[4], NULL, come_and_go, NULL));
    while (atomic_load(&reads) < 4)
        usleep(10000);
    fflush(stdout);
    CHECK(!system(argv[2]));
    before = atomic_load(&reads);
    while (!goes && atomic_load(&reads) < before + 4)
        usleep(10000);
    atomic_store(&over, true);
    CHECK(!pthread_join(threads[0], NULL) && !pthread_join(threads[1], NULL));
    CHECK(!pthread_join(threads[4], NULL));
    if (goes) {
        CHECK(!munmap(page, PAGE));
        CHECK(!pthread_join(threads[2], NULL) && !pthread_join(threads[3], NULL));
        all_is_over(used, seen, rotates);
    } else {
        counts_again(used);
        user_page_counts();
    }
    puts(goes ? "it went" : "it stayed");
    return 0;
}
