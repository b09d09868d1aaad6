// SPDX-License-Identifier: GPL-2.0
/*
 * The three listings of the NEMO paper as a kernel subsystem: an example of <linux/anemone.h>, and
 * a test of it in co-simulation.
 *
 * debugfs anemone_listings/ has skew, hotness and tenants. Writing "key region" sets one
 * translation. Reading polls: it shows each counter that is not zero as "counter value", and resets
 * all counters. alerts shows the notifications of tenants by counter, the latest last.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <linux/anemone.h>

#define HP_SHIFT 21
#define HP_BP_MASK 0x1ff000
#define BP_SHIFT 12

static u64 bandwidth_cap = 1000;
module_param(bandwidth_cap, ullong, 0444);
MODULE_PARM_DESC(bandwidth_cap, "accesses of a tenant between two polls that raise an alert");

static unsigned int pages = 64, skewed = 4;
module_param(pages, uint, 0444);
MODULE_PARM_DESC(pages, "counters of hotness and of tenants");
module_param(skewed, uint, 0444);
MODULE_PARM_DESC(skewed, "huge pages that skew counts at a time");

static bool host;
module_param(host, bool, 0444);
MODULE_PARM_DESC(host, "keys are of host physical addresses, not of device addresses");

static struct dentry *root;
static struct anemone_telemetry *skew, *hotness, *tenants;

static DEFINE_SPINLOCK(alerts_lock); /* guards the two below */
static u32 alerts[64];
static unsigned int n_alerts;

static void anemone_listings_alert(struct anemone_telemetry *telemetry,
				   const struct anemone_event *event, void *data)
{
	spin_lock(&alerts_lock);
	if (n_alerts < ARRAY_SIZE(alerts))
		alerts[n_alerts++] = event->counter;
	spin_unlock(&alerts_lock);
}

/* Listing 1: which base pages of some huge pages are hot? */
static struct anemone_spec skew_spec = {
	.name = "skew",
	.filter = { .type = ANEMONE_R | ANEMONE_W },
	.translation = {
		.primary = { .mask = ANEMONE_ALL_MEM, .shift = HP_SHIFT },
		.sub = { .mask = HP_BP_MASK, .shift = BP_SHIFT },
	},
	.update = { .op = ANEMONE_OP_ADD, .operand = 1 },
	.notify = { .op = ANEMONE_NOTIFY_NONE },
	.read_effect = { .op = ANEMONE_OP_RESET, .value = 0 },
};

/* Listing 2: how hot is each huge page? */
static struct anemone_spec hotness_spec = {
	.name = "hotness",
	.filter = { .type = ANEMONE_R | ANEMONE_W },
	.translation = {
		.primary = { .mask = ANEMONE_ALL_MEM, .shift = HP_SHIFT },
	},
	.update = { .op = ANEMONE_OP_ADD, .operand = 1 },
	.notify = { .op = ANEMONE_NOTIFY_NONE },
	.read_effect = { .op = ANEMONE_OP_RESET, .value = 0 },
};

/* Listing 3: which tenant takes too much bandwidth? All its huge pages map to one counter. */
static struct anemone_spec tenants_spec = {
	.name = "tenants",
	.filter = { .type = ANEMONE_R | ANEMONE_W },
	.translation = {
		.primary = { .mask = ANEMONE_ALL_MEM, .shift = HP_SHIFT },
	},
	.update = { .op = ANEMONE_OP_ADD, .operand = 1 },
	.notify = { .op = ANEMONE_NOTIFY_GE },
	.read_effect = { .op = ANEMONE_OP_RESET, .value = 0 },
};

static int anemone_listings_poll_show(struct seq_file *file, void *unused)
{
	struct anemone_telemetry *telemetry = *(struct anemone_telemetry **)file->private;
	u32 count = anemone_regions(telemetry) * anemone_region_counters(telemetry), i;
	u64 *values = kvmalloc_array(count, sizeof(*values), GFP_KERNEL);
	int err;

	if (!values)
		return -ENOMEM;
	err = anemone_read(telemetry, 0, count, values);
	for (i = 0; i < count && !err; i++)
		if (values[i])
			seq_printf(file, "%u %llu\n", i, values[i]);
	kvfree(values);
	return err;
}

static int anemone_listings_poll_open(struct inode *inode, struct file *file)
{
	/* One buffer for all: a second call would poll, and reset, again. */
	return single_open_size(file, anemone_listings_poll_show, inode->i_private, SZ_1M);
}

static ssize_t anemone_listings_translate(struct file *file, const char __user *buffer,
					  size_t bytes, loff_t *at)
{
	struct seq_file *seq = file->private_data;
	char text[64] = {};
	u32 region;
	u64 key;
	int err;

	if (bytes >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, bytes))
		return -EFAULT;
	if (sscanf(text, "%lli %u", &key, &region) != 2)
		return -EINVAL;
	err = anemone_set_translation(*(struct anemone_telemetry **)seq->private, key, region);
	return err ?: bytes;
}

static const struct file_operations anemone_listings_poll_fops = {
	.owner = THIS_MODULE,
	.open = anemone_listings_poll_open,
	.read = seq_read,
	.write = anemone_listings_translate,
	.release = single_release,
};

static int anemone_listings_alerts_show(struct seq_file *file, void *unused)
{
	unsigned int i;

	spin_lock(&alerts_lock);
	for (i = 0; i < n_alerts; i++)
		seq_printf(file, "%u\n", alerts[i]);
	spin_unlock(&alerts_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(anemone_listings_alerts);

static void anemone_listings_unregister(struct anemone_telemetry *telemetry)
{
	if (!IS_ERR_OR_NULL(telemetry))
		anemone_unregister_telemetry(telemetry);
}

static void __exit anemone_listings_exit(void)
{
	debugfs_remove(root);
	anemone_listings_unregister(skew);
	anemone_listings_unregister(hotness);
	anemone_listings_unregister(tenants);
}

static int __init anemone_listings_init(void)
{
	if (host) {
		skew_spec.flags = ANEMONE_SPEC_HOST;
		hotness_spec.flags = ANEMONE_SPEC_HOST;
		tenants_spec.flags = ANEMONE_SPEC_HOST;
	}
	tenants_spec.notify.operand = bandwidth_cap;
	tenants_spec.regions = pages;
	hotness_spec.regions = pages;
	skew_spec.regions = skewed;
	skew = anemone_register_telemetry(&skew_spec, NULL, NULL);
	hotness = anemone_register_telemetry(&hotness_spec, NULL, NULL);
	tenants = anemone_register_telemetry(&tenants_spec, anemone_listings_alert, NULL);
	if (IS_ERR(skew) || IS_ERR(hotness) || IS_ERR(tenants)) {
		anemone_listings_unregister(skew);
		anemone_listings_unregister(hotness);
		anemone_listings_unregister(tenants);
		return -ENODEV;
	}
	root = debugfs_create_dir("anemone_listings", NULL);
	debugfs_create_file("skew", 0600, root, &skew, &anemone_listings_poll_fops);
	debugfs_create_file("hotness", 0600, root, &hotness, &anemone_listings_poll_fops);
	debugfs_create_file("tenants", 0600, root, &tenants, &anemone_listings_poll_fops);
	debugfs_create_file("alerts", 0400, root, NULL, &anemone_listings_alerts_fops);
	return 0;
}

module_init(anemone_listings_init);
module_exit(anemone_listings_exit);
MODULE_DESCRIPTION("The listings of the NEMO paper on Anemone");
MODULE_LICENSE("GPL");
