// SPDX-License-Identifier: Apache-2.0
// The command line.
#include "memo.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: memo [OPTIONS]\n"
    "\n"
    "Measures the memory of NUMA nodes: latency of four kinds of access and of a pointer chase by\n"
    "working set; bandwidth by threads, order and read-write ratio; block copies; and whether the\n"
    "last-level cache serves the node. Checks the data, and subtracts the cost of reading the\n"
    "time. To use one node's processors and another's memory, run it under taskset or numactl -N.\n"
    "\n"
    "  -n, --node N          node to measure [every node with memory]\n"
    "  -t, --tests LIST      of latency,chase,bandwidth,copy,cache [all]\n"
    "  -b, --bytes N[K|M|G]  size of the accessed memory [four times the largest cache]\n"
    "  -j, --threads LIST    thread counts for bandwidth [1,2,4,... up to all processors]\n"
    "  -r, --ratios LIST     reads to writes for bandwidth [1:0,3:1,2:1,1:1,0:1]\n"
    "  -s, --seconds S       least duration of each bandwidth [0.25]\n"
    "  -c, --batches N       batches of 16 accesses for each latency [10000]\n"
    "  -p, --pages KIND      4k, thp or huge [huge if enough are free, else thp]\n"
    "  -i, --isa NAME        sse2, avx2 or avx512 [the widest available]\n"
    "      --json            print JSON, for `anemone memo plot`\n"
    "  -h, --help\n"
    "\n"
    "    memo --node 1 --tests latency,chase\n"
    "    memo --json > memo.json && anemone memo plot memo.json --out pictures\n";

static void refuse(const char* option, const char* value, const char* allowed) {
    fail(2, "command line: --%s is \"%.60s\"; allowed: %s", option, value, allowed);
}

// Parses the whole number at `at` within an option's text; end: the rest.
static unsigned long long whole(const char* option, const char* text, const char* at,
                                const char** end, const char* allowed) {
    errno = 0;
    char* stop;
    const unsigned long long value = strtoull(at, &stop, 10);
    if (*at < '0' || *at > '9' || errno)
        refuse(option, text, allowed);
    *end = stop;
    return value;
}

static unsigned long long within(const char* option, const char* text, unsigned long long minimum,
                                 unsigned long long maximum, const char* allowed) {
    const char* end;
    const unsigned long long value = whole(option, text, text, &end, allowed);
    if (*end || value < minimum || value > maximum)
        refuse(option, text, allowed);
    return value;
}

static size_t bytes_of(const char* text) {
    const char *end, *allowed = "4K to 1024G, as 262144, 64M or 2G";
    unsigned long long value = whole("bytes", text, text, &end, allowed);
    const char* unit = *end ? strchr("KMG", *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - "KMG" + 1) : 0;
    if ((*end && (!unit || end[1])) || value > (1ull << 40) >> shift)
        refuse("bytes", text, allowed);
    value <<= shift;
    if (value < 4096)
        refuse("bytes", text, allowed);
    return value;
}

static unsigned tests_of(const char* text) {
    static const char* const names[] = {"latency", "chase", "bandwidth", "copy", "cache"};
    const char* allowed = "a list of latency,chase,bandwidth,copy,cache";
    unsigned found = 0;
    for (const char* at = text;;) {
        const size_t length = strcspn(at, ",");
        unsigned which = 0;
        while (which < 5 && (strlen(names[which]) != length || strncmp(at, names[which], length)))
            which++;
        if (which == 5)
            refuse("tests", text, allowed);
        found |= 1u << which;
        if (!at[length])
            return found;
        at += length + 1;
    }
}

static void threads_of(struct options* o, const char* text) {
    const char *end, *allowed = "a list of up to 64 numbers of 1 to 256";
    o->thread_counts = 0;
    for (const char* at = text;; at = end + 1) {
        const unsigned long long value = whole("threads", text, at, &end, allowed);
        if (value < 1 || value > MAX_THREADS || o->thread_counts == MAX_LIST ||
            (*end && *end != ','))
            refuse("threads", text, allowed);
        o->threads[o->thread_counts++] = (unsigned)value;
        if (!*end)
            return;
    }
}

static void ratios_of(struct options* o, const char* text) {
    const char *end, *allowed = "a list of up to 64 READS:WRITES, 0 to 100 and not both 0";
    o->ratio_count = 0;
    for (const char* at = text;; at = end + 1) {
        const unsigned long long reads = whole("ratios", text, at, &end, allowed);
        if (*end != ':')
            refuse("ratios", text, allowed);
        const unsigned long long writes = whole("ratios", text, end + 1, &end, allowed);
        if (reads > 100 || writes > 100 || reads + writes == 0 || o->ratio_count == MAX_LIST ||
            (*end && *end != ','))
            refuse("ratios", text, allowed);
        o->ratios[o->ratio_count++] = (struct ratio){(unsigned)reads, (unsigned)writes};
        if (!*end)
            return;
    }
}

static enum pages pages_of(const char* text) {
    if (!strcmp(text, "4k"))
        return PAGES_4K;
    if (!strcmp(text, "thp"))
        return PAGES_THP;
    if (strcmp(text, "huge"))
        refuse("pages", text, "4k, thp or huge");
    return PAGES_HUGE;
}

static double seconds_of(const char* text) {
    char* end;
    const double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < 0.001 || value > 3600)
        refuse("seconds", text, "0.001 to 3600");
    return value;
}

struct options options_of(int argc, char** argv) {
    static const struct option words[] = {
        {"node", 1, NULL, 'n'},    {"tests", 1, NULL, 't'},  {"bytes", 1, NULL, 'b'},
        {"threads", 1, NULL, 'j'}, {"ratios", 1, NULL, 'r'}, {"seconds", 1, NULL, 's'},
        {"batches", 1, NULL, 'c'}, {"pages", 1, NULL, 'p'},  {"isa", 1, NULL, 'i'},
        {"json", 0, NULL, 'J'},    {"help", 0, NULL, 'h'},   {NULL, 0, NULL, 0},
    };
    struct options o = {.tests = EVERYTHING, .node = -1, .repeat = 10000, .seconds = 0.25};
    ratios_of(&o, "1:0,3:1,2:1,1:1,0:1");
    for (int c; (c = getopt_long(argc, argv, "n:t:b:j:r:s:c:p:i:h", words, NULL)) != -1;)
        switch (c) {
        case 'n':
            o.node = (int)within("node", optarg, 0, MAX_NODES - 1, "a node, 0 to 1023");
            break;
        case 't':
            o.tests = tests_of(optarg);
            break;
        case 'b':
            o.bytes = bytes_of(optarg);
            break;
        case 'j':
            threads_of(&o, optarg);
            break;
        case 'r':
            ratios_of(&o, optarg);
            break;
        case 's':
            o.seconds = seconds_of(optarg);
            break;
        case 'c':
            o.repeat = (unsigned)within("batches", optarg, 1, 10000000, "1 to 10000000");
            break;
        case 'p':
            o.pages = pages_of(optarg);
            break;
        case 'i':
            o.isa = optarg;
            break;
        case 'J':
            o.json = true;
            break;
        case 'h':
            fputs(help, stdout);
            exit(0);
        default: // getopt has printed the wrong option
            fail(2, "see memo --help");
        }
    if (optind < argc)
        fail(2, "command line: \"%.60s\" is no option; see memo --help", argv[optind]);
    return o;
}
