/* SPDX-License-Identifier: GPL-2.0 */
/* Limits the pipelines of one user, and of all users together. */
#ifndef ANEMONE_QUOTA_H
#define ANEMONE_QUOTA_H

#include "controller.h"

/*
 * Checks an instance that has its pipelines and is not on its controller's list yet. -EDQUOT: more
 * than a user may have without CAP_SYS_RESOURCE; -ENOSPC: the others are kept for the kernel. Under
 * the controller's lock.
 */
int anemone_quota_check(const struct anemone_instance *instance, struct anemone_reason *reason);

#endif
