// SPDX-License-Identifier: Apache-2.0
/* Prints how many pipelines a user with CAP_PERFMON alone gets, and why no more. */
#define _GNU_SOURCE
#include "telemetry.h"
#include "user.h"

int main(void) {
    struct anemone_add call;
    int taken = -1, fd = open_device();

    become_a_user();
    do {
        call = (struct anemone_add){.size = sizeof(call), .spec = counting("quota", 8)};
        taken++;
    } while (!ioctl(fd, ANEMONE_ADD, &call));
    printf("%d %s: %s\n", taken, strerrorname_np(errno), call.reason);
    return 0;
}
