// SPDX-License-Identifier: Apache-2.0
// Conjugate gradient on the 7-point Laplacian of a cuboid, like HPCG: a sparse matrix in rows with
// column indices, and a vector that ends with the neighbours' values. Messages are received
// directly into the end of the vector. Shared CXL memory cannot be part of the vector, so data
// there must be unpacked.
//
//     mpirun -n RANKS cg SIDE ITERATIONS [message|shared]
//
// Each rank has SIDE^3 rows. With "shared" a rank writes its faces to shared memory and the
// neighbours unpack them, without messages. Both modes print the same relative residual, the
// seconds of all iterations, and the seconds of an iteration in the first rank's shortest ten
// consecutive ones.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACES = 6, ROW = 7 };
// A single iteration may find its neighbour's data already there. Of consecutive iterations all but
// one must wait, so their mean is measured.
enum { IN_A_ROW = 10 };

static int side;
static size_t rows, face; // rows of a rank, and of one of its faces
static int neighbour[FACES];
static int* columns; // [rows][ROW], -1: none
static double* values;
static double* out[FACES];
static MPI_Comm grid;
static bool shared;                // use shared memory instead of messages
static MPI_Win window;             // the shared memory
static double *own, *other[FACES]; // this rank's segment of it, and the neighbours'

// The row of the i-th cell of a face. which: 0, 1 for x; 2, 3 for y; 4, 5 for z; low, then high.
static size_t on_face(int which, size_t i) {
    const size_t n = (size_t)side, a = i % n, b = i / n, end = which & 1 ? n - 1 : 0;
    const size_t x = which / 2 == 0 ? end : a;
    const size_t y = which / 2 == 1 ? end : which / 2 == 0 ? a : b;
    const size_t z = which / 2 == 2 ? end : b;
    return (z * n + y) * n + x;
}

static void make_matrix(void) {
    columns = malloc(rows * ROW * sizeof *columns);
    values = malloc(rows * ROW * sizeof *values);
    const size_t steps[3] = {1, (size_t)side, (size_t)side * (size_t)side};
    for (size_t i = 0; i < rows; i++) {
        const size_t at[3] = {i % steps[1], i / steps[1] % (size_t)side, i / steps[2]};
        for (int f = 0; f < FACES; f++) {
            const size_t edge = f & 1 ? (size_t)side - 1 : 0;
            columns[i * ROW + (size_t)f] =
                at[f / 2] == edge ? -1 : (int)(f & 1 ? i + steps[f / 2] : i - steps[f / 2]);
            values[i * ROW + (size_t)f] = -1;
        }
        columns[i * ROW + FACES] = (int)i;
        values[i * ROW + FACES] = 6.5;
    }
    for (int f = 0; f < FACES; f++)
        for (size_t i = 0; neighbour[f] != MPI_PROC_NULL && i < face; i++)
            columns[on_face(f, i) * ROW + (size_t)f] = (int)(rows + (size_t)f * face + i);
}

static void pack(const double* x, int f, double* to) {
    for (size_t i = 0; i < face; i++)
        to[i] = x[on_face(f, i)];
}

static void send_and_receive(double* x) {
    MPI_Request requests[FACES];
    for (int f = 0; f < FACES; f++)
        MPI_Irecv(x + rows + (size_t)f * face, (int)face, MPI_DOUBLE, neighbour[f], f ^ 1, grid,
                  &requests[f]);
    for (int f = 0; f < FACES; f++) {
        pack(x, f, out[f]);
        MPI_Send(out[f], (int)face, MPI_DOUBLE, neighbour[f], f, grid);
    }
    for (int f = 0; f < FACES; f++)
        MPI_Wait(&requests[f], MPI_STATUS_IGNORE);
}

// The buffer of a face in shared memory. Two buffers alternate, so one barrier per iteration is
// enough.
static double* buffer_of(double* segment, int f, int iteration) {
    return segment + ((size_t)f * 2 + (size_t)(iteration & 1)) * face;
}

static void publish_and_unpack(double* x, int iteration) {
    for (int f = 0; f < FACES; f++)
        if (neighbour[f] != MPI_PROC_NULL)
            pack(x, f, buffer_of(own, f, iteration));
    MPI_Win_sync(window);
    MPI_Barrier(grid);
    MPI_Win_sync(window);
    for (int f = 0; f < FACES; f++)
        if (neighbour[f] != MPI_PROC_NULL)
            memcpy(x + rows + (size_t)f * face, buffer_of(other[f], f ^ 1, iteration),
                   face * sizeof *x);
}

static void share(void) {
    const size_t bytes = (size_t)FACES * 2 * face * sizeof(double);
    MPI_Win_allocate_shared((MPI_Aint)bytes, sizeof(double), MPI_INFO_NULL, grid, &own, &window);
    for (int f = 0; f < FACES; f++) {
        MPI_Aint size;
        int unit;
        if (neighbour[f] != MPI_PROC_NULL)
            MPI_Win_shared_query(window, neighbour[f], &size, &unit, &other[f]);
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
}

static void multiply(double* x, double* y, int iteration) {
    if (shared)
        publish_and_unpack(x, iteration);
    else
        send_and_receive(x);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t k = i * ROW; k < (i + 1) * ROW; k++)
            if (columns[k] >= 0)
                sum += values[k] * x[columns[k]];
        y[i] = sum;
    }
}

static double dot(const double* x, const double* y) {
    double sum = 0, total;
    for (size_t i = 0; i < rows; i++)
        sum += x[i] * y[i];
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, grid);
    return total;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks, rank, sides[3] = {0, 0, 0};
    const int periods[3] = {0, 0, 0};
    side = argc == 3 || argc == 4 ? atoi(argv[1]) : 0;
    const int iterations = side ? atoi(argv[2]) : 0;
    shared = argc == 4 && !strcmp(argv[3], "shared");
    if (side < 1 || iterations < 1 || (argc == 4 && !shared && strcmp(argv[3], "message"))) {
        fprintf(stderr, "cg: SIDE ITERATIONS [message|shared]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 3, sides, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    for (int d = 0; d < 3; d++)
        MPI_Cart_shift(grid, d, 1, &neighbour[2 * d], &neighbour[2 * d + 1]);
    face = (size_t)side * (size_t)side;
    rows = face * (size_t)side;
    make_matrix();
    for (int f = 0; f < FACES; f++)
        out[f] = malloc(face * sizeof(double));
    double* solution = calloc(rows, sizeof(double));
    double* residual = malloc(rows * sizeof(double));
    double* direction = calloc(rows + FACES * face, sizeof(double));
    double* product = malloc(rows * sizeof(double));
    for (size_t i = 0; i < rows; i++)
        residual[i] = direction[i] = 1;
    if (shared)
        share();

    const double begin = MPI_Wtime(), first = dot(residual, residual);
    double left = first, ends[IN_A_ROW] = {0}, end = begin, shortest = 0;
    for (int k = 0; k < iterations; k++) {
        multiply(direction, product, k);
        const double alpha = left / dot(direction, product);
        for (size_t i = 0; i < rows; i++) {
            solution[i] += alpha * direction[i];
            residual[i] -= alpha * product[i];
        }
        const double now = dot(residual, residual);
        for (size_t i = 0; i < rows; i++)
            direction[i] = residual[i] + now / left * direction[i];
        left = now;
        end = MPI_Wtime();
        const double row = end - ends[k % IN_A_ROW];
        if (k == IN_A_ROW || (k > IN_A_ROW && row < shortest))
            shortest = row;
        ends[k % IN_A_ROW] = end;
    }
    if (rank == 0)
        printf("residual %.6e seconds %.6f shortest %.9f\n", left / first, end - begin,
               iterations > IN_A_ROW ? shortest / IN_A_ROW : (end - begin) / iterations);
    if (shared) {
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
    MPI_Finalize();
    return 0;
}
