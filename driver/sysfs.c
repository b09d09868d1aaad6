// SPDX-License-Identifier: GPL-2.0
/* What sysfs shows of a controller. */
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

/* A size out of the capability registers, which do not change. */
#define SIZE(name, value)                                                                          \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)   \
	{                                                                                          \
		const struct anemone_shape *shape = &anemone_of_device(dev)->hw.shape;             \
		return sysfs_emit(buf, "%llu\n", (u64)(value));                                    \
	}                                                                                          \
	static DEVICE_ATTR_RO(name)

SIZE(pipelines, shape->pipelines);
SIZE(channels, shape->channels);
SIZE(states, shape->states);
SIZE(table_entries, 1U << shape->table_log2);
SIZE(address_bits, shape->address_bits);

#define COUNT(name, offset)                                                                        \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)   \
	{                                                                                          \
		u64 value;                                                                         \
		int err = anemone_sysfs_read(dev, offset, &value);                                 \
		return err ?: sysfs_emit(buf, "%llu\n", value);                                    \
	}                                                                                          \
	static DEVICE_ATTR_RO(name)

COUNT(dropped_writes, ANEMONE_DROPPED_WRITES);
COUNT(refused_reads, ANEMONE_REFUSED_READS);
COUNT(faults_corrected, ANEMONE_FAULTS_CORRECTED);
COUNT(faults_uncorrected, ANEMONE_FAULTS_UNCORRECTED);
COUNT(stray_answers, ANEMONE_STRAY_ANSWERS);

/* A line of what the driver itself knows. */
#define KNOWN(name, attribute, format, value)                                                      \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)   \
	{                                                                                          \
		struct anemone_controller *ctl = anemone_of_device(dev);                           \
		ssize_t length;                                                                    \
		mutex_lock(&ctl->lock);                                                            \
		length = sysfs_emit(buf, format, value);                                           \
		mutex_unlock(&ctl->lock);                                                          \
		return length;                                                                     \
	}                                                                                          \
	static DEVICE_ATTR_##attribute(name)

static const char *state_name(const struct anemone_controller *ctl)
{
	if (READ_ONCE(ctl->hw.failed))
		return "failed";
	return READ_ONCE(ctl->hw.down) ? "asleep" : "running";
}

KNOWN(pipelines_free, RO, "%u\n", anemone_pool_free(&ctl->pool));
KNOWN(interrupts, ADMIN_RO, "%llu\n", ctl->interrupts); /* tells of others' notifications */
KNOWN(spurious_interrupts, RO, "%llu\n", ctl->spurious);
KNOWN(node, RO, "%s\n", ctl->name);
KNOWN(state, RO, "%s\n", state_name(ctl));

static ssize_t version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 version = anemone_of_device(dev)->hw.shape.version;

	return sysfs_emit(buf, "%u.%u\n", version >> 16, version & 0xffff);
}
static DEVICE_ATTR_RO(version);

static ssize_t features_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%#llx\n", anemone_of_device(dev)->hw.shape.features);
}
static DEVICE_ATTR_RO(features);

static struct attribute *attributes[] = {
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

static const struct attribute_group group = { .name = "anemone", .attrs = attributes };

const struct attribute_group *anemone_groups[] = {
	&group,
	&anemone_flat_groups[0],
	&anemone_flat_groups[1],
	&anemone_flat_groups[2],
	&anemone_flat_groups[3],
	NULL,
};
