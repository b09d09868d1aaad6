// SPDX-License-Identifier: Apache-2.0
// memo: measures a NUMA node's memory (Demystifying CXL Memory, §3.2 and §4).
#ifndef MEMO_H
#define MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE = 64, BATCH = 16, MAX_THREADS = 256, MAX_NODES = 1024, MAX_LIST = 64 };

// --- Options --------------------------------------------------------------------------------

enum test { LATENCY = 1, CHASE = 2, BANDWIDTH = 4, COPY = 8, CACHE = 16, EVERYTHING = 31 };
enum pages { PAGES_BEST, PAGES_4K, PAGES_THP, PAGES_HUGE };

struct ratio {
    unsigned reads, writes;
};

struct options {
    unsigned tests;
    int node;        // -1: every node with memory
    size_t bytes;    // of a region; 0: four times the last-level cache
    unsigned repeat; // batches per latency
    double seconds;  // least duration of a bandwidth measurement
    unsigned threads[MAX_LIST], thread_counts;
    struct ratio ratios[MAX_LIST];
    unsigned ratio_count;
    enum pages pages;
    const char* isa; // NULL: the widest
    bool json;
};

// Exits with 2 and one line at a wrong option, with 0 after --help.
struct options options_of(int argc, char** argv);

// --- The processor (cpu.c) --------------------------------------------------------------------

struct host {
    double tsc_ghz;
    double timer_cycles; // cost of a fenced time reading, subtracted from the results
    size_t cache;        // bytes of the largest cache
    unsigned cpus;       // processors that this process may use
};

struct host host_of(void);
double seconds_now(void);
// Sorts the values. share: 0.5 is the median.
double quantile(double* values, size_t count, double share);
// Reads the first line of a file; empty if the file cannot be read.
void first_line(const char* path, char* text, size_t size);
// Warns about conditions that disturb measurements. Returns the number of warnings.
unsigned warn_of_host(const struct host* host);
// Core cycles per tick of the time-stamp counter, measured with a chain of rotations.
double cycles_per_tick(void);

// --- Kernels, one set for each width of vectors (kernels.c, vectors.h) ------------------------

enum access { LD, NT_LD, ST, NT_ST, ACCESSES };

// A walk over the lines of a region. It repeats: read `reads` lines, write `writes` lines. They are
// not both 0. `lines` is a power of two if the order is random.
struct walk {
    char* base;
    size_t lines;
    unsigned reads, writes;
    bool random, nt;
    uint64_t value; // written to each 8 bytes
};

struct kernels {
    const char* name;
    bool (*here)(void); // whether the processor supports it
    // Returns the ticks of BATCH back-to-back accesses; sum: of all words read.
    uint64_t (*batch)(enum access access, char* const* lines, uint64_t value, uint64_t* sum);
    uint64_t (*walk)(const struct walk* walk); // one pass over all lines; the sum of the words read
    void (*copy)(char* to, const char* from, size_t bytes, bool nt); // whole lines
};

// The widest kernels that the processor supports, or those with this name; NULL if there are none.
const struct kernels* kernels_of(const char* name);
extern const char* const access_names[ACCESSES];

// The i-th line of a pseudo-random permutation. `lines` is a power of two.
static inline size_t scattered(size_t i, size_t lines) {
    const size_t mask = lines - 1;
    const unsigned half = (unsigned)(__builtin_ctzll(lines | (1ull << 62)) + 1) / 2;
    i = (i * 0x9E3779B97F4A7C15ull) & mask;
    i ^= i >> half;
    i = (i * 0xD1342543DE82EF95ull) & mask;
    return i ^ (i >> half);
}

// --- Memory (memory.c) --------------------------------------------------------------------------

struct region {
    char* at;
    size_t bytes;
    int node;
    const char* pages; // kind of the pages
};

// Allocates memory bound to the node; each 8 bytes of line i hold i + 1. Exits on failure.
struct region region_of(size_t bytes, int node, enum pages pages);
void region_free(struct region* region);
// Finds the nodes with memory that this process may use. Returns their number.
unsigned nodes_of(int* nodes);
void line_fill(char* base, size_t lines);

// --- Tests --------------------------------------------------------------------------------------

struct run {
    const struct options* options;
    const struct host* host;
    const struct kernels* kernels;
    int node;
};

void latency_test(const struct run* run);
void chase_test(const struct run* run);
void cache_test(const struct run* run);
void bandwidth_test(const struct run* run);
void copy_test(const struct run* run);

// --- Output (output.c) --------------------------------------------------------------------------

void out_begin(bool json);
// A row: row_begin, the fields, row_end.
void row_begin(const char* test, int node);
void row_text(const char* name, const char* value);
void row_number(const char* name, double value, int decimals);
void row_end(void);
void warn(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Reports a failed check, such as a read that did not return what was written. The exit status
// becomes 1.
void wrong(const char* format, ...) __attribute__((format(printf, 1, 2)));
void fail(int status, const char* format, ...) __attribute__((format(printf, 2, 3), noreturn));
// Prints the host's values and the end. Returns the exit status.
int out_end(const struct host* host, const struct kernels* kernels);

#endif
