// SPDX-License-Identifier: Apache-2.0
/*
 * A user with CAP_PERFMON alone tries to learn about memory of others: spy SEED ROUNDS.
 *
 * It adds random rules and reads everything that a call, event, mapping or file shows. The host
 * then accesses others' memory: another program's, memory that this one has freed, and the
 * neighbours of its pages. All that the spy sees must stay the same, and must change when its own
 * page is accessed. The parent has all capabilities, knows the physical addresses, and asks the
 * host for accesses.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "user.h"
#include "user_pages.h"

#define RULES 12
#define IDS 64
#define SEEN_MOST (1 << 20)
#define DEVICE "/sys/class/misc/anemone0/device/"

/* Shared by both processes: the spy sends requests by `ask`, and the parent replies by `done`. */
struct board {
    uint64_t about[3];              /* physical: the victim's two pages, and the spy's page */
    uint8_t* victims;               /* virtual addresses of the victim's two pages */
    volatile uint8_t *kept, *freed; /* the spy's pages: kept, and freed */
};

static struct board* board; /* shared between the processes, so it is not exclusive memory */
static int to_parent[2], to_spy[2];
static uint64_t state;

static uint64_t any(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 3;
}

static unsigned int below(unsigned int most) {
    return any() % most;
}

/* --- What the spy sees --- */

static char seen[2][SEEN_MOST];

struct rule {
    uint32_t id, counters, regions, granule;
    bool host;
};
static struct rule rules[RULES];
static unsigned int count;

__attribute__((format(printf, 2, 3))) static void see(char** at, const char* format, ...) {
    va_list arguments;

    va_start(arguments, format);
    *at += vsprintf(*at, format, arguments);
    va_end(arguments);
}

static void see_file(char** at, const char* path) {
    char text[256];
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    see(at, "%s: %.*s\n", path, got > 0 ? (int)got : 0, text);
    close(fd);
}

static void see_counters(char** at, int fd, const struct rule* rule, uint32_t flags) {
    static uint64_t values[65536 * 2];
    uint32_t all = rule->counters * rule->regions, i;
    struct anemone_read read = {.size = sizeof(read),
                                .id = rule->id,
                                .flags = flags,
                                .count = all,
                                .values = (uintptr_t)values};
    bool channels = flags & ANEMONE_READ_CHANNELS;

    see(at, "%s", ioctl(fd, ANEMONE_READ, &read) ? "refused" : "read");
    for (i = 0; i < all << channels; i++)
        if (values[i])
            see(at, " %u:%llx", i, (unsigned long long)values[i]);
    see(at, "\n");
    memset(values, 0, sizeof(values[0]) * (all << channels));
}

static void see_rule(char** at, int fd, const struct rule* rule) {
    struct anemone_status now = {.size = sizeof(now), .id = rule->id};
    struct anemone_id id = {.size = sizeof(id), .id = rule->id};
    struct anemone_turn turn = {.size = sizeof(turn), .id = rule->id};
    int error = ioctl(fd, ANEMONE_STATUS, &now);
    void* shown;

    see(at, "%u: %d %llu %llu %llu %llu %llu %llu %u\n", rule->id, error,
        (unsigned long long)now.matched, (unsigned long long)now.unmapped,
        (unsigned long long)now.out_of_range, (unsigned long long)now.notifications,
        (unsigned long long)now.parity_errors, (unsigned long long)now.events, now.mapped);
    see(at, "turn %d\n", ioctl(fd, ANEMONE_TURN, &turn));
    shown = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, ANEMONE_SNAPSHOT_OFFSET(rule->id));
    if (shown != MAP_FAILED && !ioctl(fd, ANEMONE_SNAPSHOT, &id)) {
        const struct anemone_snapshot* snapshot = shown;

        for (unsigned int i = 0; i < PAGE / 8 - 4; i++)
            if (snapshot->values[i])
                see(at, " %u=%llx", i, (unsigned long long)snapshot->values[i]);
        munmap(shown, PAGE);
    }
    see_counters(at, fd, rule, ANEMONE_READ_SNAPSHOT);
    see_counters(at, fd, rule, ANEMONE_READ_SNAPSHOT | ANEMONE_READ_CHANNELS);
    if (rule->counters * rule->regions % rule->granule == 0)
        see_counters(at, fd, rule, 0);
}

/*
 * Everything that is visible, as text. What a read takes away is read twice, so that the rest is
 * the same.
 */
static void look(int fd, char* at) {
    static const char* const files[] = {
        "pipelines_free",      "dropped_writes",   "refused_reads",      "interrupts",
        "spurious_interrupts", "faults_corrected", "faults_uncorrected", "stray_answers",
    };
    struct pollfd one = {.fd = fd, .events = POLLIN};
    struct anemone_info info = {.size = sizeof(info)};
    struct anemone_record record;
    char path[128];

    usleep(20000); /* raised events have arrived */
    see(&at, "poll %d %x\n", poll(&one, 1, 0), one.revents);
    while (read(fd, &record, sizeof(record)) == sizeof(record))
        see(&at, "event %u %u %u %u %llx\n", record.event.id, record.event.counter,
            record.event.channel, record.event.type, (unsigned long long)record.address);
    CHECK(!ioctl(fd, ANEMONE_INFO, &info));
    see(&at, "info %llu %llu %u %#x\n", (unsigned long long)info.interrupts,
        (unsigned long long)info.spurious, info.pipelines_free, info.flags);
    for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++) {
        snprintf(path, sizeof(path), DEVICE "anemone/%s", files[i]);
        see_file(&at, path);
    }
    see_file(&at, DEVICE "flat0/hits");
    see_file(&at, "/sys/kernel/debug/anemone/anemone0/telemetries");
    see_file(&at, "/sys/kernel/debug/anemone/anemone0/registers");
    for (unsigned int i = 0; i < count; i++)
        see_rule(&at, fd, &rules[i]);
}

/* --- What it tries --- */

static struct anemone_spec random_spec(unsigned int shift) {
    static const uint8_t widths[] = {8, 16, 32, 64};
    static const uint8_t ops[] = {ANEMONE_OP_ADD, ANEMONE_OP_SUB, ANEMONE_OP_XOR, ANEMONE_OP_OR,
                                  ANEMONE_OP_MAX};
    struct anemone_spec spec = counting_pages("spy", 1 + below(32), shift, board->about[below(3)]);

    spec.width = widths[below(4)];
    spec.update = (struct anemone_operation){
        .operand = 1, .op = ops[below(5)], .source = below(2) ? ANEMONE_OPERAND_LINE : 0};
    if (spec.update.source)
        spec.update.operand = 0;
    spec.notify.op = below(2) ? ANEMONE_NOTIFY_GE : ANEMONE_NOTIFY_NONE;
    if (below(2)) {
        spec.translation.sub.shift = 6 + below(4);
        spec.translation.sub.mask = (15ULL << spec.translation.sub.shift) & ((1ULL << shift) - 1);
    }
    if (below(3) == 0)
        spec.filter.start = spec.filter.end = 0;
    if (below(3) == 0) { /* device addresses, with a mask that maps many addresses to one key */
        spec.flags = 0;
        spec.translation.primary.mask = below(2) ? 0 : any() << shift;
    }
    return spec;
}

static void add_rules(int fd) {
    static const uint8_t shifts[] = {6, 12, 12, 12, 16, 21, 21, 30};

    for (unsigned int tries = 0; tries < 200 && count < RULES; tries++) {
        struct anemone_add call = {.size = sizeof(call), .spec = random_spec(shifts[below(8)])};

        if (ioctl(fd, ANEMONE_ADD, &call)) {
            CHECK(errno == EDQUOT || errno == ENOSPC || errno == EINVAL || errno == ERANGE ||
                  errno == EOPNOTSUPP);
            if (errno == EDQUOT || errno == ENOSPC)
                break;
            continue;
        }
        rules[count++] = (struct rule){.id = call.id,
                                       .counters = call.region_counters,
                                       .regions = call.regions,
                                       .granule = call.granule,
                                       .host = call.spec.flags & ANEMONE_SPEC_HOST};
    }
    CHECK(count);
}

/* A key by number, with any valid flags, is always refused. */
static void name_physical(int fd, const struct rule* rule) {
    uint64_t keys[] = {board->about[0] >> 12, board->about[0] >> 21, 0, 1, any()};
    struct anemone_rotate rotate = {.size = sizeof(rotate),
                                    .id = rule->id,
                                    .keys = (uintptr_t)keys,
                                    .count = 1,
                                    .period_ms = 5};

    for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        struct anemone_entry entry = {.key = keys[i], .flags = below(2)};
        struct anemone_map call = {
            .size = sizeof(call), .id = rule->id, .entries = (uintptr_t)&entry, .count = 1};

        CHECK(ioctl(fd, ANEMONE_MAP, &call) == -1 && errno == EPERM && !call.done);
    }
    CHECK(ioctl(fd, ANEMONE_ROTATE, &rotate) == -1 && errno == EPERM);
}

/* Addresses that map memory of others: of the kernel, of a file, of both processes. */
static void name_others(int fd, const struct rule* rule) {
    uint8_t* zero = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t* code = (uint8_t*)((uintptr_t)name_others & ~(PAGE - 1));
    uint8_t* shown = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, ANEMONE_SNAPSHOT_OFFSET(rule->id));
    const void* others[] = {
        board->victims,
        board,
        zero,
        code,
        shown,
        (void*)0xffff888000000000,
        (void*)PAGE,
        (void*)~(PAGE - 1),
        (void*)0x7ffffffff000,
    };

    CHECK(zero != MAP_FAILED && zero[0] == 0 && shown != MAP_FAILED);
    for (unsigned int i = 0; i < sizeof(others) / sizeof(*others); i++) {
        int error = map_user_page(fd, rule->id, others[i], 0);

        if (error != EFAULT && error != EACCES && error != EINVAL)
            fail("others' page %u: %s", i, strerror(error));
    }
    munmap(zero, PAGE);
    munmap(shown, PAGE);
}

static void name_ids(int fd) {
    for (uint32_t id = 0; id < IDS; id++) {
        struct anemone_status status = {.size = sizeof(status), .id = id};
        bool mine = false;

        for (unsigned int i = 0; i < count; i++)
            mine |= rules[i].id == id;
        if (!mine)
            CHECK(ioctl(fd, ANEMONE_STATUS, &status) == -1 && errno == ENOENT);
    }
}

static volatile uint8_t* fresh_page(void) {
    uint8_t* page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(page != MAP_FAILED);
    page[0] = 1;
    return page;
}

/* The freed page is removed from the rules while it is freed. */
static void* take_out(void* device) {
    for (unsigned int i = 0; i < count; i++) {
        struct anemone_entry entry = {.key = (uintptr_t)board->freed,
                                      .flags = ANEMONE_ENTRY_VIRTUAL | ANEMONE_ENTRY_UNMAP};
        struct anemone_map call = {
            .size = sizeof(call), .id = rules[i].id, .entries = (uintptr_t)&entry, .count = 1};

        ioctl(*(int*)device, ANEMONE_MAP, &call);
    }
    return NULL;
}

/*
 * 'o': access the own page; 'v': access the victim's and others' pages; 'g': remember the page that
 * is being freed.
 */
static void request(char what) {
    char answer;

    CHECK(write(to_parent[1], &what, 1) == 1 && read(to_spy[0], &answer, 1) == 1);
}

static void same(const char* after) {
    if (!strcmp(seen[0], seen[1]))
        return;
    printf("before:\n%s\nafter:\n%s\n", seen[0], seen[1]);
    fail("it sees %s", after);
}

static int spy(int fd, int rounds) {
    bool mapped = false, once = false;
    pthread_t other;

    /* This process has no memory at the victim's addresses. */
    CHECK(mmap(board->victims, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == board->victims);
    become_a_user();
    report_lost_entries(fd);
    for (int round = 0; round < rounds; round++) {
        board->kept = fresh_page();
        board->freed = fresh_page();
        request('g');
        add_rules(fd);
        mapped = false;
        for (unsigned int i = 0; i < count; i++) {
            name_physical(fd, &rules[i]);
            name_others(fd, &rules[i]);
            mapped |= !map_user_page(fd, rules[i].id, board->kept, 0);
            map_user_page(fd, rules[i].id, board->freed, 0);
        }
        name_ids(fd);
        if (round % 2)
            CHECK(!pthread_create(&other, NULL, take_out, &fd));
        usleep(below(2000));
        CHECK(!munmap((void*)board->freed, PAGE));
        if (round % 2)
            CHECK(!pthread_join(other, NULL));
        look(fd, seen[0]); /* consume what reads take away */
        look(fd, seen[0]);
        request('v');
        look(fd, seen[1]);
        same("what others' memory does");
        request('o');
        look(fd, seen[1]);
        if (mapped) /* so that seeing nothing is significant */
            CHECK(strcmp(seen[0], seen[1]));
        once |= mapped;
        while (count) {
            struct anemone_id id = {.size = sizeof(id), .id = rules[--count].id};

            CHECK(!ioctl(fd, ANEMONE_REMOVE, &id));
        }
        CHECK(!munmap((void*)board->kept, PAGE));
    }
    CHECK(once);
    return 0;
}

/* --- The parent --- */

static void touch(uint64_t address) {
    if (address >= GUEST_MEMORY_BASE)
        ask("touch %llu", (unsigned long long)address);
}

static void serve(pid_t child) {
    uint64_t freed = 0, kept = 0;
    char process[16], what;

    snprintf(process, sizeof(process), "%d", child);
    while (read(to_parent[0], &what, 1) == 1) {
        if (what == 'g') {
            freed = physical_of(process, board->freed);
            kept = physical_of(process, board->kept);
            CHECK(freed && kept);
            board->about[2] = kept;
        } else if (what == 'v') {
            touch(board->about[0]);
            touch(board->about[1] + 64);
            touch(freed);
            touch(kept ^ PAGE);
            touch(kept ^ HUGE);
            touch(GUEST_MEMORY_BASE + below(200) * HUGE + (kept & (HUGE - 1)) / 2);
        } else {
            touch(kept);
        }
        CHECK(write(to_spy[1], &what, 1) == 1);
    }
}

int main(int argc, char** argv) {
    int rounds = argc == 3 ? atoi(argv[2]) : 0, status, fd = open_device(), mine = open_device();
    struct anemone_add watched;
    pid_t child;

    CHECK(rounds > 0);
    state = strtoull(argv[1], NULL, 0) * 2654435761 + 1;
    board = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(board != MAP_FAILED);
    board->victims =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(board->victims != MAP_FAILED);
    memset(board->victims, 1, 2 * PAGE);
    CHECK(!madvise(board->victims, 2 * PAGE, MADV_DONTFORK));
    board->about[0] = physical(board->victims);
    board->about[1] = physical(board->victims + PAGE);
    /* The victim has rules, entries and events, too. */
    watched = add(mine, counting_pages("victim", 8, 12, board->about[0]));
    CHECK(!map_user_page(mine, watched.id, board->victims, 3));
    CHECK(!pipe(to_parent) && !pipe(to_spy));
    child = fork();
    CHECK(child >= 0);
    if (!child) {
        close(mine);
        close(to_parent[0]);
        close(to_spy[1]);
        return spy(fd, rounds);
    }
    close(fd);
    close(to_parent[1]);
    close(to_spy[0]);
    serve(child);
    CHECK(waitpid(child, &status, 0) == child);
    if (status)
        fail("the spy ended with %#x", status);
    printf("it saw its own\n");
    return 0;
}
