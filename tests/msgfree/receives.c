// SPDX-License-Identifier: Apache-2.0
// Every kind of receive, identified by its tag; at least two ranks, in pairs. The two ranks of a
// pair send each other the same messages.
//
//     receives all|abort|kill|overhead
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1000, MANY = 40 };

static int me, peer;
static char in[MANY][BYTES], out[BYTES];
static MPI_Comm world, pair;

static void send(int tag, int bytes) {
    MPI_Bsend(out, bytes, MPI_BYTE, peer, tag, world);
}
static void post(int tag, int bytes, MPI_Request* request) {
    MPI_Irecv(in[tag % MANY], bytes, MPI_BYTE, peer, tag, world, request);
}

static void blocking(void) {
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    send(1, 100);
    MPI_Recv(in[0], BYTES, MPI_BYTE, peer, 1, world, MPI_STATUS_IGNORE);
    send(2, 200);
    MPI_Recv(in[0], BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    MPI_Sendrecv(out, 300, MPI_BYTE, peer, 3, in[0], BYTES, MPI_BYTE, peer, 3, world, &status);
    MPI_Sendrecv_replace(in[0], 400, MPI_BYTE, peer, 4, peer, 4, world, MPI_STATUS_IGNORE);
    send(5, 500);
    MPI_Mprobe(peer, 5, world, &message, &status);
    MPI_Mrecv(in[0], BYTES, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    send(6, 600);
    while (!flag)
        MPI_Improbe(peer, 6, world, &flag, &message, &status);
    MPI_Imrecv(in[0], BYTES, MPI_BYTE, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(in[0], BYTES, MPI_BYTE, MPI_PROC_NULL, 7, world, MPI_STATUS_IGNORE);
    // A communicator of the pair with other ranks; freed before its last receive is complete.
    const int other = peer < me ? 0 : 1;
    post(8, 1, &request);
    MPI_Wait((send(8, 1), &request), MPI_STATUS_IGNORE);
    MPI_Irecv(in[0], BYTES, MPI_BYTE, other, 9, pair, &request);
    MPI_Bsend(out, 9, MPI_BYTE, other, 9, pair);
    MPI_Comm_free(&pair);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void tests(void) {
    MPI_Request requests[MANY];
    int flag = 0, index, which[MANY], done = 0, left = MANY;
    post(10, 10, requests);
    send(10, 10);
    while (!flag)
        MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++)
        post(11, 11, &requests[i]);
    for (int i = 0; i < MANY; i++)
        send(11, 11);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        post(12 + i, 12, &requests[i]);
    for (int i = 0; i < 3; i++)
        send(12 + i, 12);
    MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        post(15, 15, &requests[i]);
    for (int i = 0; i < MANY; i++)
        send(15, 15);
    MPI_Waitsome(MANY, requests, &done, which, MPI_STATUSES_IGNORE);
    for (left -= done; left; left -= done)
        MPI_Testsome(MANY, requests, &done, which, MPI_STATUSES_IGNORE);
}

static void persistent(void) {
    MPI_Request requests[2];
    MPI_Datatype column;
    MPI_Type_vector(10, 1, 5, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Recv_init(in[0], 1, column, peer, 16, world, &requests[0]);
    MPI_Send_init(out, 10, MPI_DOUBLE, peer, 16, world, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE); // inactive, so no receive
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&column);
    post(17, 17, requests); // never sent
    MPI_Cancel(requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    post(18, 18, requests);
    MPI_Request_free(requests);
    send(18, 18);
    MPI_Barrier(world);
#if MPI_VERSION >= 4
    MPI_Irecv_c(in[0], BYTES, MPI_BYTE, peer, 19, world, requests);
    send(19, 19);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Isendrecv(out, 20, MPI_BYTE, peer, 20, in[0], BYTES, MPI_BYTE, peer, 20, world, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Precv_init(in[0], 2, 30, MPI_BYTE, peer, 23, world, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, 2, 30, MPI_BYTE, peer, 23, world, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 1, requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}

static void* from_itself(void* tag) {
    MPI_Request request;
    for (int i = 0; i < 200; i++) {
        MPI_Irecv(in[0], 0, MPI_BYTE, me, *(int*)tag, world, &request);
        MPI_Send(out, 0, MPI_BYTE, me, *(int*)tag, world);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void threads(void) {
    int tags[2] = {21, 22};
    pthread_t other;
    pthread_create(&other, NULL, from_itself, &tags[0]);
    from_itself(&tags[1]);
    pthread_join(other, NULL);
}

// The shortest time of a message to itself, ns.
static void overhead(void) {
    double least = 1e9;
    for (int batch = 0; batch < 300; batch++) {
        const double begin = MPI_Wtime();
        for (int i = 0; i < 1000; i++)
            MPI_Sendrecv(out, 8, MPI_BYTE, me, 0, in[0], 8, MPI_BYTE, me, 0, world,
                         MPI_STATUS_IGNORE);
        const double took = (MPI_Wtime() - begin) * 1e6;
        least = took < least ? took : least;
    }
    printf("%.1f\n", least);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "all";
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &me);
    peer = me ^ 1;
    static char buffered[1 << 20];
    MPI_Buffer_attach(buffered, sizeof buffered);
    MPI_Comm_split(world, me / 2, me, &pair);
    if (!strcmp(what, "overhead")) {
        overhead();
    } else {
        blocking();
        tests();
        persistent();
        if (level == MPI_THREAD_MULTIPLE)
            threads();
    }
    MPI_Barrier(world);
    if (me == 0 && !strcmp(what, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(what, "kill"))
        raise(SIGKILL);
    if (!strcmp(what, "abort"))
        MPI_Barrier(world);
    MPI_Finalize();
    return 0;
}
