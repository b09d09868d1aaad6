// SPDX-License-Identifier: Apache-2.0
// A rank's trace of its MPI receives: the file format, and the declarations that the tracer's files
// share. docs/message-free.md documents the format; anemone/models/msgfree/folder.py reads it.
#ifndef ANEMONE_MPI_TRACE_H
#define ANEMONE_MPI_TRACE_H

#include "marks.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum kind {
    RECV,
    IRECV,
    SENDRECV,
    SENDRECV_REPLACE,
    PERSISTENT,
    MRECV,
    IMRECV,
    ISENDRECV,
    ISENDRECV_REPLACE,
    PARTITIONED,
    PROBED, // not a receive: a message between Mprobe and Mrecv
};

enum flag {
    CANCELLED = 1,  // no message came
    FREED = 2,      // Request_free came before completion was seen; size and source unknown
    FAILED = 4,     // MPI returned an error
    ANY_SOURCE = 8, // posted with MPI_ANY_SOURCE
    ANY_TAG = 16,   // posted with MPI_ANY_TAG
    AS_POSTED = 32, // MPI did not return source, tag and size: they are the posted values
};

// One receive, written at its completion. Times are CLOCK_MONOTONIC, ns.
struct record {
    int64_t posted_ns; // begin of the posting call
    int64_t waited_ns; // begin of the completing call; for a blocking receive, posted_ns
    int64_t done_ns;   // end of the completing call
    uint64_t site;     // return address of the posting call (persistent: of Recv_init)
    uint64_t done_site;
    uint64_t buffer;      // first byte
    uint64_t span;        // bytes from the first to the last byte of the posted buffer
    uint64_t bytes;       // received bytes
    uint64_t posted;      // data bytes that the posted buffer can hold
    uint64_t elements;    // received basic elements
    int32_t source;       // rank in MPI_COMM_WORLD; -1: unknown
    int32_t local_source; // rank in the communicator
    int32_t tag;
    uint32_t comm; // id in the rank's .names file; 0: unknown
    uint32_t type; // id there of a datatype with gaps; 0: the data are `bytes` bytes at `buffer`
    uint16_t kind;
    uint16_t flags;
};
_Static_assert(sizeof(struct record) == 104, "record");

enum { HEADER_BYTES = 4096, COUNTERS = 96 };

struct counter {
    char name[24];
    uint64_t calls;
};

struct header {
    char magic[8]; // "ANEMPI1\n"
    uint32_t header_bytes;
    uint32_t record_bytes;
    int32_t rank;
    int32_t ranks;
    uint32_t pid;
    uint32_t finalized;
    uint64_t records;
    uint64_t posted; // posted receives; the excess over `records` was incomplete at the end
    uint64_t lost;   // receives that could not be written
    int64_t begin_ns;
    int64_t end_ns;
    int64_t epoch_ns; // CLOCK_REALTIME at begin_ns
    char host[64];
    char library[64];
    uint64_t world;                       // 0: started by the launcher; else by MPI_Comm_spawn
    struct counter collectives[COUNTERS]; // an empty name: never called
};
_Static_assert(sizeof(struct header) <= HEADER_BYTES, "header");

// A receive that is posted and not complete.
struct communicator;
struct pending {
    struct pending* next; // in its hash bucket
    uint64_t key;         // the request
    uint64_t order;       // sequence number of keep()
    const struct communicator* comm;
    uint64_t item_bytes, item_elements; // of the datatype
    int32_t source, tag;                // as posted
    bool persistent;
    bool active;
    struct record record;
};

// The current MPI call.
struct call {
    uint64_t site;
    int64_t begin_ns;
};
#define CALL                                                                                       \
    INSIDE;                                                                                        \
    const struct call call = {                                                                     \
        fortran_site ? fortran_site : (uint64_t)(uintptr_t)__builtin_return_address(0), now_ns()}

// Marks the thread as inside MPI until the end of the function.
#define INSIDE const int inside __attribute__((cleanup(leave), unused)) = enter()
static inline int enter(void) {
    MARK_ENTERS();
    return 0;
}
void leave(const int* inside);

// The Fortran bindings of Open MPI, and MPICH's for the module mpi_f08, call PMPI_Recv and not
// MPI_Recv. So PMPI_ALIAS gives a function of the tracer the second name, and
// NEXT finds MPI's function.
#define PMPI_ALIAS(wrapper) PMPI_ALIAS_(wrapper)
#define PMPI_ALIAS_(wrapper) extern __typeof__(wrapper) P##wrapper __attribute__((alias(#wrapper)));
#define NEXT(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&name) next_;                                                            \
        if (!next_)                                                                                \
            next_ = (__typeof__(next_))next_symbol(#name);                                         \
        next_;                                                                                     \
    })

// bindings.c
extern _Thread_local uint64_t fortran_site __attribute__((tls_model("initial-exec")));
void* next_symbol(const char* name); // the function that the tracer's hides
void find_library(void);
bool within_library(uint64_t address); // true: MPI's own code makes the call

// file.c
extern bool tracing; // from Init to Finalize
int64_t now_ns(void);
void open_trace(void);
void close_trace(void);
void count_posted(void);
void write_record(const struct record* record);
void write_name(const char* line);
void count_collective(unsigned slot, const char* name, uint64_t site);

// names.c: name_site and named_communicator write a line to .names at the first use
void name_site(uint64_t address);
const struct communicator* named_communicator(MPI_Comm comm);
void place_source(struct record* record, const struct communicator* comm);

// types.c: writes a line to .names at the first use
uint32_t know_type(MPI_Datatype type);

// pending.c
uint64_t key_of_request(MPI_Request request);
uint64_t key_of_message(MPI_Message message);
uint64_t kept(void); // sequence number of the last keep()
void keep(uint64_t key, const struct pending* what);
struct pending* look(uint64_t key, uint64_t before); // the newest with order <= before, or NULL
void drop(struct pending* pending);

// record.c
struct pending begin_receive(enum kind kind, const struct call* call, const void* buffer,
                             int64_t count, MPI_Datatype type, int source, int tag,
                             const struct communicator* comm);
void complete(struct pending* pending, const struct call* call, MPI_Status* status, int error);

#endif
