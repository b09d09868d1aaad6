/* SPDX-License-Identifier: Apache-2.0 */
/* Becomes a user with CAP_PERFMON alone. Needs _GNU_SOURCE. */
#ifndef USER_H
#define USER_H

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#define USER 1000

static inline void become_a_user(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}, {0}};

    data[CAP_PERFMON / 32].effective = 1U << CAP_PERFMON % 32;
    data[CAP_PERFMON / 32].permitted = data[CAP_PERFMON / 32].effective;
    CHECK(!prctl(PR_SET_KEEPCAPS, 1) && !setresgid(USER, USER, USER) &&
          !setresuid(USER, USER, USER));
    CHECK(!syscall(SYS_capset, &header, data));
}

#endif
