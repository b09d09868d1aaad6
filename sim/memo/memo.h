// SPDX-License-Identifier: Apache-2.0
// memo: what a node's memory is like (Demystifying CXL Memory, §3.2 and §4).
#ifndef MEMO_H
#define MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE = 64, BATCH = 16, MOST_THREADS = 256, MOST_NODES = 1024, MOST_LIST = 64 };

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
    unsigned repeat; // batches of a latency
    double seconds;  // of a bandwidth
    unsigned threads[MOST_LIST], thread_counts;
    struct ratio ratios[MOST_LIST];
    unsigned ratio_count;
    enum pages pages;
    const char* isa; // NULL: the widest
    bool json;
};

// Exits with 2 and one line where the words are wrong, with 0 after --help.
struct options options_of(int argc, char** argv);

// --- The processor (cpu.c) --------------------------------------------------------------------

struct host {
    double tsc_ghz;
    double timer_cycles; // of a reading of the time and what fences it, which results do not have
    size_t cache;        // bytes of the largest cache
    unsigned cpus;       // that this process may use
};

struct host host_of(void);
double seconds_now(void);
// Of so many values, which are sorted; share: 0.5 is the median.
double quantile(double* values, size_t count, double share);
// Of a file of one line; empty where there is none.
void first_line(const char* path, char* text, size_t size);
// Warnings of what would spoil a measurement: how many there were.
unsigned warn_of_host(const struct host* host);
// Core cycles a tick of the time-stamp counter, by a chain of rotations.
double cycles_per_tick(void);

// --- Kernels, one set for each width of vectors (kernels.c, vectors.h) ------------------------

enum access { LD, NT_LD, ST, NT_ST, ACCESSES };

// A walk over the lines of a region: of each `reads + writes` lines in its order the first are
// read, the others written. reads and writes are not both 0; lines is a power of two where it is
// random.
struct walk {
    char* base;
    size_t lines;
    unsigned reads, writes;
    bool random, nt;
    uint64_t value; // what each 8 bytes of a written line become
};

struct kernels {
    const char* name;
    bool (*here)(void); // the processor has it
    // Ticks of BATCH accesses at these lines, back to back, and the sum of all words that were
    // read.
    uint64_t (*batch)(enum access access, char* const* lines, uint64_t value, uint64_t* sum);
    uint64_t (*walk)(const struct walk* walk); // once over all lines; the sum of what was read
    void (*copy)(char* to, const char* from, size_t bytes, bool nt); // whole lines
};

// The widest that the processor has, or the one of that name; NULL where there is none.
const struct kernels* kernels_of(const char* name);
extern const char* const access_names[ACCESSES];

// The i-th line of a random order in which each of a power of two of lines comes once.
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
    const char* pages; // what it is made of
};

// Memory of that node alone, each 8 bytes of line i being i + 1; exits where there is none.
struct region region_of(size_t bytes, int node, enum pages pages);
void region_free(struct region* region);
// Nodes with memory that may be used; how many.
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

// --- Output (output.c)
// ----------------------------------------------------------------------------

void out_begin(bool json);
// One row: its test, then its fields, then its end.
void row_begin(const char* test, int node);
void row_text(const char* name, const char* value);
void row_number(const char* name, double value, int decimals);
void row_end(void);
void warn(const char* format, ...) __attribute__((format(printf, 1, 2)));
// A result is wrong: what was read is not what was written. The exit status becomes 1.
void wrong(const char* format, ...) __attribute__((format(printf, 1, 2)));
void fail(int status, const char* format, ...) __attribute__((format(printf, 2, 3), noreturn));
// The host and the end; the exit status.
int out_end(const struct host* host, const struct kernels* kernels);

#endif
