// SPDX-License-Identifier: Apache-2.0
// Calls that are not recorded but may wait or copy. They are wrapped because a capture of the
// program's loads must know when a thread is inside MPI.
#include "trace.h"

#define PASSED(name, parameters, arguments)                                                        \
    int MPI_##name parameters {                                                                    \
        INSIDE;                                                                                    \
        return NEXT(PMPI_##name) arguments;                                                        \
    }                                                                                              \
    PMPI_ALIAS(MPI_##name)
#define SENT(name, count)                                                                          \
    PASSED(name, (const void* data, count n, MPI_Datatype type, int to, int tag, MPI_Comm comm),   \
           (data, n, type, to, tag, comm))
#define SENT_AT_ONCE(name, count)                                                                  \
    PASSED(name,                                                                                   \
           (const void* data, count n, MPI_Datatype type, int to, int tag, MPI_Comm comm,          \
            MPI_Request* request),                                                                 \
           (data, n, type, to, tag, comm, request))

SENT(Send, int)
SENT(Ssend, int)
SENT(Rsend, int)
SENT(Bsend, int)
SENT_AT_ONCE(Isend, int)
SENT_AT_ONCE(Issend, int)
SENT_AT_ONCE(Irsend, int)
SENT_AT_ONCE(Ibsend, int)
#if MPI_VERSION >= 4
SENT(Send_c, MPI_Count)
SENT(Ssend_c, MPI_Count)
SENT(Rsend_c, MPI_Count)
SENT(Bsend_c, MPI_Count)
SENT_AT_ONCE(Isend_c, MPI_Count)
SENT_AT_ONCE(Issend_c, MPI_Count)
SENT_AT_ONCE(Irsend_c, MPI_Count)
SENT_AT_ONCE(Ibsend_c, MPI_Count)
#endif

PASSED(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status), (source, tag, comm, status))
PASSED(Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status),
       (source, tag, comm, flag, status))
