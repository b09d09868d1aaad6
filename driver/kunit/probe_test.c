// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI driver's probe, with pci.c unchanged: each of its steps fails once, and the probe must
 * then leave nothing behind.
 */
#include <linux/string.h>

#include "../controller.h"
#include "../include/anemone_pci.h"
#include "../mmio.h"
#include "../sysfs.h"
#include "function.h"
#include "mock.h"
#include "fault_injection.h"

struct steps steps;

/* Replaces BARs by the mock's device; this step fails as on an old processor. */
bool anemone_mmio(struct anemone_hw *hw)
{
	hw->io = mock_on_pci->ctl->hw.io;
	hw->atomic_loads = true;
	return !step_fails("anemone_mmio");
}

struct scene {
	struct mock *mock;
	struct function *function;
	struct device_driver *driver;
};

static struct scene set(struct kunit *test)
{
	struct scene scene = { .mock = mock_bare(test) };

	mock_on_pci = scene.mock;
	scene.function = function_new(test);
	function_claim(test, scene.function);
	scene.driver = driver_find("anemone", &pci_bus_type);
	KUNIT_ASSERT_NOT_NULL(test, scene.driver);
	return scene;
}

/* Probes with step number `fails` failing. */
static int probe(struct scene *scene, unsigned int fails)
{
	steps = (struct steps){ .fails = fails };
	return device_driver_attach(scene->driver, &scene->function->pdev->dev);
}

static void nothing_is_left(struct kunit *test, struct scene *scene)
{
	struct pci_dev *pdev = scene->function->pdev;
	unsigned int p;

	KUNIT_EXPECT_NULL(test, pdev->dev.driver);
	KUNIT_EXPECT_NULL(test, pci_get_drvdata(pdev));
	KUNIT_EXPECT_TRUE(test, list_empty(&pdev->dev.devres_head));
	KUNIT_EXPECT_FALSE(test, pci_is_enabled(pdev));
	KUNIT_EXPECT_NULL(test, pdev->resource[0].child);
	KUNIT_EXPECT_NULL(test, pdev->resource[2].child);
	KUNIT_EXPECT_EQ(test, steps.interrupts, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&anemone_controllers));
	/* A device that was started must not count for anybody. */
	KUNIT_EXPECT_EQ(test, scene->mock->effect_window, 0);
	KUNIT_EXPECT_EQ(test, scene->mock->snapshot_window, 0);
	for (p = 0; p < MOCK_PIPELINES; p++)
		KUNIT_EXPECT_EQ(test, scene->mock->pipeline[p].rule.control, 0);
}

/* A probe that succeeds, as before any failure, and its removal. */
static void works(struct kunit *test, struct scene *scene)
{
	struct device *dev = &scene->function->pdev->dev;

	KUNIT_ASSERT_EQ(test, probe(scene, 0), 0);
	KUNIT_EXPECT_EQ(test, steps.interrupts, MOCK_PIPELINES + 1);
	KUNIT_EXPECT_STREQ(test, anemone_of_device(dev)->name, "anemone0");
	KUNIT_EXPECT_FALSE(test, list_empty(&anemone_controllers));
	KUNIT_EXPECT_NE(test, scene->mock->effect_window, 0);
	device_release_driver(dev);
	nothing_is_left(test, scene);
}

static void each_step(struct kunit *test)
{
	static const struct {
		const char *name;
		int error; /* 0: the step is optional */
	} expected[] = {
		{ "devm_kzalloc(", -ENOMEM },
		{ "pcim_enable_device(", -EIO },
		{ "kzalloc(", -ENOMEM },
		{ "__get_free_page(", -ENOMEM },
		{ "ida_alloc(", -ENOSPC },
		{ "devm_add_action_or_reset(", -ENOMEM },
		{ "anemone_mmio", -EOPNOTSUPP },
		{ "devm_request_mem_region(", -EBUSY },
		{ "devm_ioremap(", -ENOMEM },
		{ "devm_ioremap_wc(", -ENOMEM },
		{ "pci_alloc_irq_vectors", 0 },
		{ "devm_kcalloc(", -ENOMEM },
		{ "devm_request_threaded_irq", -EBUSY },
		{ "misc_register(", -EBUSY },
	};
	struct scene scene = set(test);
	unsigned long seen = 0;
	unsigned int n, i;
	int err;

	for (n = 1;; n++) {
		err = probe(&scene, n);
		if (!err)
			device_release_driver(&scene.function->pdev->dev);
		if (!steps.failed)
			break;
		for (i = 0; i < ARRAY_SIZE(expected); i++)
			if (strstarts(steps.failed, expected[i].name))
				break;
		KUNIT_ASSERT_LT_MSG(test, i, ARRAY_SIZE(expected), "%s is not known", steps.failed);
		KUNIT_EXPECT_EQ_MSG(test, err, expected[i].error, "%s", steps.failed);
		seen |= 1UL << i;
		nothing_is_left(test, &scene);
		works(test, &scene);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, seen, (1UL << ARRAY_SIZE(expected)) - 1);
}

#define REFUSED(error)                                                                             \
	do {                                                                                       \
		KUNIT_EXPECT_EQ(test, probe(&scene, 0), error);                                    \
		nothing_is_left(test, &scene);                                                     \
	} while (0)

/* Failures of the kernel itself, without a failing step. */
static void bars(struct kunit *test)
{
	struct scene scene = set(test);
	struct pci_dev *pdev = scene.function->pdev;
	struct resource whole = pdev->resource[2], *other;

	other = request_mem_region(FUNCTION_LINES + SZ_1M, SZ_64K, "somebody else");
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_EQ(test, probe(&scene, 0), -EBUSY);
	release_mem_region(FUNCTION_LINES + SZ_1M, SZ_64K);
	nothing_is_left(test, &scene);
	/* A BAR without addresses, and a BAR that is not there. */
	KUNIT_ASSERT_EQ(test, release_resource(&pdev->resource[2]), 0);
	REFUSED(-EINVAL);
	pdev->resource[2] = (struct resource){};
	REFUSED(-ENODEV);
	whole.parent = NULL;
	whole.sibling = NULL;
	pdev->resource[2] = whole;
	function_claim(test, scene.function);
	works(test, &scene);
	/* Without our DVSEC the function is not ours. */
	function_set(scene.function, FUNCTION_OURS + PCI_DVSEC_HEADER2, 1);
	REFUSED(-ENODEV);
}

static void device(struct kunit *test)
{
	struct scene scene = set(test);
	struct mock *mock = scene.mock;

	mock->version += 1ULL << ANEMONE_VERSION_MAJOR_SHIFT;
	REFUSED(-EPROTO);
	mock->version -= 1ULL << ANEMONE_VERSION_MAJOR_SHIFT;
	mock->window = SZ_4M;
	REFUSED(-EPROTO);
	mock->window = MOCK_REGION_BYTES / 2;
	mock->dead = true;
	REFUSED(-ENODEV);
	mock->dead = false;
	mock->never_clear = true;
	REFUSED(-EIO);
	mock->never_clear = false;
	mock->lines_dead = true;
	REFUSED(-EIO);
	mock->lines_dead = false;
	works(test, &scene);
}

/* An invalidation may give the device up under a spinlock, so nothing there may sleep. */
static void given_up_under_a_spinlock(struct kunit *test)
{
	struct scene scene = set(test);
	struct device *dev = &scene.function->pdev->dev;
	unsigned int irq_lookups;

	KUNIT_ASSERT_EQ(test, probe(&scene, 0), 0);
	irq_lookups = steps.irq_lookups;
	anemone_hw_fail(&anemone_of_device(dev)->hw, "a test says so");
	KUNIT_EXPECT_EQ(test, steps.irq_lookups, irq_lookups);
	KUNIT_EXPECT_EQ(test, steps.disabled, MOCK_PIPELINES + 1);
	device_release_driver(dev);
}

#define RANGE (SZ_256M | ANEMONE_CXL_RANGE_VALID | ANEMONE_CXL_RANGE_ACTIVE)

/* A region in memory: a reset may lose or change its decoders. */
static void region_in_memory(struct kunit *test)
{
	static const u64 bases[] = { 0, FUNCTION_HOST };
	const u32 offset = SZ_32M + SZ_16M; /* in emulated memory outside of every BAR */
	struct scene scene = set(test);
	struct pci_dev *pdev = scene.function->pdev;
	const struct pci_error_handlers *handlers;
	struct anemone_controller *ctl;
	unsigned int i;

	function_set(scene.function, FUNCTION_OURS + PCI_DVSEC_HEADER2,
		     ANEMONE_DVSEC_ID | ANEMONE_DVSEC_IN_MEMORY << 24);
	function_set_range(scene.function, 0, FUNCTION_CONTROL, RANGE);
	function_set(scene.function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_BASE, offset);
	function_set(scene.function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_BASE + 4, 0);
	function_set(scene.function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_SIZE, SZ_16M);
	function_set(scene.function, FUNCTION_OURS + ANEMONE_DVSEC_TELEMETRY_SIZE + 4, 0);
	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		KUNIT_ASSERT_EQ(test, probe(&scene, 0), 0);
		ctl = anemone_of_device(&pdev->dev);
		handlers = pdev->driver->err_handler;
		handlers->reset_prepare(pdev);
		mock_reset(scene.mock);
		handlers->reset_done(pdev);
		KUNIT_EXPECT_EQ(test, anemone_controller_usable(ctl), 0);
		handlers->reset_prepare(pdev);
		mock_reset(scene.mock);
		function_set_range(scene.function, 0, bases[i], bases[i] ? RANGE : 0);
		scene.mock->opened = 0;
		handlers->reset_done(pdev);
		KUNIT_EXPECT_EQ(test, scene.mock->opened, 0);
		KUNIT_EXPECT_EQ(test, anemone_controller_usable(ctl), -EIO);
		device_release_driver(&pdev->dev);
		function_set_range(scene.function, 0, FUNCTION_CONTROL, RANGE);
		mock_reset(scene.mock);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(each_step),	      KUNIT_CASE(bars),
	KUNIT_CASE(device),	      KUNIT_CASE(given_up_under_a_spinlock),
	KUNIT_CASE(region_in_memory), {},
};

static struct kunit_suite suite = { .name = "anemone_probe", .test_cases = cases };

kunit_test_suite(suite);
