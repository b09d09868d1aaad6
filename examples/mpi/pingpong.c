// SPDX-License-Identifier: Apache-2.0
// Latency and bandwidth of MPI between the first and the last rank, as in osu_latency and osu_bw:
// half of a round trip of 8 bytes; large messages, WINDOW of them at a time.
//
//     mpirun -n RANKS pingpong [BATCHES]
//
// Prints the best latency of all batches (100) and the best bandwidth of all sizes, because other
// load on the machine can only make results worse.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIPS = 10, WINDOW = 16, SMALLEST = 1 << 16, LARGEST = 1 << 22, ANSWER = 8 };

static int rank, other;
static char* data[WINDOW];

static void send(int bytes) {
    MPI_Send(data[0], bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
}

static void receive(int bytes) {
    MPI_Recv(data[0], bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Seconds of one way.
static double latency(void) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < TRIPS; i++) {
        if (rank == 0)
            send(ANSWER);
        receive(ANSWER);
        if (rank != 0)
            send(ANSWER);
    }
    return (MPI_Wtime() - begin) / TRIPS / 2;
}

// Bytes per second of one window and its answer.
static double bandwidth(int bytes) {
    MPI_Request requests[WINDOW];
    const double begin = MPI_Wtime();
    for (int i = 0; i < WINDOW; i++) {
        if (rank == 0)
            MPI_Isend(data[i], bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(data[i], bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        receive(ANSWER);
    else
        send(ANSWER);
    return (double)bytes * WINDOW / (MPI_Wtime() - begin);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks;
    const int batches = argc == 2 ? atoi(argv[1]) : 100;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ranks < 2 || batches < 1 || argc > 2) {
        fprintf(stderr, "pingpong: [BATCHES], with 2 ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0 || rank == ranks - 1) {
        other = rank ? 0 : ranks - 1;
        for (int i = 0; i < WINDOW; i++)
            data[i] = calloc(LARGEST, 1);
        double shortest = latency(), best = 0;
        for (int i = 0; i < batches; i++) {
            const double now = latency();
            shortest = now < shortest ? now : shortest;
        }
        for (int bytes = SMALLEST; bytes <= LARGEST; bytes *= 4) {
            bandwidth(bytes);
            for (int i = 0; i < 1 + batches / 10; i++) {
                const double now = bandwidth(bytes);
                best = now > best ? now : best;
            }
        }
        if (rank == 0)
            printf("latency_ns %.1f gb_per_s %.4f\n", shortest * 1e9, best * 1e-9);
    }
    MPI_Finalize();
    return 0;
}
