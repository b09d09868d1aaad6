// SPDX-License-Identifier: Apache-2.0
// Difficult receives for a tracer, identified by their tags. A rank sends to itself.
//
//     corners types|ends|sites|spawn
//     corners REQUESTS Testany|Testall|Testsome|Waitany|Waitsome...
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 4000 };

static double in[512], out[512];
static MPI_Request requests[MANY + 1];
static char small[MANY];

// Sends `packed` bytes to itself; the receive is posted for `count` items of the type.
static void exchange(int tag, int count, MPI_Datatype type, int packed) {
    MPI_Type_commit(&type);
    MPI_Sendrecv(out, packed, MPI_BYTE, 0, tag, in, count, type, 0, tag, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    // For the test: a digit for each byte, 1 if it was received.
    printf("%d ", tag);
    for (size_t i = 0; i < sizeof in; i++)
        putchar(((char*)in)[i] ? '1' : '0');
    putchar('\n');
    memset(in, 0, sizeof in);
    MPI_Type_free(&type);
}

static void types(void) {
    MPI_Datatype type, inner;
    memset(out, 0xff, sizeof out);
    MPI_Type_contiguous(64, MPI_DOUBLE, &type);
    exchange(1, 1, type, 512);
    MPI_Type_vector(10, 2, 8, MPI_DOUBLE, &type);
    exchange(2, 1, type, 160);
    MPI_Type_vector(10, 1, 8, MPI_FLOAT, &inner);
    MPI_Type_create_resized(inner, 0, 4, &type); // adjacent columns
    MPI_Type_free(&inner);
    exchange(3, 3, type, 120);
    MPI_Type_indexed(3, (int[]){1, 3, 2}, (int[]){9, 2, 20}, MPI_INT, &type);
    exchange(4, 2, type, 48);
    MPI_Type_create_hindexed(2, (int[]){2, 1}, (MPI_Aint[]){40, 4}, MPI_SHORT, &inner);
    MPI_Type_create_hvector(3, 2, 100, inner, &type);
    MPI_Type_free(&inner);
    exchange(5, 1, type, 36);
    MPI_Type_create_struct(3, (int[]){1, 2, 1}, (MPI_Aint[]){0, 8, 32},
                           (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_INT}, &type);
    exchange(6, 2, type, 42);
    for (int i = 0; i < 2; i++) {
        MPI_Type_create_subarray(3, (int[]){4, 5, 6}, (int[]){2, 3, 4}, (int[]){1, 1, 2},
                                 i ? MPI_ORDER_FORTRAN : MPI_ORDER_C, MPI_FLOAT, &type);
        exchange(7 + i, 1, type, 96);
    }
    MPI_Type_create_indexed_block(3, 2, (int[]){7, 0, 12}, MPI_INT, &inner);
    MPI_Type_dup(inner, &type);
    MPI_Type_free(&inner);
    exchange(9, 3, type, 52); // the receive is posted for 72 bytes
    MPI_Type_create_hindexed_block(2, 3, (MPI_Aint[]){64, 8}, MPI_SHORT, &type);
    exchange(10, 1, type, 12);
    MPI_Type_vector(5, 1, 4, MPI_DOUBLE, &type);
    exchange(11, 4, type, 40); // one item of four
    for (int i = 0; i < 3; i++) {
        MPI_Type_vector(5, 1, 4, MPI_DOUBLE, &type); // the same again
        exchange(12, 1, type, 40);
    }
    MPI_Recv(in, 0, MPI_DOUBLE_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 8, MPI_DOUBLE, 0, 13, in, 512, MPI_DOUBLE, 0, 13, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
}

static void ends(void) {
    MPI_Request request;
    MPI_Recv_init(in, 8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        if (i)
            MPI_Cancel(&request);
        else
            MPI_Send(out, 8, MPI_BYTE, 0, 21, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    // A call that fails as a whole has completed no request.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(in, 8, MPI_BYTE, 0, 22, MPI_COMM_SELF, &requests[0]);
    memset(&requests[1], 0, sizeof requests[1]); // no valid request in either MPI
    if (MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS)
        exit(5);
    MPI_Send(out, 8, MPI_BYTE, 0, 22, MPI_COMM_SELF);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(in, 8, MPI_BYTE, 0, 23, MPI_COMM_SELF, &request); // never sent
}

// 4096 call sites, each used twice. Without optimisation, because GCC takes minutes at -O2.
__attribute__((optimize("O0"))) static void site(int turns) {
#define ONE                                                                                        \
    MPI_Sendrecv(out, 8, MPI_BYTE, 0, 41, in, 8, MPI_BYTE, 0, 41, MPI_COMM_SELF, MPI_STATUS_IGNORE);
#define EIGHT(what) what what what what what what what what
    for (int i = 0; i < turns; i++) {
        EIGHT(EIGHT(EIGHT(EIGHT(ONE))))
    }
}

static void spawn(char* self) {
    MPI_Comm parent, children[2];
    MPI_Comm_get_parent(&parent);
    int rank, value = 0;
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Recv(&value, 1, MPI_INT, 0, 31, parent, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&value, 1, MPI_INT, 1 - rank, 32, in, 1, MPI_INT, 1 - rank, 32, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&parent);
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (MPI_Comm_spawn(self, (char*[]){"spawn", NULL}, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                           &children[i], MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
            exit(77);
        for (rank = 0; rank < 2; rank++)
            MPI_Send(&value, 1, MPI_INT, rank, 31, children[i]);
    }
    for (int i = 0; i < 2; i++)
        MPI_Comm_disconnect(&children[i]);
}

// The shortest mean time in ns of a call on so many requests, of which at most one is complete.
static void asked(const char* call, int count) {
    double least = 1e9;
    int index, flag, done;
    static int which[MANY];
    for (int i = 0; i < count; i++)
        MPI_Irecv(&small[i], 1, MPI_BYTE, 0, i, MPI_COMM_SELF, &requests[i]);
    for (int batch = 0; batch < 200; batch++) {
        const double begin = MPI_Wtime();
        for (int i = 0; i < 20; i++) {
            if (!strcmp(call, "Testany")) {
                MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
            } else if (!strcmp(call, "Testall")) {
                MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
            } else if (!strcmp(call, "Testsome")) {
                MPI_Testsome(count, requests, &done, which, MPI_STATUSES_IGNORE);
            } else {
                MPI_Send(out, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF);
                if (!strcmp(call, "Waitany"))
                    MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
                else
                    MPI_Waitsome(count, requests, &done, which, MPI_STATUSES_IGNORE);
                MPI_Irecv(small, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[0]);
            }
        }
        const double took = (MPI_Wtime() - begin) * 1e9 / 20;
        least = took < least ? took : least;
    }
    printf("%s %.0f\n", call, least);
    for (int i = 0; i < count; i++)
        MPI_Send(out, 1, MPI_BYTE, 0, i, MPI_COMM_SELF);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const char* what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "types"))
        types();
    else if (!strcmp(what, "ends"))
        ends();
    else if (!strcmp(what, "sites"))
        site(2);
    else if (!strcmp(what, "spawn"))
        spawn(argv[0]);
    else
        for (int i = 2; i < argc; i++)
            asked(argv[i], atoi(what));
    MPI_Finalize();
    return 0;
}
