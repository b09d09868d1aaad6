// SPDX-License-Identifier: GPL-2.0
/* Limits each user's pipelines, because there are few. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/minmax.h>
#include <linux/module.h>

#include "quota.h"
#include "telemetry.h"

static unsigned int user_pipelines, kernel_pipelines = 1;
module_param(user_pipelines, uint, 0644);
MODULE_PARM_DESC(user_pipelines,
		 "most pipelines of a device for a user without CAP_SYS_RESOURCE; 0: half");
module_param(kernel_pipelines, uint, 0644);
MODULE_PARM_DESC(kernel_pipelines, "pipelines of a device that are reserved for the kernel");

/* Pipelines that the user has taken; NULL stands for the kernel. */
static unsigned int anemone_quota_used(const struct anemone_controller *ctl, const kuid_t *user)
{
	const struct anemone_instance *instance;
	unsigned int slabs = 0;

	list_for_each_entry(instance, &ctl->instances, on_controller) {
		const struct anemone_telemetry *telemetry = instance->telemetry;

		if (user ? telemetry->owner && uid_eq(telemetry->user, *user) : !telemetry->owner)
			slabs += instance->cache.slabs;
	}
	return slabs;
}

int anemone_quota_check(const struct anemone_instance *instance, struct anemone_reason *reason)
{
	const struct anemone_controller *ctl = instance->ctl;
	unsigned int all = ctl->pool.slabs, left = anemone_pool_free(&ctl->pool), has, limit, kept;

	if (!instance->telemetry->owner)
		return 0;
	has = anemone_quota_used(ctl, NULL);
	/* A device with a single pipeline keeps none for the kernel. */
	kept = min(READ_ONCE(kernel_pipelines), all - 1);
	kept -= min(kept, has);
	if (left < kept)
		return anemone_refuse(reason, -ENOSPC,
				      "%u pipelines needed, %u of %u free, %u kept for the kernel",
				      instance->cache.slabs, left + instance->cache.slabs, all,
				      kept);
	has = anemone_quota_used(ctl, &instance->telemetry->user);
	limit = READ_ONCE(user_pipelines) ?: max(all / 2, 1U);
	if (has + instance->cache.slabs > limit && !capable(CAP_SYS_RESOURCE))
		return anemone_refuse(reason, -EDQUOT,
				      "%u pipelines needed, the user has %u of %u (user_pipelines)",
				      instance->cache.slabs, has, limit);
	return 0;
}
