// SPDX-License-Identifier: Apache-2.0
// Kernels that do nothing and replace memo's; its checks must detect each.
#include "memo.h"

const char* const access_names[ACCESSES] = {"ld", "nt-ld", "st", "nt-st"};

static bool always(void) {
    return true;
}

static uint64_t batch(enum access access, char* const* lines, uint64_t value, uint64_t* sum) {
    (void)access, (void)lines, (void)value;
    *sum = 0;
    return 1000;
}

static uint64_t walk(const struct walk* walk) {
    (void)walk;
    return 0;
}

static void copy(char* to, const char* from, size_t bytes, bool nt) {
    (void)to, (void)from, (void)bytes, (void)nt;
}

const struct kernels* kernels_of(const char* name) {
    static const struct kernels broken = {"none", always, batch, walk, copy};
    (void)name;
    return &broken;
}
