// SPDX-License-Identifier: GPL-2.0
/* Capability checks. */
#include <linux/capability.h>

#include "access.h"

bool anemone_may_add(void)
{
	return perfmon_capable();
}

bool anemone_may_use_physical(void)
{
	return capable(CAP_SYS_ADMIN);
}
