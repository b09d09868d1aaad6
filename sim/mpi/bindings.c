// SPDX-License-Identifier: Apache-2.0
// Finds out who calls MPI: a C program, a Fortran program, or MPI itself.
//
// A Fortran binding calls the C function, so the call site of each receive would be in the binding.
// The functions here replace those bindings that post a receive. They store the return address and
// call the binding. Fortran passes all arguments by address, so they are passed on unread.
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

// The call site in the Fortran program of the binding that this thread is in; 0: none.
_Thread_local uint64_t fortran_site;
static struct {
    uint64_t begin, end;
} library; // MPI's own code

void* next_symbol(const char* name) {
    void* found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "libanemone_mpi: %s: %s\n", name, dlerror());
        abort();
    }
    return found;
}

static int look_at(struct dl_phdr_info* info, size_t size, void* wanted) {
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)* part = &info->dlpi_phdr[i];
        const uint64_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        const uint64_t address = *(uint64_t*)wanted;
        if (part->p_type == PT_LOAD && begin <= address && address < end) {
            library.begin = begin;
            library.end = end;
            return 1;
        }
    }
    return 0;
}

void find_library(void) {
    uint64_t inside = (uint64_t)(uintptr_t)next_symbol("PMPI_Init");
    dl_iterate_phdr(look_at, &inside);
}

bool within_library(uint64_t address) {
    return library.begin <= address && address < library.end;
}

typedef void* at;
#define SIX (at a, at b, at c, at d, at e, at f), (a, b, c, d, e, f)
#define EIGHT (at a, at b, at c, at d, at e, at f, at g, at h), (a, b, c, d, e, f, g, h)
#define TEN                                                                                        \
    (at a, at b, at c, at d, at e, at f, at g, at h, at i, at j), (a, b, c, d, e, f, g, h, i, j)
#define THIRTEEN                                                                                   \
    (at a, at b, at c, at d, at e, at f, at g, at h, at i, at j, at k, at l, at m),                \
        (a, b, c, d, e, f, g, h, i, j, k, l, m)

#define NOTED(symbol, parameters, arguments)                                                       \
    void symbol parameters;                                                                        \
    void symbol parameters {                                                                       \
        static __typeof__(&symbol) next;                                                           \
        if (!next)                                                                                 \
            next = (__typeof__(next))next_symbol(#symbol);                                         \
        const uint64_t outer = fortran_site;                                                       \
        fortran_site = (uint64_t)(uintptr_t)__builtin_return_address(0);                           \
        next arguments;                                                                            \
        fortran_site = outer;                                                                      \
    }
#define NOTE(...) NOTED(__VA_ARGS__) // expands EIGHT into two arguments

// mpif.h and the module mpi use the first name, the module mpi_f08 the others.
#ifdef OPEN_MPI
#define FORTRAN(name, arguments)                                                                   \
    NOTE(mpi_##name##_, arguments)                                                                 \
    NOTE(mpi_##name##_f08_, arguments)
#else
#define FORTRAN(name, arguments)                                                                   \
    NOTE(mpi_##name##_, arguments)                                                                 \
    NOTE(mpi_##name##_f08ts_, arguments)                                                           \
    NOTE(mpi_##name##_f08ts_large_, arguments)
#endif

FORTRAN(recv, EIGHT)
FORTRAN(irecv, EIGHT)
FORTRAN(recv_init, EIGHT)
FORTRAN(sendrecv, THIRTEEN)
FORTRAN(sendrecv_replace, TEN)
FORTRAN(mrecv, SIX)
FORTRAN(imrecv, SIX)
#if MPI_VERSION >= 4
FORTRAN(isendrecv, THIRTEEN)
FORTRAN(isendrecv_replace, TEN)
FORTRAN(precv_init, TEN)
#endif
