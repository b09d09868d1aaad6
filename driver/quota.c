// SPDX-License-Identifier: GPL-2.0
/* Pipelines are few: nobody takes them all. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/minmax.h>
#include <linux/module.h>

#include "quota.h"
#include "telemetry.h"

static unsigned int user_pipelines, kernel_pipelines = 1;
module_param(user_pipelines, uint, 0644);
MODULE_PARM_DESC(user_pipelines,
		 "pipelines of a device for a user without CAP_SYS_RESOURCE; 0: half of them");
module_param(kernel_pipelines, uint, 0644);
MODULE_PARM_DESC(kernel_pipelines, "pipelines of a device that only the kernel's own may take");

/* That the user has already; of NULL: the kernel. */
static unsigned int taken(const struct anemone_controller *ctl, const kuid_t *user)
{
	const struct anemone_part *part;
	unsigned int slabs = 0;

	list_for_each_entry(part, &ctl->parts, on_controller) {
		const struct anemone_telemetry *telemetry = part->telemetry;

		if (user ? telemetry->owner && uid_eq(telemetry->user, *user) : !telemetry->owner)
			slabs += part->cache.slabs;
	}
	return slabs;
}

int anemone_quota_check(const struct anemone_part *part, struct anemone_reason *reason)
{
	const struct anemone_controller *ctl = part->ctl;
	unsigned int all = ctl->pool.slabs, left = anemone_pool_free(&ctl->pool), has, most, kept;

	if (!part->telemetry->owner)
		return 0;
	has = taken(ctl, NULL);
	/* Of one alone, none. */
	kept = min(READ_ONCE(kernel_pipelines), all - 1);
	kept -= min(kept, has);
	if (left < kept)
		return anemone_refuse(reason, -ENOSPC,
				      "%u pipelines needed, %u of %u free, %u kept for the kernel",
				      part->cache.slabs, left + part->cache.slabs, all, kept);
	has = taken(ctl, &part->telemetry->user);
	most = READ_ONCE(user_pipelines) ?: max(all / 2, 1U);
	if (has + part->cache.slabs > most && !capable(CAP_SYS_RESOURCE))
		return anemone_refuse(reason, -EDQUOT,
				      "%u pipelines needed, the user has %u of %u (user_pipelines)",
				      part->cache.slabs, has, most);
	return 0;
}
