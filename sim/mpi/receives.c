// SPDX-License-Identifier: Apache-2.0
// Wrappers of Init, Finalize, and the calls that post a receive. A receive from MPI_PROC_NULL is
// not traced, because it has no message.
#include "trace.h"

#include <string.h>

static bool traced(int source, const struct call* call) {
    return tracing && source != MPI_PROC_NULL && !within_library(call->site);
}

// MPI will refuse other arguments, and a query of such a handle returns nothing.
static bool possible(int64_t count, MPI_Datatype type) {
    return count >= 0 && type != MPI_DATATYPE_NULL;
}

// The receive of a message that Mprobe or Improbe has matched.
static struct pending matched(enum kind kind, const struct call* call, const void* buffer,
                              int64_t count, MPI_Datatype type, struct pending* probed) {
    struct pending receive =
        begin_receive(kind, call, buffer, count, type, probed->record.local_source,
                      probed->record.tag, probed->comm);
    receive.record.flags = probed->record.flags;
    drop(probed);
    return receive;
}

static void post(struct pending receive, MPI_Request request) {
    receive.active = true;
    count_posted();
    keep(key_of_request(request), &receive);
}

static void prepare(struct pending receive, MPI_Request request) {
    receive.persistent = true;
    keep(key_of_request(request), &receive);
}

#define COUNT int
#define WRAPPER(name) MPI_##name
#define REAL(name) NEXT(PMPI_##name)
#include "receives.inc"
#if MPI_VERSION >= 4
#undef COUNT
#undef WRAPPER
#undef REAL
#define COUNT MPI_Count
#define WRAPPER(name) MPI_##name##_c
#define REAL(name) NEXT(PMPI_##name##_c)
#include "receives.inc"

int MPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int source,
                   int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    CALL;
    const int error =
        NEXT(PMPI_Precv_init)(buffer, partitions, count, type, source, tag, comm, info, request);
    if (traced(source, &call) && error == MPI_SUCCESS)
        prepare(begin_receive(PARTITIONED, &call, buffer, partitions * count, type, source, tag,
                              named_communicator(comm)),
                *request);
    return error;
}
#endif

static void remember(MPI_Message message, int source, int tag, MPI_Comm comm,
                     const struct call* call) {
    if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC)
        return;
    const struct pending probed =
        begin_receive(PROBED, call, NULL, 0, MPI_BYTE, source, tag, named_communicator(comm));
    keep(key_of_message(message), &probed);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    CALL;
    const int error = NEXT(PMPI_Mprobe)(source, tag, comm, message, status);
    if (traced(source, &call) && error == MPI_SUCCESS)
        remember(*message, source, tag, comm, &call);
    return error;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
    CALL;
    const int error = NEXT(PMPI_Improbe)(source, tag, comm, flag, message, status);
    if (traced(source, &call) && error == MPI_SUCCESS && *flag)
        remember(*message, source, tag, comm, &call);
    return error;
}

int MPI_Init(int* argc, char*** argv) {
    const int error = NEXT(PMPI_Init)(argc, argv);
    if (error == MPI_SUCCESS)
        open_trace();
    return error;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const int error = NEXT(PMPI_Init_thread)(argc, argv, required, provided);
    if (error == MPI_SUCCESS)
        open_trace();
    return error;
}

int MPI_Finalize(void) {
    INSIDE;
    const int error = NEXT(PMPI_Finalize)();
    close_trace(); // where that did not come to it
    return error;
}

PMPI_ALIAS(MPI_Mprobe)
PMPI_ALIAS(MPI_Improbe)
PMPI_ALIAS(MPI_Init)
PMPI_ALIAS(MPI_Init_thread)
PMPI_ALIAS(MPI_Finalize)
