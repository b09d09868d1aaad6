// SPDX-License-Identifier: Apache-2.0
/*
 * onnode NODE PROGRAM ARGUMENT...: runs a program with all its memory on a NUMA node, like numactl
 * -m.
 */
#include <linux/mempolicy.h>
#include <sys/syscall.h>

#include "host.h"

int main(int argc, char** argv) {
    unsigned long nodes;

    CHECK(argc > 2);
    nodes = 1UL << atoi(argv[1]);
    CHECK(!syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 8 * sizeof(nodes)));
    execvp(argv[2], argv + 2);
    fail("%s: %s", argv[2], strerror(errno));
}
