// SPDX-License-Identifier: Apache-2.0
// Rank 1 sends, and rank 0 loads the received data, with counts and sources that test_modelled.py
// has by hand. It loads one line per page, so that no prefetcher sees a stream, and all of one set
// of the L1, which cannot hold them.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES = 64, PAGE = 512, FEW = 64 }; // doubles
enum { FAR = 24 << 20, NEAR = 2 << 20 };   // bytes: above a rank's L3 and L2; above its L2

static volatile double sink;
static char* other;

static void walk(size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64)
        sink = ((volatile char*)other)[i];
}

static void each_page(const volatile double* from) {
    for (int i = 0; i < PAGES; i++)
        sink = from[i * PAGE];
}

static void receive_and_load(double* large, double* few) {
    MPI_Recv(large, PAGES * PAGE, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // far
    MPI_Recv(few, FEW, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);            // few
    for (int again = 0; again < 3; again++)
        for (int i = 0; i < FEW; i++)
            sink = ((volatile double*)few)[i];
    walk(FAR);
    each_page(large); // memory
    each_page(large); // L2
    walk(NEAR);
    each_page(large);                                                                   // L3
    MPI_Recv(large, PAGES * PAGE, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // again
    walk(FAR);
    for (int i = 0; i < PAGES; i++) { // memory, and what is on its way
        sink = ((volatile double*)large)[i * PAGE];
        sink = ((volatile double*)large)[i * PAGE + 1];
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double* large = aligned_alloc(4096, PAGES * PAGE * sizeof(double));
    double* few = aligned_alloc(4096, FEW * sizeof(double));
    other = aligned_alloc(4096, FAR);
    memset(large, 0, PAGES * PAGE * sizeof(double));
    memset(few, 0, FEW * sizeof(double));
    memset(other, 0, FAR);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        receive_and_load(large, few);
    } else {
        MPI_Send(large, PAGES * PAGE, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        MPI_Send(few, FEW, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        MPI_Send(large, PAGES * PAGE, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
