// SPDX-License-Identifier: GPL-2.0
/*
 * Flat memory mode in sysfs, one group per channel: policy, dedicated range, counters, and the set
 * with untrusted tags (docs/flat.md).
 */
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "sysfs.h"

struct anemone_flat_attribute {
	struct device_attribute attribute;
	unsigned int channel;
	u32 offset; /* among the channel's registers */
};

static struct anemone_flat_attribute *anemone_flat_attr(struct device_attribute *attr)
{
	return container_of(attr, struct anemone_flat_attribute, attribute);
}

static u32 anemone_flat_offset(struct device_attribute *attr)
{
	return ANEMONE_FLAT(anemone_flat_attr(attr)->channel) + anemone_flat_attr(attr)->offset;
}

/* Whether the device has refused to start, for sizes that do not fit. */
static bool anemone_flat_refused(struct anemone_controller *ctl, unsigned int channel)
{
	u64 status = anemone_hw_read(&ctl->hw, ANEMONE_FLAT(channel) + ANEMONE_FLAT_STATUS);

	return !ANEMONE_GET(FLAT_STATUS_STARTED, status);
}

/*
 * -EBUSY: the device samples these at the start; only the policy can change later. -EINVAL: it does
 * not start with these sizes, which can be changed then.
 */
static int anemone_flat_write(struct device *dev, struct device_attribute *attr, u32 offset,
			      u64 value)
{
	unsigned int channel = anemone_flat_attr(attr)->channel;
	struct anemone_controller *ctl = anemone_of_device(dev);
	u64 *saved = ctl->flat[channel];
	int err;

	mutex_lock(&ctl->lock);
	err = anemone_controller_usable(ctl);
	if (!err && saved[ANEMONE_FLAT_CONTROL / 8] && offset != ANEMONE_FLAT_POLICY)
		err = -EBUSY;
	if (!err) {
		saved[offset / 8] = value;
		anemone_hw_write(&ctl->hw, ANEMONE_FLAT(channel) + offset, value);
		if (offset == ANEMONE_FLAT_CONTROL && anemone_flat_refused(ctl, channel)) {
			saved[offset / 8] = 0;
			err = -EINVAL;
		}
	}
	mutex_unlock(&ctl->lock);
	return err;
}

/* Commands run once, so a restart does not repeat them. */
static int anemone_flat_command(struct device *dev, struct device_attribute *attr, u64 command)
{
	struct anemone_controller *ctl = anemone_of_device(dev);
	int err;

	mutex_lock(&ctl->lock);
	err = anemone_controller_usable(ctl);
	if (!err)
		anemone_hw_write(&ctl->hw,
				 ANEMONE_FLAT(anemone_flat_attr(attr)->channel) +
					 ANEMONE_FLAT_CONTROL,
				 command);
	mutex_unlock(&ctl->lock);
	return err;
}

static ssize_t anemone_flat_count_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u64 value;
	int err = anemone_sysfs_read(dev, anemone_flat_offset(attr), &value);

	return err ?: sysfs_emit(buf, "%llu\n", value);
}

static ssize_t anemone_flat_near_lines_store(struct device *dev, struct device_attribute *attr,
					     const char *buf, size_t count)
{
	u64 lines;
	int err = kstrtou64(buf, 0, &lines);

	if (!err && lines & ~ANEMONE_FLAT_NEAR_LINES_LINES_MASK)
		err = -ERANGE;
	return err ?: anemone_flat_write(dev, attr, ANEMONE_FLAT_NEAR_LINES, lines) ?: count;
}

/* Indexed by the codes of swap_policy. */
static const char *const anemone_flat_policies[] = {
	[ANEMONE_SWAP_POLICY_EVERY] = "every",
	[ANEMONE_SWAP_POLICY_NTH] = "nth",
	[ANEMONE_SWAP_POLICY_ONE_IN] = "one_in",
	[ANEMONE_SWAP_POLICY_NEVER] = "never",
};

static ssize_t anemone_flat_policy_show(struct device *dev, struct device_attribute *attr,
					char *buf)
{
	u64 value;
	int err = anemone_sysfs_read(dev, anemone_flat_offset(attr), &value);
	unsigned int policy;

	if (err)
		return err;
	policy = ANEMONE_GET(FLAT_POLICY_POLICY, value);
	if (policy == ANEMONE_SWAP_POLICY_NTH || policy == ANEMONE_SWAP_POLICY_ONE_IN)
		return sysfs_emit(buf, "%s %llu\n", anemone_flat_policies[policy],
				  ANEMONE_GET(FLAT_POLICY_N, value));
	return sysfs_emit(buf, "%s\n", anemone_flat_policies[policy]);
}

/* "every", "nth N", "one_in N" or "never". */
static ssize_t anemone_flat_policy_store(struct device *dev, struct device_attribute *attr,
					 const char *buf, size_t count)
{
	unsigned int policy, n = 0;
	size_t length;
	int err;

	for (policy = 0; policy < ARRAY_SIZE(anemone_flat_policies); policy++) {
		length = str_has_prefix(buf, anemone_flat_policies[policy]);
		if (length && (!buf[length] || isspace(buf[length])))
			break;
	}
	if (policy == ARRAY_SIZE(anemone_flat_policies))
		return -EINVAL;
	if (policy == ANEMONE_SWAP_POLICY_NTH || policy == ANEMONE_SWAP_POLICY_ONE_IN) {
		err = kstrtouint(skip_spaces(buf + length), 0, &n);
		if (err)
			return err;
		if (!n || (policy == ANEMONE_SWAP_POLICY_NTH && n > 255))
			return -ERANGE;
	} else if (*skip_spaces(buf + length)) {
		return -EINVAL;
	}
	return anemone_flat_write(dev, attr, ANEMONE_FLAT_POLICY,
				  ANEMONE_PUT(FLAT_POLICY_POLICY, policy) |
					  ANEMONE_PUT(FLAT_POLICY_N, n))
		       ?: count;
}

#define DEDICATED_END (ANEMONE_FLAT_DEDICATED_END - ANEMONE_FLAT_DEDICATED_START)

static ssize_t anemone_flat_dedicated_show(struct device *dev, struct device_attribute *attr,
					   char *buf)
{
	u64 start, end;
	int err =
		anemone_sysfs_read(dev, anemone_flat_offset(attr), &start)
			?: anemone_sysfs_read(dev, anemone_flat_offset(attr) + DEDICATED_END, &end);

	return err ?: sysfs_emit(buf, "%#llx %#llx\n", start, end);
}

/* "START END", device byte addresses in whole pages, END exclusive. */
static ssize_t anemone_flat_dedicated_store(struct device *dev, struct device_attribute *attr,
					    const char *buf, size_t count)
{
	u64 start, end;
	int err;

	if (sscanf(buf, "%lli %lli", &start, &end) != 2 || start > end ||
	    (start | end) & ~ANEMONE_FLAT_DEDICATED_END_PAGE_MASK)
		return -EINVAL;
	err = anemone_flat_write(dev, attr, ANEMONE_FLAT_DEDICATED_START, start)
		      ?: anemone_flat_write(dev, attr, ANEMONE_FLAT_DEDICATED_END, end);
	return err ?: count;
}

static ssize_t anemone_flat_mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u64 status;
	int err = anemone_sysfs_read(dev, anemone_flat_offset(attr), &status);

	if (err)
		return err;
	if (ANEMONE_GET(FLAT_STATUS_REPAIRING, status))
		return sysfs_emit(buf, "repairing\n");
	if (ANEMONE_GET(FLAT_STATUS_READY, status))
		return sysfs_emit(buf, "ready\n");
	return sysfs_emit(buf, "%s\n",
			  ANEMONE_GET(FLAT_STATUS_STARTED, status) ? "sweeping" : "stopped");
}

/* "start": requests wait for it, and only a reset undoes it. */
static ssize_t anemone_flat_mode_store(struct device *dev, struct device_attribute *attr,
				       const char *buf, size_t count)
{
	if (!sysfs_streq(buf, "start"))
		return -EINVAL;
	return anemone_flat_write(dev, attr, ANEMONE_FLAT_CONTROL, ANEMONE_FLAT_CONTROL_START_MASK)
		       ?: count;
}

/* Shows the set whose tags cannot be trusted, or an empty line. */
static ssize_t anemone_flat_untrusted_set_show(struct device *dev, struct device_attribute *attr,
					       char *buf)
{
	u64 value;
	int err = anemone_sysfs_read(dev, anemone_flat_offset(attr), &value);

	if (err)
		return err;
	if (!ANEMONE_GET(FLAT_UNTRUSTED_SET_VALID, value))
		return sysfs_emit(buf, "\n");
	return sysfs_emit(buf, "%#llx\n", ANEMONE_GET(FLAT_UNTRUSTED_SET_SET, value));
}

/* "repair" discards the set's lines; "rearm" forgets the set, so that the next one is recorded. */
static ssize_t anemone_flat_untrusted_set_store(struct device *dev, struct device_attribute *attr,
						const char *buf, size_t count)
{
	u64 command;
	int err;

	if (sysfs_streq(buf, "repair"))
		command = ANEMONE_FLAT_CONTROL_REPAIR_MASK;
	else if (sysfs_streq(buf, "rearm"))
		command = ANEMONE_FLAT_CONTROL_REARM_MASK;
	else
		return -EINVAL;
	err = anemone_flat_command(dev, attr, command);
	return err ?: count;
}

#define FLAT(c, member, file, mode, offset, show, store)                                           \
	static struct anemone_flat_attribute flat##c##_##member = {                                \
		__ATTR(file, mode, show, store), c, offset                                         \
	}
#define FLAT_COUNT(c, member, offset)                                                              \
	FLAT(c, member, member, 0400, ANEMONE_FLAT_##offset, anemone_flat_count_show, NULL)
#define FLAT_GROUP(c)                                                                              \
	FLAT(c, mode, mode, 0644, ANEMONE_FLAT_STATUS, anemone_flat_mode_show,                     \
	     anemone_flat_mode_store);                                                             \
	FLAT(c, policy, policy, 0644, ANEMONE_FLAT_POLICY, anemone_flat_policy_show,               \
	     anemone_flat_policy_store);                                                           \
	FLAT(c, dedicated, dedicated, 0644, ANEMONE_FLAT_DEDICATED_START,                          \
	     anemone_flat_dedicated_show, anemone_flat_dedicated_store);                           \
	FLAT(c, near_lines, near_lines, 0644, ANEMONE_FLAT_NEAR_LINES, anemone_flat_count_show,    \
	     anemone_flat_near_lines_store);                                                       \
	FLAT_COUNT(c, hits, HITS);                                                                 \
	FLAT_COUNT(c, misses, MISSES);                                                             \
	FLAT_COUNT(c, swaps, SWAPS);                                                               \
	FLAT_COUNT(c, near_reads, NEAR_READS);                                                     \
	FLAT_COUNT(c, near_writes, NEAR_WRITES);                                                   \
	FLAT_COUNT(c, far_reads, FAR_READS);                                                       \
	FLAT_COUNT(c, far_writes, FAR_WRITES);                                                     \
	FLAT_COUNT(c, forwarded, FORWARDED);                                                       \
	FLAT_COUNT(c, near_errors, NEAR_ERRORS);                                                   \
	FLAT_COUNT(c, far_errors, FAR_ERRORS);                                                     \
	FLAT_COUNT(c, marked, MARKED);                                                             \
	FLAT_COUNT(c, poisoned, POISONED);                                                         \
	FLAT_COUNT(c, corrected, CORRECTED);                                                       \
	FLAT_COUNT(c, untrusted, UNTRUSTED);                                                       \
	FLAT(c, untrusted_set, untrusted_set, 0600, ANEMONE_FLAT_UNTRUSTED_SET,                    \
	     anemone_flat_untrusted_set_show, anemone_flat_untrusted_set_store);                   \
	static struct attribute *flat##c##_attributes[] = {                                        \
		&flat##c##_mode.attribute.attr,		 &flat##c##_policy.attribute.attr,         \
		&flat##c##_dedicated.attribute.attr,	 &flat##c##_near_lines.attribute.attr,     \
		&flat##c##_hits.attribute.attr,		 &flat##c##_misses.attribute.attr,         \
		&flat##c##_swaps.attribute.attr,	 &flat##c##_near_reads.attribute.attr,     \
		&flat##c##_near_writes.attribute.attr,	 &flat##c##_far_reads.attribute.attr,      \
		&flat##c##_far_writes.attribute.attr,	 &flat##c##_forwarded.attribute.attr,      \
		&flat##c##_near_errors.attribute.attr,	 &flat##c##_far_errors.attribute.attr,     \
		&flat##c##_marked.attribute.attr,	 &flat##c##_poisoned.attribute.attr,       \
		&flat##c##_corrected.attribute.attr,	 &flat##c##_untrusted.attribute.attr,      \
		&flat##c##_untrusted_set.attribute.attr, NULL,                                     \
	}

FLAT_GROUP(0);
FLAT_GROUP(1);
FLAT_GROUP(2);
FLAT_GROUP(3);

/* Kernels before 6.9 show a group without attributes as an empty folder. */
#ifndef SYSFS_GROUP_INVISIBLE
#define SYSFS_GROUP_INVISIBLE 0
#endif

/* Either all channels have flat memory mode, or none. */
static umode_t anemone_flat_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	const struct anemone_shape *shape = &anemone_of_device(kobj_to_dev(kobj))->hw.shape;
	struct anemone_flat_attribute *flat =
		container_of(attr, struct anemone_flat_attribute, attribute.attr);

	if (shape->flat && flat->channel < shape->channels)
		return attr->mode;
	return SYSFS_GROUP_INVISIBLE;
}

#define GROUP(c)                                                                                   \
	{ .name = "flat" #c, .attrs = flat##c##_attributes, .is_visible = anemone_flat_visible }

const struct attribute_group anemone_flat_groups[ANEMONE_CHANNELS_MAX] = { GROUP(0), GROUP(1),
									   GROUP(2), GROUP(3) };
