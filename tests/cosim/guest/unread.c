// SPDX-License-Identifier: Apache-2.0
/* Leaves an event unread. */
#include "telemetry.h"

int main(void) {
    struct anemone_spec spec = counting("unread", 1);
    struct anemone_entry entry = {.key = 0, .region = 0};
    int fd = open_device();

    spec.notify = (struct anemone_operation){.op = ANEMONE_NOTIFY_GE, .operand = 1};
    map_keys(fd, add(fd, spec).id, &entry, 1);
    ask("access 0 1");
    for (;;)
        pause();
}
