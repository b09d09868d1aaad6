// SPDX-License-Identifier: GPL-2.0
/* sysfs attributes of a controller. */
#include <linux/sysfs.h>

#include "sysfs.h"

int anemone_sysfs_read(struct device *dev, u32 offset, u64 *value)
{
	struct anemone_controller *ctl = anemone_of_device(dev);
	int err;

	mutex_lock(&ctl->lock);
	err = anemone_controller_usable(ctl);
	if (!err) {
		*value = anemone_hw_read(&ctl->hw, offset);
		if (*value == ~0ULL && !anemone_hw_alive(&ctl->hw))
			err = -EIO;
	}
	mutex_unlock(&ctl->lock);
	return err;
}

/* A size from the capability registers, which do not change. */
#define CAPABILITY(name, value)                                                                    \
	static ssize_t anemone_##name##_show(struct device *dev, struct device_attribute *attr,    \
					     char *buf)                                            \
	{                                                                                          \
		const struct anemone_shape *shape = &anemone_of_device(dev)->hw.shape;             \
		return sysfs_emit(buf, "%llu\n", (u64)(value));                                    \
	}                                                                                          \
	static struct device_attribute dev_attr_##name =                                           \
		__ATTR(name, 0444, anemone_##name##_show, NULL)

CAPABILITY(pipelines, shape->pipelines);
CAPABILITY(channels, shape->channels);
CAPABILITY(states, shape->states);
CAPABILITY(table_entries, 1U << shape->table_log2);
CAPABILITY(address_bits, shape->address_bits);

#define COUNTER(name, offset)                                                                      \
	static ssize_t anemone_##name##_show(struct device *dev, struct device_attribute *attr,    \
					     char *buf)                                            \
	{                                                                                          \
		u64 value;                                                                         \
		int err = anemone_sysfs_read(dev, offset, &value);                                 \
		return err ?: sysfs_emit(buf, "%llu\n", value);                                    \
	}                                                                                          \
	static struct device_attribute dev_attr_##name =                                           \
		__ATTR(name, 0444, anemone_##name##_show, NULL)

COUNTER(dropped_writes, ANEMONE_DROPPED_WRITES);
COUNTER(refused_reads, ANEMONE_REFUSED_READS);
COUNTER(faults_corrected, ANEMONE_FAULTS_CORRECTED);
COUNTER(faults_uncorrected, ANEMONE_FAULTS_UNCORRECTED);
COUNTER(stray_answers, ANEMONE_STRAY_ANSWERS);

/* A value that the driver keeps. */
#define DRIVER_STATE(name, mode, format, value)                                                    \
	static ssize_t anemone_##name##_show(struct device *dev, struct device_attribute *attr,    \
					     char *buf)                                            \
	{                                                                                          \
		struct anemone_controller *ctl = anemone_of_device(dev);                           \
		ssize_t length;                                                                    \
		mutex_lock(&ctl->lock);                                                            \
		length = sysfs_emit(buf, format, value);                                           \
		mutex_unlock(&ctl->lock);                                                          \
		return length;                                                                     \
	}                                                                                          \
	static struct device_attribute dev_attr_##name =                                           \
		__ATTR(name, mode, anemone_##name##_show, NULL)

static const char *anemone_state_name(const struct anemone_controller *ctl)
{
	if (READ_ONCE(ctl->hw.failed))
		return "failed";
	return READ_ONCE(ctl->hw.down) ? "asleep" : "running";
}

DRIVER_STATE(pipelines_free, 0444, "%u\n", anemone_pool_free(&ctl->pool));
DRIVER_STATE(interrupts, 0400, "%llu\n", ctl->interrupts); /* includes other users' notifications */
DRIVER_STATE(spurious_interrupts, 0444, "%llu\n", ctl->spurious);
DRIVER_STATE(node, 0444, "%s\n", ctl->name);
DRIVER_STATE(state, 0444, "%s\n", anemone_state_name(ctl));

static ssize_t anemone_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 version = anemone_of_device(dev)->hw.shape.version;

	return sysfs_emit(buf, "%u.%u\n", version >> 16, version & 0xffff);
}

static struct device_attribute dev_attr_version = __ATTR(version, 0444, anemone_version_show, NULL);

static ssize_t anemone_features_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%#llx\n", anemone_of_device(dev)->hw.shape.features);
}

static struct device_attribute dev_attr_features =
	__ATTR(features, 0444, anemone_features_show, NULL);

static struct attribute *anemone_attributes[] = {
	&dev_attr_version.attr,
	&dev_attr_features.attr,
	&dev_attr_pipelines.attr,
	&dev_attr_pipelines_free.attr,
	&dev_attr_channels.attr,
	&dev_attr_states.attr,
	&dev_attr_table_entries.attr,
	&dev_attr_address_bits.attr,
	&dev_attr_dropped_writes.attr,
	&dev_attr_refused_reads.attr,
	&dev_attr_faults_corrected.attr,
	&dev_attr_faults_uncorrected.attr,
	&dev_attr_stray_answers.attr,
	&dev_attr_interrupts.attr,
	&dev_attr_spurious_interrupts.attr,
	&dev_attr_state.attr,
	&dev_attr_node.attr,
	NULL,
};

static const struct attribute_group anemone_group = { .name = "anemone",
						      .attrs = anemone_attributes };

const struct attribute_group *anemone_groups[] = {
	&anemone_group,		 &anemone_flat_groups[0], &anemone_flat_groups[1],
	&anemone_flat_groups[2], &anemone_flat_groups[3], NULL,
};
