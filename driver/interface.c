// SPDX-License-Identifier: GPL-2.0
/* The interface for other kernel subsystems (include/linux/anemone.h). */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/printk.h>

#include "telemetry.h"

struct anemone_telemetry *anemone_register_telemetry(const struct anemone_spec *spec,
						     anemone_notify_t notify, void *data)
{
	struct anemone_reason reason = {};
	struct anemone_telemetry *telemetry = anemone_telemetry_add(spec, NULL, &reason);

	if (IS_ERR(telemetry)) {
		pr_err("anemone: telemetry \"%.31s\": %s\n", spec->name, reason.text);
		return telemetry;
	}
	mutex_lock(&telemetry->notify_lock);
	telemetry->data = data;
	telemetry->notify = notify;
	mutex_unlock(&telemetry->notify_lock);
	return telemetry;
}
EXPORT_SYMBOL_GPL(anemone_register_telemetry);

void anemone_unregister_telemetry(struct anemone_telemetry *telemetry)
{
	mutex_lock(&telemetry->notify_lock);
	telemetry->notify = NULL;
	mutex_unlock(&telemetry->notify_lock);
	anemone_rotate_stop(telemetry);
	anemone_telemetry_remove(telemetry);
}
EXPORT_SYMBOL_GPL(anemone_unregister_telemetry);

static int anemone_translate(struct anemone_telemetry *telemetry, u64 key, s64 region)
{
	int err = region < 0 ? 0 : anemone_telemetry_check_memory(telemetry);

	err = err ?: anemone_telemetry_map(telemetry, key, region);
	anemone_telemetry_flush(telemetry);
	return err;
}

int anemone_set_translation(struct anemone_telemetry *telemetry, u64 key, u32 region_idx)
{
	return anemone_translate(telemetry, key, region_idx);
}
EXPORT_SYMBOL_GPL(anemone_set_translation);

int anemone_clear_translation(struct anemone_telemetry *telemetry, u64 key)
{
	return anemone_translate(telemetry, key, -1);
}
EXPORT_SYMBOL_GPL(anemone_clear_translation);

int anemone_read(struct anemone_telemetry *telemetry, u32 first, u32 count, u64 *values)
{
	return anemone_telemetry_read(telemetry, true, false, first, count, values);
}
EXPORT_SYMBOL_GPL(anemone_read);

int anemone_snapshot(struct anemone_telemetry *telemetry, u32 first, u32 count, u64 *values)
{
	return anemone_telemetry_read(telemetry, false, false, first, count, values);
}
EXPORT_SYMBOL_GPL(anemone_snapshot);

u32 anemone_regions(const struct anemone_telemetry *telemetry)
{
	return telemetry->regions;
}
EXPORT_SYMBOL_GPL(anemone_regions);

u32 anemone_region_counters(const struct anemone_telemetry *telemetry)
{
	return telemetry->region_counters;
}
EXPORT_SYMBOL_GPL(anemone_region_counters);

u32 anemone_granule(const struct anemone_telemetry *telemetry)
{
	return telemetry->granule;
}
EXPORT_SYMBOL_GPL(anemone_granule);
