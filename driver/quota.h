/* SPDX-License-Identifier: GPL-2.0 */
/* How many of a controller's pipelines one user may have, and all of them together. */
#ifndef ANEMONE_QUOTA_H
#define ANEMONE_QUOTA_H

#include "controller.h"

/*
 * Of a part that has its pipelines, and is not on its controller yet. -EDQUOT: more than a user may
 * have without CAP_SYS_RESOURCE; -ENOSPC: the others are kept for the kernel. Under the
 * controller's lock.
 */
int anemone_quota_check(const struct anemone_instance *instance, struct anemone_reason *reason);

#endif
