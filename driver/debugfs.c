// SPDX-License-Identifier: GPL-2.0
/* Dumps registers, telemetries and memory ranges. */
#include <linux/debugfs.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/user_namespace.h>

#include "debugfs.h"
#include "telemetry.h"

static struct dentry *anemone_debugfs_root;

struct anemone_register_name {
	const char *name;
	u32 offset;
};

#define REGISTER(name) { #name, ANEMONE_##name }

static const struct anemone_register_name anemone_registers[] = {
	REGISTER(ID),
	REGISTER(VERSION),
	REGISTER(CAPABILITY),
	REGISTER(FEATURES),
	REGISTER(WINDOW),
	REGISTER(EFFECT_WINDOW),
	REGISTER(SNAPSHOT_WINDOW),
	REGISTER(ERROR_STATUS),
	REGISTER(ERROR_ENABLE),
	REGISTER(DROPPED_WRITES),
	REGISTER(REFUSED_READS),
	REGISTER(INTERRUPT_PENDING),
	REGISTER(INTERRUPT_ENABLE),
	REGISTER(QUIESCE_STATUS),
	REGISTER(FAULTS_CORRECTED),
	REGISTER(FAULTS_UNCORRECTED),
	REGISTER(FIRST_FAULT),
	REGISTER(FAULT_SET),
	REGISTER(STRAY_ANSWERS),
	REGISTER(QUIESCE),
};

static const struct anemone_register_name anemone_pipeline_registers[] = {
	REGISTER(PIPELINE_MATCHED),	  REGISTER(PIPELINE_UNMAPPED),
	REGISTER(PIPELINE_OUT_OF_RANGE),  REGISTER(PIPELINE_NOTIFICATIONS),
	REGISTER(PIPELINE_PARITY_ERRORS), REGISTER(PIPELINE_NOTIFICATION),
	REGISTER(PIPELINE_STATUS),
};

static int anemone_registers_show(struct seq_file *file, void *unused)
{
	struct anemone_controller *ctl = file->private;
	unsigned int i, pipeline;

	mutex_lock(&ctl->lock);
	for (i = 0; i < ARRAY_SIZE(anemone_registers); i++)
		seq_printf(file, "%06x %-24s %#018llx\n", anemone_registers[i].offset,
			   anemone_registers[i].name,
			   anemone_hw_read(&ctl->hw, anemone_registers[i].offset));
	for (pipeline = 0; pipeline < ctl->hw.shape.pipelines; pipeline++) {
		for (i = 0; i < ARRAY_SIZE(anemone_pipeline_registers); i++) {
			u32 offset =
				ANEMONE_PIPELINE(pipeline) + anemone_pipeline_registers[i].offset;

			seq_printf(file, "%06x %-24s %#018llx [%u]\n", offset,
				   anemone_pipeline_registers[i].name,
				   anemone_hw_read(&ctl->hw, offset), pipeline);
		}
	}
	mutex_unlock(&ctl->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(anemone_registers);

static int anemone_telemetries_show(struct seq_file *file, void *unused)
{
	struct anemone_controller *ctl = file->private;
	struct anemone_instance *instance;
	unsigned int slab;

	mutex_lock(&ctl->lock);
	list_for_each_entry(instance, &ctl->instances, on_controller) {
		seq_printf(file,
			   "%s: %u regions of %u counters of %u bits, %u keys, %llu events, on",
			   instance->telemetry->spec.name, instance->cache.regions,
			   instance->plan.region_counters, instance->plan.width, instance->mapped,
			   instance->events);
		for (slab = 0; slab < instance->cache.slabs; slab++)
			seq_printf(file, " %u", instance->cache.slab[slab]);
		if (instance->telemetry->owner)
			seq_printf(file, ", of pid %d, uid %u\n",
				   pid_nr(instance->telemetry->owner),
				   from_kuid_munged(&init_user_ns, instance->telemetry->user));
		else
			seq_puts(file, ", of the kernel\n");
	}
	mutex_unlock(&ctl->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(anemone_telemetries);

static int anemone_memory_show(struct seq_file *file, void *unused)
{
	struct anemone_controller *ctl = file->private;
	const struct anemone_range *range = ctl->memory.range;
	unsigned int i;

	mutex_lock(&ctl->lock);
	if (!anemone_controller_usable(ctl))
		anemone_controller_update_memory(ctl);
	if (!ctl->memory.ranges)
		seq_printf(file, "not known: %s\n", ctl->memory.unknown);
	for (i = 0; i < ctl->memory.ranges; i++, range++)
		seq_printf(file, "%#llx-%#llx: from %#llx of the device, %u ways by %u\n",
			   range->host_base, range->host_base + range->size - 1, range->device_base,
			   range->ways, range->granularity);
	mutex_unlock(&ctl->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(anemone_memory);

void anemone_debugfs_init(void)
{
	anemone_debugfs_root = debugfs_create_dir("anemone", NULL);
}

void anemone_debugfs_exit(void)
{
	debugfs_remove(anemone_debugfs_root);
}

void anemone_debugfs_add(struct anemone_controller *ctl)
{
	ctl->debugfs = debugfs_create_dir(ctl->name, anemone_debugfs_root);
	debugfs_create_file("registers", 0400, ctl->debugfs, ctl, &anemone_registers_fops);
	debugfs_create_file("memory", 0400, ctl->debugfs, ctl, &anemone_memory_fops);
	debugfs_create_file("telemetries", 0400, ctl->debugfs, ctl, &anemone_telemetries_fops);
}

void anemone_debugfs_remove(struct anemone_controller *ctl)
{
	debugfs_remove(ctl->debugfs);
}
