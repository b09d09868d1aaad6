// SPDX-License-Identifier: Apache-2.0
// Wrappers of the collectives. They only count calls, because the model does not cover the data.
#include "trace.h"

#define OPEN(...) __VA_ARGS__
#define COUNTED(wrapper, next, parameters, arguments)                                              \
    int wrapper parameters {                                                                       \
        INSIDE;                                                                                    \
        count_collective(__COUNTER__, __func__, (uint64_t)(uintptr_t)__builtin_return_address(0)); \
        return NEXT(next) arguments;                                                               \
    }                                                                                              \
    PMPI_ALIAS(wrapper)
#define BOTH(name, immediate, parameters, arguments)                                               \
    COUNTED(WRAPPER(name), REAL(name), (OPEN parameters, MPI_Comm comm), (OPEN arguments, comm))   \
    COUNTED(WRAPPER(immediate), REAL(immediate),                                                   \
            (OPEN parameters, MPI_Comm comm, MPI_Request * request),                               \
            (OPEN arguments, comm, request))

COUNTED(MPI_Barrier, PMPI_Barrier, (MPI_Comm comm), (comm))
COUNTED(MPI_Ibarrier, PMPI_Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))

#define COUNT int
#define PLACE int
#define WRAPPER(name) MPI_##name
#define REAL(name) PMPI_##name
#include "collectives.inc"
#if MPI_VERSION >= 4
#undef COUNT
#undef PLACE
#undef WRAPPER
#undef REAL
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define WRAPPER(name) MPI_##name##_c
#define REAL(name) PMPI_##name##_c
#include "collectives.inc"
#endif

_Static_assert(__COUNTER__ <= COUNTERS, "the header has a counter for each");
