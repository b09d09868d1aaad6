// SPDX-License-Identifier: Apache-2.0
// Programs that a tracer may break, or whose receives it may lose: a rank sends to itself, and tags
// identify receives. Prints what the program sees, which must be the same under the tracer.
//
//     hostile many|refused|status|late|gaps|huge|truncated|forked|threads|helped|bare
#define _GNU_SOURCE
#include <mpi.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 1000, BYTES = 1 << 20 };
static const MPI_Comm self = MPI_COMM_SELF;
static char in[BYTES], out[BYTES];

static void exchange(int tag, int bytes, int count, MPI_Datatype type) {
    MPI_Sendrecv(out, bytes, MPI_BYTE, 0, tag, in, count, type, 0, tag, self, MPI_STATUS_IGNORE);
}

// More requests than fit the tracer's stack, with statuses ignored.
static void many(void) {
    MPI_Request requests[2 * MANY];
    int done, came = 0;
    static int which[2 * MANY];
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < MANY; i++)
            MPI_Irecv(&in[i], 1, MPI_BYTE, 0, i, self, &requests[i]);
        for (int i = 0; i < MANY; i++)
            MPI_Isend(&out[i], 1, MPI_BYTE, 0, i, self, &requests[MANY + i]);
        if (!turn)
            MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
        for (done = 0; turn && done != MPI_UNDEFINED; came += done < 0 ? 0 : done)
            MPI_Waitsome(2 * MANY, requests, &done, which, MPI_STATUSES_IGNORE);
    }
    printf("came %d\n", came);
}

static void refused(void) {
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Request request;
    int class, codes[] = {
                   MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_NULL, MPI_STATUS_IGNORE),
                   MPI_Recv(in, -1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE),
                   MPI_Recv(in, 1, none, 0, 1, self, MPI_STATUS_IGNORE),
                   MPI_Recv(in, 1, MPI_INT, 77, 1, self, MPI_STATUS_IGNORE),
                   MPI_Recv(in, 1, MPI_INT, 0, -77, self, MPI_STATUS_IGNORE),
                   MPI_Irecv(in, 1, MPI_INT, 0, 1, MPI_COMM_NULL, &request),
                   MPI_Sendrecv(out, 1, MPI_INT, 0, 1, in, 1, none, 0, 1, self, MPI_STATUS_IGNORE),
                   MPI_Sendrecv_replace(in, 1, none, 0, 1, 0, 1, self, MPI_STATUS_IGNORE),
                   MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE),
                   MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE),
               };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        MPI_Error_class(codes[i], &class);
        printf("%d ", class);
    }
    puts("");
    exchange(1, 8, 8, MPI_BYTE);
}

// Completed by Request_get_status, which frees no request; then freed, waited for or restarted.
static void status(void) {
    MPI_Request requests[3];
    MPI_Status seen;
    MPI_Irecv(in, 80, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, self, &requests[0]);
    MPI_Send(out, 11, MPI_BYTE, 0, 1, self);
    MPI_Irecv(in, 80, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, self, &requests[1]);
    MPI_Send(out, 12, MPI_BYTE, 0, 2, self);
    MPI_Recv_init(in, 80, MPI_BYTE, 0, 3, self, &requests[2]);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Start(&requests[2]);
        MPI_Send(out, 13, MPI_BYTE, 0, 3, self);
        for (int i = turn ? 2 : 0; i < 3; i++) {
            int flag = 0;
            while (!flag)
                MPI_Request_get_status(requests[i], &flag, i ? &seen : MPI_STATUS_IGNORE);
        }
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Wait(&requests[1], &seen);
    MPI_Request_free(&requests[2]);
}

static int at_end(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    exchange(1, 8, 8, MPI_BYTE);
    return MPI_SUCCESS;
}

// A receive in the callback by which Finalize frees MPI_COMM_SELF.
static void late(void) {
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL);
    MPI_Comm_set_attr(self, keyval, NULL);
}

// Datatypes whose gaps MPI does not describe, or that consist of a gap.
static void gaps(void) {
    MPI_Datatype type, none;
    exchange(1, 18, 3, MPI_SHORT_INT);
    exchange(2, 6, 3, MPI_SHORT_INT);
    MPI_Type_create_darray(4, 0, 2, (int[]){8, 8},
                           (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK},
                           (int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG},
                           (int[]){2, 2}, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    exchange(3, 64, 1, type);
    MPI_Type_free(&type);
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_create_resized(none, 0, 8, &type);
    MPI_Type_commit(&type);
    exchange(4, 0, 3, type);
    MPI_Type_free(&type);
    MPI_Type_free(&none);
#if MPI_VERSION >= 4
    MPI_Type_vector_c(4, 1, 8, MPI_INT, &type);
    MPI_Type_commit(&type);
    exchange(5, 16, 1, type);
    MPI_Type_free(&type);
#endif
}

// Three GiB, all received into the same MiB.
static void huge(void) {
    MPI_Datatype part, type;
    MPI_Request request;
    MPI_Type_contiguous(BYTES, MPI_BYTE, &part);
    MPI_Type_create_resized(part, 0, 0, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(in, 3 << 10, type, 0, 1, self, &request);
    MPI_Send(out, 3 << 10, type, 0, 1, self);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Type_free(&part);
}

static void truncated(void) {
    MPI_Request request;
    int class;
    MPI_Isend(out, 100, MPI_BYTE, 0, 1, self, &request);
    MPI_Error_class(MPI_Recv(in, 10, MPI_BYTE, 0, 1, self, MPI_STATUS_IGNORE), &class);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("truncated %d\n", class == MPI_ERR_TRUNCATE);
    exchange(2, 10, 100, MPI_BYTE);
}

static void forked(void) {
    exchange(1, 8, 8, MPI_BYTE);
    const pid_t child = fork();
    if (!child)
        exit(0);
    waitpid(child, NULL, 0);
    printf("%d\n", system("exit 3") >> 8);
    exchange(2, 8, 8, MPI_BYTE);
}

static void* wild(void* of) {
    const int tag = *(int*)of;
    for (int turn = 0; turn < 100; turn++) {
        MPI_Request requests[8];
        int done, which[8], left = 8;
        for (int i = 0; i < 8; i++)
            MPI_Irecv(&in[8 * tag + i], 1, MPI_BYTE, MPI_ANY_SOURCE, tag, self, &requests[i]);
        for (int i = 0; i < 8; i++)
            MPI_Send(out, 1, MPI_BYTE, 0, tag, self);
        for (; left; left -= done) {
            if (turn % 2)
                MPI_Testsome(8, requests, &done, which, MPI_STATUSES_IGNORE);
            else
                MPI_Waitsome(8, requests, &done, which, MPI_STATUSES_IGNORE);
        }
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[8];
    int tags[8];
    for (int i = 0; i < 8; i++) {
        tags[i] = i;
        pthread_create(&all[i], NULL, wild, &tags[i]);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(all[i], NULL);
}

static void* helper(void* tag) {
    exchange(*(int*)tag, 8, 8, MPI_BYTE);
    return NULL;
}

// The thread of the last receive has executed less than the thread of the first.
static void helped(void) {
    pthread_t other;
    int tag = 2;
    for (volatile int i = 0; i < 200000; i++)
        ;
    exchange(1, 8, 8, MPI_BYTE);
    pthread_create(&other, NULL, helper, &tag);
    pthread_join(other, NULL);
}

// Like a file system without fallocate, such as NFS.
static void without_fallocate(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        exit(77);
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } all[] = {{"many", many},           {"refused", refused}, {"status", status},
               {"late", late},           {"gaps", gaps},       {"huge", huge},
               {"truncated", truncated}, {"forked", forked},   {"threads", threads},
               {"helped", helped}};
    const char* what = argc > 1 ? argv[1] : "";
    int level;
    if (!strcmp(what, "bare"))
        without_fallocate();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    if (!strcmp(what, "bare"))
        exchange(1, 8, 8, MPI_BYTE);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(what, all[i].name))
            all[i].run();
    MPI_Finalize();
    return 0;
}
