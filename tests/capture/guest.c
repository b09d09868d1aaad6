/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with accesses that the tests know: guest MODE. Its requests are numbered:
 * - lines: 1 reads, 2 writes and 3 writes with non-temporal stores each line of an array once.
 * - flow: 4 chases pointers, 5 does the same through the stack, 6 reads where a generator says, 7
 *   reads where an array of indexes says, 10 chases and reads another word first, 13 chases two
 *   rings in turn.
 * - gap: 8 reads a line after each thousand instructions.
 * - threads: 11 and 12, in which two threads read an array each.
 * - sums: 9 runs SEQUENCE, a few instructions that the test expects one by one.
 * - large: touches 2 GiB, a byte in each 2 MiB.
 * - spin says so and never ends; crash, fail and fork do what their names say.
 */
#include <emmintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "anemone_op.h"

#define LINE 64
#define LINES 8192 /* 512 KiB */
#define STEPS 4096

struct node {
    struct node* next;
    char rest[LINE - sizeof(struct node*)];
};

static void* lines_of_memory(size_t lines) {
    void* made = aligned_alloc(2 << 20, lines * LINE < 2 << 20 ? 2 << 20 : lines * LINE);
    memset(made, 1, lines * LINE);
    return made;
}

static uint64_t drawn(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void each_line(void) {
    char* array = lines_of_memory(LINES);

    anemone_op_begin(1);
    for (size_t i = 0; i < LINES; i++)
        *(volatile char*)(array + i * LINE);
    anemone_op_begin(2);
    for (size_t i = 0; i < LINES; i++)
        *(volatile char*)(array + i * LINE) = 2;
    anemone_op_begin(3);
    for (size_t i = 0; i < LINES * LINE; i += 16)
        _mm_stream_si128((__m128i*)(array + i), _mm_setzero_si128());
    _mm_sfence();
    anemone_op_end();
}

/* One ring through all nodes, in an order that no prefetcher predicts. */
static struct node* ring(uint64_t* state) {
    struct node* nodes = lines_of_memory(LINES);
    uint32_t* order = malloc(LINES * sizeof *order);

    for (uint32_t i = 0; i < LINES; i++)
        order[i] = i;
    for (uint32_t i = LINES - 1; i > 0; i--) {
        uint32_t other = drawn(state) % i, kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; i < LINES; i++)
        nodes[order[i]].next = &nodes[order[(i + 1) % LINES]];
    return nodes;
}

static void flow(void) {
    uint64_t state = 1, sum = 0;
    struct node* nodes = ring(&state);
    uint32_t* indexes = lines_of_memory(LINES);
    struct node *at = nodes, *other = ring(&state), *volatile spilled = nodes;

    for (size_t i = 0; i < STEPS; i++)
        indexes[i] = drawn(&state) % LINES;
    anemone_op_begin(4);
    for (size_t i = 0; i < STEPS; i++)
        at = at->next;
    anemone_op_begin(5);
    for (size_t i = 0; i < STEPS; i++)
        spilled = spilled->next;
    anemone_op_begin(6);
    for (size_t i = 0; i < STEPS; i++)
        sum += (uint64_t)nodes[drawn(&state) % LINES].next;
    anemone_op_begin(7);
    for (size_t i = 0; i < STEPS; i++)
        sum += (uint64_t)nodes[indexes[i]].next;
    sum += (uintptr_t)at;
    at = nodes;
    anemone_op_begin(10);
    for (size_t i = 0; i < STEPS; i++) {
        sum += *(volatile char*)at->rest;
        at = *(struct node* volatile*)&at->next;
    }
    sum += (uintptr_t)at;
    at = nodes;
    anemone_op_begin(13);
    for (size_t i = 0; i < STEPS / 2; i++) {
        at = *(struct node* volatile*)&at->next;
        other = *(struct node* volatile*)&other->next;
    }
    anemone_op_end();
    sum += (uintptr_t)other;
    printf("%p %p %lu\n", (void*)at, (void*)spilled, sum);
}

static void gap(void) {
    char* array = lines_of_memory(LINES);

    anemone_op_begin(8);
    for (size_t i = 0; i < STEPS; i++)
        __asm__ __volatile__(".rept 1000\n\tnop\n\t.endr\n\tmovb (%0), %%al" ::"r"(array + i * LINE)
                             : "al", "memory");
    anemone_op_end();
}

static void* reads(void* number) {
    char* array = lines_of_memory(LINES);

    anemone_op_begin((uintptr_t)number);
    for (size_t i = 0; i < LINES; i++)
        *(volatile char*)(array + i * LINE);
    anemone_op_end();
    return NULL;
}

static void two_threads(void) {
    pthread_t threads[2];

    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, reads, (void*)(11 + i));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void sums(void) {
    uint64_t words[2] = {1, 2};

    __asm__ __volatile__("nopl 0x27e10002(%%rax)\n\t"
                         "movq (%0), %%rax\n\t"
                         "addq %%rax, 8(%0)\n\t"
                         "movups (%0), %%xmm3\n\t"
                         "leaq 8(%0,%%rax,2), %%rcx\n\t"
                         "xorl %%eax, %%eax\n\t"
                         "nopl 0x27e10002(%%rax)" ::"D"(words)
                         : "rax", "rcx", "xmm3", "memory", "cc");
}

static void large(void) {
    volatile char* array = malloc(2ul << 30);

    for (size_t i = 0; i < 1024; i++)
        array[i << 21] = 1;
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";

    if (!strcmp(mode, "lines"))
        each_line();
    else if (!strcmp(mode, "flow"))
        flow();
    else if (!strcmp(mode, "gap"))
        gap();
    else if (!strcmp(mode, "threads"))
        two_threads();
    else if (!strcmp(mode, "sums"))
        sums();
    else if (!strcmp(mode, "large"))
        large();
    else if (!strcmp(mode, "fail"))
        return 7;
    else if (!strcmp(mode, "crash"))
        *(volatile char*)8 = 1;
    else if (!strcmp(mode, "fork") && fork() == 0)
        each_line();
    else if (!strcmp(mode, "fork"))
        wait(NULL);
    if (!strcmp(mode, "spin")) {
        each_line();
        puts("spins");
        fflush(stdout);
        for (;;)
            each_line();
    }
    return 0;
}
