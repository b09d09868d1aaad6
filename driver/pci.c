// SPDX-License-Identifier: GPL-2.0
/* The PCI driver: probe, interrupts, suspend, reset, removal. */
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "debugfs.h"
#include "discover.h"
#include "file.h"
#include "include/anemone_pci.h"
#include "mmio.h"
#include "notify.h"
#include "sysfs.h"
#include "telemetry.h"

static DEFINE_IDA(anemone_ida);

struct anemone_vector {
	struct anemone_controller *ctl;
	unsigned int number;
	int irq;
	char name[40]; /* shown in /proc/interrupts */
};

/* PCI state of a controller; it ends with the device, the controller with its last user. */
struct anemone_pci {
	struct anemone_controller *ctl;
	struct anemone_resources found;
	struct anemone_cxl cxl;
	struct anemone_vector *vectors;
};

struct anemone_controller *anemone_of_device(struct device *dev)
{
	struct anemone_pci *pci = dev_get_drvdata(dev);

	return pci->ctl;
}

static irqreturn_t anemone_irq_wake_thread(int irq, void *data)
{
	return IRQ_WAKE_THREAD;
}

static irqreturn_t anemone_irq_thread(int irq, void *data)
{
	struct anemone_vector *vector = data;

	anemone_notify_vector(vector->ctl, vector->number);
	return IRQ_HANDLED;
}

static int anemone_request_vectors(struct pci_dev *pdev, struct anemone_pci *pci)
{
	struct anemone_controller *ctl = pci->ctl;
	unsigned int wanted = ctl->hw.shape.pipelines + 1, i;
	struct anemone_vector *vector;
	int err;

	err = pci_alloc_irq_vectors(pdev, wanted, wanted, PCI_IRQ_MSIX);
	if (err < 0) {
		pci_info(pdev, "no interrupts (%d); looking every %u ms\n", err, anemone_poll_ms);
		anemone_notify_poll_later(ctl);
		return 0;
	}
	vector = devm_kcalloc(&pdev->dev, wanted, sizeof(*vector), GFP_KERNEL);
	if (!vector)
		return -ENOMEM;
	for (i = 0; i < wanted; i++) {
		vector[i].ctl = ctl;
		vector[i].number = i;
		vector[i].irq = pci_irq_vector(pdev, i);
		if (i)
			snprintf(vector[i].name, sizeof(vector[i].name), "%s-p%u", ctl->name,
				 i - 1);
		else
			snprintf(vector[i].name, sizeof(vector[i].name), "%s-errors", ctl->name);
		err = devm_request_threaded_irq(&pdev->dev, vector[i].irq, anemone_irq_wake_thread,
						anemone_irq_thread, 0, vector[i].name, &vector[i]);
		if (err)
			return err;
	}
	pci->vectors = vector;
	ctl->interrupts_work = true;
	return 0;
}

/*
 * Disables the interrupts of a device that was given up, and wakes all waiters. It may run in
 * atomic context, so interrupt numbers are saved: looking one up takes a mutex.
 */
static void anemone_pci_on_failure(struct anemone_hw *hw)
{
	struct anemone_controller *ctl = container_of(hw, struct anemone_controller, hw);
	struct anemone_pci *pci = dev_get_drvdata(ctl->dev);
	unsigned int i;

	for (i = 0; ctl->interrupts_work && i <= hw->shape.pipelines; i++)
		disable_irq_nosync(pci->vectors[i].irq);
	wake_up_all(&ctl->wait);
}

/* Claims a resource, so that neither a driver nor, for a region in memory, the kernel uses it. */
static bool anemone_pci_reserve(struct pci_dev *pdev, const struct resource *resource)
{
	if (devm_request_mem_region(&pdev->dev, resource->start, resource_size(resource),
				    "anemone"))
		return true;
	pci_err(pdev, "%pR is in use\n", resource);
	return false;
}

static void anemone_pci_update_memory(struct anemone_controller *ctl)
{
	struct anemone_pci *pci = dev_get_drvdata(ctl->dev);

	anemone_discover_memory(to_pci_dev(ctl->dev), &pci->cxl, &ctl->memory);
}

/* A reset may lose the decoders while the registers still answer. */
static bool anemone_pci_region_moved(struct anemone_hw *hw)
{
	struct anemone_controller *ctl = container_of(hw, struct anemone_controller, hw);
	struct anemone_pci *pci = dev_get_drvdata(ctl->dev);

	anemone_pci_update_memory(ctl);
	return !anemone_discover_region_is_current(&pci->found, &ctl->memory);
}

static void anemone_pci_put_cxl(void *cxl)
{
	anemone_cxl_put(cxl);
}

static int anemone_pci_map(struct pci_dev *pdev, struct anemone_pci *pci)
{
	struct anemone_controller *ctl = pci->ctl;
	struct anemone_resources *found = &pci->found;
	int err;

	anemone_cxl_find(pdev, &pci->cxl);
	err = devm_add_action_or_reset(&pdev->dev, anemone_pci_put_cxl, &pci->cxl);
	if (err)
		return err;
	err = anemone_discover(pdev, &pci->cxl, found);
	if (err)
		return err;
	ctl->memory = found->memory;
	ctl->update_memory = anemone_pci_update_memory;
	ctl->hw.region = found->region;
	ctl->hw.on_failure = anemone_pci_on_failure;
	ctl->hw.region_moved = found->in_memory ? anemone_pci_region_moved : NULL;
	if (!anemone_mmio(&ctl->hw)) {
		pci_err(pdev, "this processor has no MOVNTDQA, which reads a line at once\n");
		return -EOPNOTSUPP;
	}
	if (!anemone_pci_reserve(pdev, &found->control) ||
	    !anemone_pci_reserve(pdev, &found->lines))
		return -EBUSY;
	/* The same call for a BAR and for memory of the card that the host was told not to use. */
	ctl->hw.registers =
		devm_ioremap(&pdev->dev, found->control.start, resource_size(&found->control));
	ctl->hw.lines =
		devm_ioremap_wc(&pdev->dev, found->lines.start, resource_size(&found->lines));
	if (!ctl->hw.registers || !ctl->hw.lines)
		return -ENOMEM;
	return 0;
}

static void anemone_pci_put_controller(void *data)
{
	struct anemone_controller *ctl = data;

	ida_free(&anemone_ida, ctl->number);
	anemone_controller_put(ctl);
}

static struct anemone_controller *anemone_pci_new_controller(struct pci_dev *pdev)
{
	struct anemone_controller *ctl = kzalloc(sizeof(*ctl), GFP_KERNEL);
	int err;

	if (!ctl)
		return ERR_PTR(-ENOMEM);
	anemone_controller_init(ctl, &pdev->dev);
	INIT_DELAYED_WORK(&ctl->poll, anemone_notify_poll);
	ctl->bounce = (u64 *)__get_free_page(GFP_KERNEL);
	ctl->number = ida_alloc(&anemone_ida, GFP_KERNEL);
	if (!ctl->bounce || ctl->number < 0) {
		err = ctl->bounce ? ctl->number : -ENOMEM;
		if (ctl->number >= 0)
			ida_free(&anemone_ida, ctl->number);
		anemone_controller_put(ctl);
		return ERR_PTR(err);
	}
	snprintf(ctl->name, sizeof(ctl->name), "anemone%d", ctl->number);
	err = devm_add_action_or_reset(&pdev->dev, anemone_pci_put_controller, ctl);
	return err ? ERR_PTR(err) : ctl;
}

static void anemone_pci_publish(struct anemone_controller *ctl)
{
	mutex_lock(&anemone_controllers_lock);
	list_add_tail(&ctl->on_list, &anemone_controllers);
	mutex_unlock(&anemone_controllers_lock);
	anemone_debugfs_add(ctl);
}

static int anemone_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct anemone_pci *pci = devm_kzalloc(&pdev->dev, sizeof(*pci), GFP_KERNEL);
	struct anemone_controller *ctl;
	int err;

	if (!pci)
		return -ENOMEM;
	if (!anemone_discover_is_anemone(pdev, id))
		return -ENODEV;
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	ctl = anemone_pci_new_controller(pdev);
	if (IS_ERR(ctl))
		return PTR_ERR(ctl);
	pci->ctl = ctl;
	pci_set_drvdata(pdev, pci);
	err = anemone_pci_map(pdev, pci);
	if (err)
		return err;
	err = anemone_hw_identify(&ctl->hw);
	if (err)
		return err;
	anemone_pool_init(&ctl->pool, ctl->hw.shape.pipelines);
	pci_set_master(pdev); /* MSI-X messages are writes of the device */
	mutex_lock(&ctl->lock);
	anemone_controller_read_flat(ctl);
	err = anemone_hw_start(&ctl->hw, resource_size(&pci->found.lines));
	mutex_unlock(&ctl->lock);
	if (!err)
		err = anemone_request_vectors(pdev, pci);
	if (err)
		goto stop;
	ctl->misc = (struct miscdevice){
		.minor = MISC_DYNAMIC_MINOR,
		.name = ctl->name,
		.fops = &anemone_fops,
		.parent = &pdev->dev,
		.mode = 0660,
	};
	err = misc_register(&ctl->misc);
	if (err)
		goto stop;
	pci_save_state(pdev); /* for slot_reset */
	anemone_pci_publish(ctl);
	pci_info(pdev, "%s: %u pipelines, %u channels, %u states, %u table entries%s\n", ctl->name,
		 ctl->hw.shape.pipelines, ctl->hw.shape.channels, ctl->hw.shape.states,
		 1U << ctl->hw.shape.table_log2, ctl->hw.shape.flat ? ", flat memory mode" : "");
	if (!ctl->memory.ranges)
		pci_info(pdev, "%s: no host addresses: %s\n", ctl->name, ctl->memory.unknown);
	return 0;
stop:
	cancel_delayed_work_sync(&ctl->poll);
	mutex_lock(&ctl->lock);
	anemone_hw_stop(&ctl->hw);
	mutex_unlock(&ctl->lock);
	return err;
}

static void anemone_pci_remove(struct pci_dev *pdev)
{
	struct anemone_pci *pci = pci_get_drvdata(pdev);
	struct anemone_controller *ctl = pci->ctl;
	struct anemone_instance *instance, *next;

	anemone_debugfs_remove(ctl);
	mutex_lock(&anemone_controllers_lock);
	list_del_init(&ctl->on_list);
	mutex_unlock(&anemone_controllers_lock);
	misc_deregister(&ctl->misc);
	cancel_delayed_work_sync(&ctl->poll);

	mutex_lock(&ctl->lock);
	if (!anemone_controller_usable(ctl))
		anemone_hw_stop(&ctl->hw);
	/* Open files keep the controller, and see that the device has gone. */
	WRITE_ONCE(ctl->gone, true);
	WRITE_ONCE(ctl->hw.down, true);
	list_for_each_entry_safe(instance, next, &ctl->instances, on_controller)
		anemone_instance_remove(instance);
	mutex_unlock(&ctl->lock);
	wake_up_all(&ctl->wait);
}

/* --- Suspend and reset: the device loses its state, the telemetries stay --- */

enum anemone_down_reason {
	DOWN_SUSPEND,
	/*
	 * A reset during accesses loses their responses, and in flat memory mode the only copy of a
	 * line that is being swapped.
	 */
	DOWN_RESET,
	DOWN_BROKEN, /* it may not answer */
};

static void anemone_pci_take_down(struct pci_dev *pdev, enum anemone_down_reason why)
{
	struct anemone_pci *pci = pci_get_drvdata(pdev);
	struct anemone_controller *ctl = pci->ctl;
	struct anemone_instance *instance;
	int err = 0;

	mutex_lock(&ctl->lock);
	if (why != DOWN_BROKEN && !anemone_controller_usable(ctl)) {
		anemone_hw_stop(&ctl->hw);
		/* After this an access to the memory would wait for the reset. */
		if (why == DOWN_RESET)
			err = anemone_hw_quiesce(&ctl->hw);
	}
	WRITE_ONCE(ctl->hw.down, true);
	/* Waits for entries that are being written under this lock alone. */
	list_for_each_entry(instance, &ctl->instances, on_controller) {
		xa_lock(&instance->keys);
		xa_unlock(&instance->keys);
	}
	mutex_unlock(&ctl->lock);
	if (err)
		pci_warn(pdev, "reset with accesses under way (%d): their data may be lost\n", err);
}

static int anemone_pci_bring_up(struct pci_dev *pdev)
{
	struct anemone_pci *pci = pci_get_drvdata(pdev);
	struct anemone_controller *ctl = pci->ctl;
	int err = 0;

	mutex_lock(&ctl->lock);
	WRITE_ONCE(ctl->hw.down, false);
	if (anemone_controller_usable(ctl) || !anemone_hw_alive(&ctl->hw))
		err = -EIO;
	else
		err = anemone_controller_restart(ctl, resource_size(&pci->found.lines));
	mutex_unlock(&ctl->lock);
	if (err)
		pci_err(pdev, "does not start again: %d\n", err);
	return err;
}

static int anemone_pci_suspend(struct device *dev)
{
	anemone_pci_take_down(to_pci_dev(dev), DOWN_SUSPEND);
	return 0;
}

static int anemone_pci_resume(struct device *dev)
{
	return anemone_pci_bring_up(to_pci_dev(dev));
}

static DEFINE_SIMPLE_DEV_PM_OPS(anemone_pm_ops, anemone_pci_suspend, anemone_pci_resume);

static void anemone_pci_reset_prepare(struct pci_dev *pdev)
{
	anemone_pci_take_down(pdev, DOWN_RESET);
}

static void anemone_pci_reset_done(struct pci_dev *pdev)
{
	anemone_pci_bring_up(pdev);
}

static pci_ers_result_t anemone_pci_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct anemone_controller *ctl = ((struct anemone_pci *)pci_get_drvdata(pdev))->ctl;

	anemone_pci_take_down(pdev, DOWN_BROKEN);
	if (state != pci_channel_io_perm_failure)
		return PCI_ERS_RESULT_NEED_RESET;
	/* Wakes all waiters, because nothing will bring the device up again. */
	mutex_lock(&ctl->lock);
	anemone_hw_fail(&ctl->hw, "its link is lost");
	mutex_unlock(&ctl->lock);
	return PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t anemone_pci_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev);
	pci_set_master(pdev);
	return anemone_pci_bring_up(pdev) ? PCI_ERS_RESULT_DISCONNECT : PCI_ERS_RESULT_RECOVERED;
}

static const struct pci_error_handlers anemone_pci_err_handlers = {
	.error_detected = anemone_pci_error_detected,
	.slot_reset = anemone_pci_slot_reset,
	.reset_prepare = anemone_pci_reset_prepare,
	.reset_done = anemone_pci_reset_done,
};

/* --- The module --- */

static const struct pci_device_id anemone_pci_ids[] = {
	/*
	 * A card with the identity of its CXL IP is bound by new_id (docs/driver.md). No
	 * driver_data: new_id accepts only values of this table, and uses 0 itself.
	 */
	{ PCI_DEVICE(ANEMONE_PCI_VENDOR, ANEMONE_PCI_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, anemone_pci_ids);

static struct pci_driver anemone_pci_driver = {
	.name = "anemone",
	.id_table = anemone_pci_ids,
	.probe = anemone_pci_probe,
	.remove = anemone_pci_remove,
	.err_handler = &anemone_pci_err_handlers,
	.dev_groups = anemone_groups,
	.driver.pm = pm_sleep_ptr(&anemone_pm_ops),
};

static int __init anemone_module_init(void)
{
	int err;

	anemone_debugfs_init();
	err = pci_register_driver(&anemone_pci_driver);
	if (err)
		anemone_debugfs_exit();
	return err;
}

static void __exit anemone_module_exit(void)
{
	pci_unregister_driver(&anemone_pci_driver);
	anemone_debugfs_exit();
}

module_init(anemone_module_init);
module_exit(anemone_module_exit);
MODULE_DESCRIPTION("Anemone: memory telemetry and tiering of a CXL memory expander");
MODULE_LICENSE("GPL");
