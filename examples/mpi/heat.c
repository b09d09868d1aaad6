// SPDX-License-Identifier: Apache-2.0
// Heat equation on a square, one tile per rank: in each step every cell becomes the mean of its
// four neighbours.
//
//     mpirun -n RANKS heat TILE STEPS message|ns|we [ROWS]
//
// TILE is the side of a tile in cells of 8 bytes. "message" sends all four edges. "ns" and "we"
// write the edges of two sides to shared memory, and the neighbours load them there. All three
// modes print the same sum, the seconds of all steps, and the seconds of a step in the first rank's
// shortest ten consecutive ones. ROWS is the number of rows of tiles (default: as square as
// possible).
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum side { NORTH, SOUTH, WEST, EAST, SIDES };
// A single step may find its neighbour's data already there. Of consecutive steps all but one must
// wait, so their mean is measured.
enum { IN_A_ROW = 10 };

static int n; // cells of a tile's side
static int neighbour[SIDES];
static double* tile[2];       // current and next values
static double* halo[SIDES];   // the neighbour's edge on that side
static bool shared[SIDES];    // the halo is in the neighbour's shared memory
static MPI_Datatype edges[2]; // a row, a column

static enum side opposite(enum side side) {
    return (enum side)(side ^ 1);
}

static double* edge(double* cells, enum side side) {
    if (side == SOUTH)
        return cells + (size_t)(n - 1) * (size_t)n;
    return side == EAST ? cells + n - 1 : cells;
}

static MPI_Datatype edge_type(enum side side) {
    return edges[side == WEST || side == EAST];
}

static void exchange(double* cells, MPI_Comm grid) {
    MPI_Request requests[2 * SIDES];
    int posted = 0;
    for (int s = 0; s < SIDES; s++)
        if (!shared[s])
            MPI_Irecv(halo[s], n, MPI_DOUBLE, neighbour[s], (int)opposite((enum side)s), grid,
                      &requests[posted++]);
    for (int s = 0; s < SIDES; s++)
        if (!shared[s])
            MPI_Isend(edge(cells, (enum side)s), 1, edge_type((enum side)s), neighbour[s], s, grid,
                      &requests[posted++]);
    MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
}

// The buffer of an edge in shared memory. Two buffers alternate, so one barrier per step is enough.
static double* buffer_of(double* segment, enum side side, int step) {
    return segment + ((size_t)side * 2 + (size_t)(step & 1)) * (size_t)n;
}

static void publish(double* cells, double* own, double** segments, int step, MPI_Win window,
                    MPI_Comm grid) {
    for (int s = 0; s < SIDES; s++) {
        const double* from = edge(cells, (enum side)s);
        const size_t stride = s == WEST || s == EAST ? (size_t)n : 1;
        double* to = buffer_of(own, (enum side)s, step);
        for (int i = 0; shared[s] && i < n; i++)
            to[i] = from[(size_t)i * stride];
    }
    MPI_Win_sync(window);
    MPI_Barrier(grid);
    MPI_Win_sync(window);
    for (int s = 0; s < SIDES; s++)
        if (shared[s] && neighbour[s] != MPI_PROC_NULL)
            halo[s] = buffer_of(segments[s], opposite((enum side)s), step);
}

static void relax(const double* now, double* next) {
    for (int y = 0; y < n; y++) {
        const double* row = now + (size_t)y * (size_t)n;
        const double* above = y ? row - n : halo[NORTH];
        const double* below = y < n - 1 ? row + n : halo[SOUTH];
        double* out = next + (size_t)y * (size_t)n;
        for (int x = 0; x < n; x++) {
            const double left = x ? row[x - 1] : halo[WEST][y];
            const double right = x < n - 1 ? row[x + 1] : halo[EAST][y];
            out[x] = 0.25 * (above[x] + below[x] + left + right);
        }
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks, rank, sides[2] = {0, 0}, steps = 0;
    const int periods[2] = {0, 0};
    if (argc == 5)
        sides[0] = atoi(argv[4]);
    n = argc == 4 || argc == 5 ? atoi(argv[1]) : 0;
    steps = n ? atoi(argv[2]) : 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (n < 1 || steps < 1 || sides[0] < 0 || (sides[0] && ranks % sides[0]) ||
        (strcmp(argv[3], "message") && strcmp(argv[3], "ns") && strcmp(argv[3], "we"))) {
        fprintf(stderr, "heat: TILE STEPS message|ns|we [ROWS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    shared[NORTH] = shared[SOUTH] = !strcmp(argv[3], "ns");
    shared[WEST] = shared[EAST] = !strcmp(argv[3], "we");
    MPI_Comm grid;
    MPI_Dims_create(ranks, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_shift(grid, 0, 1, &neighbour[NORTH], &neighbour[SOUTH]);
    MPI_Cart_shift(grid, 1, 1, &neighbour[WEST], &neighbour[EAST]);
    MPI_Type_contiguous(n, MPI_DOUBLE, &edges[0]);
    MPI_Type_vector(n, 1, n, MPI_DOUBLE, &edges[1]);
    MPI_Type_commit(&edges[0]);
    MPI_Type_commit(&edges[1]);

    const size_t cells = (size_t)n * (size_t)n;
    for (int i = 0; i < 2; i++)
        tile[i] = calloc(cells, sizeof(double));
    for (int s = 0; s < SIDES; s++)
        halo[s] = calloc((size_t)n, sizeof(double));
    for (size_t i = 0; i < cells; i++)
        tile[0][i] = (double)((i * 7 + (size_t)rank * 13) % 100);

    MPI_Win window = MPI_WIN_NULL;
    double *own = NULL, *segments[SIDES] = {0};
    const bool any = shared[NORTH] || shared[WEST];
    if (any) {
        MPI_Win_allocate_shared((MPI_Aint)(SIDES * 2 * (size_t)n * sizeof(double)), sizeof(double),
                                MPI_INFO_NULL, grid, &own, &window);
        for (int s = 0; s < SIDES; s++) {
            MPI_Aint bytes;
            int unit;
            if (shared[s] && neighbour[s] != MPI_PROC_NULL)
                MPI_Win_shared_query(window, neighbour[s], &bytes, &unit, &segments[s]);
        }
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    }
    const double begin = MPI_Wtime();
    double ends[IN_A_ROW] = {0}, end = begin, shortest = 0;
    for (int step = 0; step < steps; step++) {
        double* now = tile[step & 1];
        if (any)
            publish(now, own, segments, step, window, grid);
        exchange(now, grid);
        relax(now, tile[1 - (step & 1)]);
        end = MPI_Wtime();
        const double row = end - ends[step % IN_A_ROW];
        if (step == IN_A_ROW || (step > IN_A_ROW && row < shortest))
            shortest = row;
        ends[step % IN_A_ROW] = end;
    }
    double sum = 0, total = 0;
    for (size_t i = 0; i < cells; i++)
        sum += tile[steps & 1][i];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    if (rank == 0)
        printf("sum %.9e seconds %.6f shortest %.9f\n", total, end - begin,
               steps > IN_A_ROW ? shortest / IN_A_ROW : (end - begin) / steps);
    if (any) {
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
    for (int i = 0; i < 2; i++)
        MPI_Type_free(&edges[i]);
    MPI_Finalize();
    return 0;
}
