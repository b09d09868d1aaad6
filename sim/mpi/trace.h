// SPDX-License-Identifier: Apache-2.0
// A rank's trace of its MPI receives: what the files hold, and what the tracer's parts share.
// The format is documented in docs/message-free.md and read by anemone/models/msgfree/folder.py.
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
    FREED = 2,      // by Request_free before it was seen to be complete; size and source unknown
    FAILED = 4,     // MPI returned an error
    ANY_SOURCE = 8, // as it was posted
    ANY_TAG = 16,
    AS_POSTED = 32, // MPI did not tell source, tag and size: they are as posted
};

// One receive, written when it is complete. Times are CLOCK_MONOTONIC, ns.
struct record {
    int64_t posted_ns; // the posting call begins
    int64_t waited_ns; // the call that saw it complete begins; of a blocking one, posted_ns
    int64_t done_ns;   // that call ends
    uint64_t site;     // return address of the posting call (of Recv_init where persistent)
    uint64_t done_site;
    uint64_t buffer;      // first byte
    uint64_t span;        // bytes from the first to the last that was posted
    uint64_t bytes;       // received
    uint64_t posted;      // bytes that would have fitted
    uint64_t elements;    // received, of basic datatypes
    int32_t source;       // rank in MPI_COMM_WORLD; -1: unknown
    int32_t local_source; // rank in the communicator
    int32_t tag;
    uint32_t comm; // its id in the rank's .names file; 0: unknown
    uint32_t type; // so, of a datatype that leaves gaps; 0: the data are `bytes` from `buffer` on
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
    uint64_t posted; // receives that were posted; above records: those under way at the end
    uint64_t lost;   // receives that could not be written
    int64_t begin_ns;
    int64_t end_ns;
    int64_t epoch_ns; // CLOCK_REALTIME at begin_ns
    char host[64];
    char library[64];
    uint64_t world;                       // 0: the launcher's; others by MPI_Comm_spawn
    struct counter collectives[COUNTERS]; // those that were called
};
_Static_assert(sizeof(struct header) <= HEADER_BYTES, "header");

// A receive that is posted and not complete.
struct communicator;
struct pending {
    struct pending* next; // in its bucket
    uint64_t key;         // the request
    uint64_t order;       // in which they were kept
    const struct communicator* comm;
    uint64_t item_bytes, item_elements; // of the datatype
    int32_t source, tag;                // as posted
    bool persistent;
    bool active;
    struct record record;
};

// Of a call of MPI that is being traced.
struct call {
    uint64_t site;
    int64_t begin_ns;
};
#define CALL                                                                                       \
    INSIDE;                                                                                        \
    const struct call call = {                                                                     \
        fortran_site ? fortran_site : (uint64_t)(uintptr_t)__builtin_return_address(0), now_ns()}

// From here to the end of the function the thread is inside of MPI.
#define INSIDE const int inside __attribute__((cleanup(leave), unused)) = enter()
static inline int enter(void) {
    MARK_ENTERS();
    return 0;
}
void leave(const int* inside);

// The Fortran bindings of Open MPI, and those of MPICH for the module mpi_f08, call PMPI_Recv and
// not MPI_Recv: the tracer's functions have both names, and ask for MPI's own.
#define ALSO(mine) ALSO_(mine)
#define ALSO_(mine) extern __typeof__(mine) P##mine __attribute__((alias(#mine)));
#define OWN(name)                                                                                  \
    ({                                                                                             \
        static __typeof__(&name) own_;                                                             \
        if (!own_)                                                                                 \
            own_ = (__typeof__(own_))behind(#name);                                                \
        own_;                                                                                      \
    })

// bindings.c
extern _Thread_local uint64_t fortran_site __attribute__((tls_model("initial-exec")));
void* behind(const char* name); // what the tracer's function of this name hides
void know_library(void);
bool within_library(uint64_t address); // of MPI itself, which uses its own functions

// file.c
extern bool tracing; // from Init to Finalize
int64_t now_ns(void);
void open_trace(void);
void close_trace(void);
void count_posted(void);
void write_record(const struct record* record);
void write_name(const char* line);
void count_collective(unsigned slot, const char* name, uint64_t site);

// names.c: both write a line to .names the first time
void know_site(uint64_t address);
const struct communicator* know_communicator(MPI_Comm comm);
void place_source(struct record* record, const struct communicator* comm);

// types.c: writes a line to .names the first time
uint32_t know_type(MPI_Datatype type);

// pending.c
uint64_t key_of_request(MPI_Request request);
uint64_t key_of_message(MPI_Message message);
uint64_t kept(void); // how many were so far
void keep(uint64_t key, const struct pending* what);
struct pending* look(uint64_t key, uint64_t before); // of those that were kept by then; NULL: none
void drop(struct pending* pending);

// record.c
struct pending begin_receive(enum kind kind, const struct call* call, const void* buffer,
                             int64_t count, MPI_Datatype type, int source, int tag,
                             const struct communicator* comm);
void complete(struct pending* pending, const struct call* call, MPI_Status* status, int error);

#endif
