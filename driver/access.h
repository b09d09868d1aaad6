/* SPDX-License-Identifier: GPL-2.0 */
/* Capabilities that callers need. */
#ifndef ANEMONE_ACCESS_H
#define ANEMONE_ACCESS_H

#include <linux/types.h>

/* CAP_PERFMON, as for other counters. */
bool anemone_may_add(void);
/* CAP_SYS_ADMIN, as for /proc/pid/pagemap. */
bool anemone_may_use_physical(void);

#endif
