// SPDX-License-Identifier: GPL-2.0
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../fold.h"
#include "../sysfs.h"
#include "mock.h"
#include "mock_counter.h"

struct mock *mock_on_pci;

struct mock *mock_of(struct anemone_hw *hw)
{
	struct anemone_controller *ctl = container_of(hw, struct anemone_controller, hw);

	return dev_is_pci(ctl->dev) ? mock_on_pci : dev_get_drvdata(ctl->dev);
}

static bool holds(unsigned int predicate, u64 value, u64 operand)
{
	switch (predicate) {
	case ANEMONE_NOTIFY_EQ:
		return value == operand;
	case ANEMONE_NOTIFY_GE:
		return value >= operand;
	case ANEMONE_NOTIFY_GT:
		return value > operand;
	case ANEMONE_NOTIFY_LT:
		return value < operand;
	case ANEMONE_NOTIFY_LE:
		return value <= operand;
	default:
		return false;
	}
}

static void count(struct mock_pipeline *pipeline, unsigned int channel, u64 index, u64 address,
		  bool write)
{
	const struct anemone_rule *rule = &pipeline->rule;
	unsigned int width = width_of(rule);
	u64 operands[] = { rule->operand, address >> 6, write };
	u64 *word = &pipeline->states[channel][index / (64 / width)];
	u64 value = update(ANEMONE_GET(RULE_CONTROL_OP, rule->control), width,
			   get_counter(*word, width, index % (64 / width)),
			   operands[ANEMONE_GET(RULE_CONTROL_OPERAND_SOURCE, rule->control)]);

	*word = put_counter(*word, width, index, value);
	pipeline->matched++;
	if (!holds(ANEMONE_GET(RULE_CONTROL_NOTIFY_OP, rule->control), value,
		   anemone_truncate(rule->notify_operand, width)))
		return;
	pipeline->notifications++;
	if (!pipeline->latch)
		pipeline->latch = ANEMONE_PUT(PIPELINE_NOTIFICATION_VALID, 1) |
				  ANEMONE_PUT(PIPELINE_NOTIFICATION_CHANNEL, channel) |
				  ANEMONE_PUT(PIPELINE_NOTIFICATION_INDEX, index);
}

/* An offset too wide to be hashed has an index past every counter. */
static u64 hashed(u64 offset, u64 hash)
{
	u64 product = offset * ANEMONE_GET(RULE_HASH_MULTIPLIER, hash);

	if (offset >> ANEMONE_HASH_BITS)
		return U32_MAX;
	product &= (1ULL << ANEMONE_HASH_BITS) - 1;
	return product * ANEMONE_GET(RULE_HASH_SIZE, hash) >> ANEMONE_HASH_BITS;
}

void mock_access(struct mock *mock, u64 address, bool write)
{
	unsigned int channel = address >> 6 & (MOCK_CHANNELS - 1), p;

	for (p = 0; p < MOCK_PIPELINES; p++) {
		struct mock_pipeline *pipeline = &mock->pipeline[p];
		const struct anemone_rule *rule = &pipeline->rule;
		u64 type = write ? ANEMONE_RULE_CONTROL_WRITES_MASK
				 : ANEMONE_RULE_CONTROL_READS_MASK;
		u64 key = (address & rule->primary_mask) >>
			  ANEMONE_GET(RULE_SHIFTS_PRIMARY, rule->shifts);
		u64 index = (address & rule->sub_mask) >>
			    ANEMONE_GET(RULE_SHIFTS_SUB, rule->shifts);

		if (!(rule->control & ANEMONE_RULE_CONTROL_ENABLE_MASK) ||
		    !(rule->control & type) || address < rule->start || address >= rule->end)
			continue;
		if (key >> mock->table_log2 || !ANEMONE_GET(TABLE_MAPPED, pipeline->table[key])) {
			pipeline->unmapped++;
			continue;
		}
		if (rule->control & ANEMONE_RULE_CONTROL_HASH_MASK)
			index = hashed(index, rule->hash);
		index += ANEMONE_GET(TABLE_BASE, pipeline->table[key]);
		if (index >= MOCK_STATES * (64 / width_of(rule)))
			pipeline->out_of_range++;
		else
			count(pipeline, channel, index, address, write);
	}
}

static u64 pending(struct mock *mock)
{
	u64 vectors = 0;
	unsigned int p;

	for (p = 0; p < MOCK_PIPELINES; p++)
		if (mock->pipeline[p].latch)
			vectors |= 2ULL << p;
	return vectors;
}

static u64 read_pipeline(struct mock *mock, u32 offset)
{
	struct mock_pipeline *pipeline = &mock->pipeline[offset / 0x100];

	switch (offset % 0x100) {
	case ANEMONE_PIPELINE_MATCHED:
		return pipeline->matched;
	case ANEMONE_PIPELINE_UNMAPPED:
		return pipeline->unmapped;
	case ANEMONE_PIPELINE_OUT_OF_RANGE:
		return pipeline->out_of_range;
	case ANEMONE_PIPELINE_NOTIFICATIONS:
		return pipeline->notifications;
	case ANEMONE_PIPELINE_NOTIFICATION:
		return pipeline->latch;
	case ANEMONE_PIPELINE_STATUS:
		if (mock->slow) {
			mock->slow--;
			msleep(1000);
			return 1;
		}
		return mock->never_clear;
	default:
		return 0;
	}
}

static u64 read_register(struct anemone_hw *hw, u32 offset)
{
	struct mock *mock = mock_of(hw);

	mock->reads++;
	if (mock->dead)
		return ~0ULL;
	if (offset >= ANEMONE_FLAT(0) && offset < ANEMONE_FLAT(MOCK_CHANNELS))
		return mock->flat[(offset - ANEMONE_FLAT(0)) / 0x100][offset % 0x100 / 8];
	if (offset >= ANEMONE_PIPELINE(0) && offset < ANEMONE_PIPELINE(MOCK_PIPELINES))
		return read_pipeline(mock, offset - ANEMONE_PIPELINE(0));
	switch (offset) {
	case ANEMONE_ID:
		return mock->id;
	case ANEMONE_VERSION:
		return mock->version;
	case ANEMONE_CAPABILITY:
		return mock->capability;
	case ANEMONE_FEATURES:
		return mock->features;
	case ANEMONE_WINDOW:
		return mock->window;
	case ANEMONE_INTERRUPT_PENDING:
		return pending(mock);
	case ANEMONE_ERROR_STATUS:
		return mock->errors;
	case ANEMONE_QUIESCE_STATUS:
		return mock->stopped && !mock->never_quiet;
	default:
		return 0;
	}
}

static void write_flat(struct mock *mock, u32 offset, u64 value)
{
	u64 *registers = mock->flat[offset / 0x100];

	registers[offset % 0x100 / 8] = value;
	if (offset % 0x100 != ANEMONE_FLAT_CONTROL)
		return;
	if (value & ANEMONE_FLAT_CONTROL_START_MASK && registers[ANEMONE_FLAT_NEAR_LINES / 8])
		registers[ANEMONE_FLAT_STATUS / 8] |= ANEMONE_FLAT_STATUS_STARTED_MASK;
	if (value & ANEMONE_FLAT_CONTROL_REPAIR_MASK)
		registers[ANEMONE_FLAT_STATUS / 8] |= ANEMONE_FLAT_STATUS_REPAIRING_MASK;
}

static void acknowledge(struct mock *mock, u64 vectors)
{
	unsigned int p;

	for (p = 0; p < MOCK_PIPELINES; p++)
		if (vectors & 2ULL << p)
			mock->pipeline[p].latch = 0;
}

static void clear(struct mock *mock, struct mock_pipeline *pipeline)
{
	*pipeline = (struct mock_pipeline){ .rule = pipeline->rule, .table = pipeline->table };
	memset(pipeline->table, 0, sizeof(u64) << mock->table_log2);
}

static void write_register(struct anemone_hw *hw, u32 offset, u64 value)
{
	struct mock *mock = mock_of(hw);
	u32 entry = (offset - ANEMONE_TABLE(0)) / 8;

	if (mock->dead)
		return;
	if (offset >= ANEMONE_TABLE(0)) {
		mock->unmaps += !ANEMONE_GET(TABLE_MAPPED, value);
		if (entry >> mock->table_log2 < MOCK_PIPELINES)
			mock->pipeline[entry >> mock->table_log2]
				.table[entry & ((1U << mock->table_log2) - 1)] = value;
		return;
	}
	if (offset >= ANEMONE_PIPELINE(0)) {
		if (offset % 0x100 == ANEMONE_PIPELINE_CONTROL)
			clear(mock, &mock->pipeline[(offset - ANEMONE_PIPELINE(0)) / 0x100]);
		return;
	}
	if (offset >= ANEMONE_FLAT(0) && offset < ANEMONE_FLAT(MOCK_CHANNELS)) {
		write_flat(mock, offset - ANEMONE_FLAT(0), value);
		return;
	}
	switch (offset) {
	case ANEMONE_RULE_CONTROL:
		mock->shadow.control = value;
		break;
	case ANEMONE_RULE_START:
		mock->shadow.start = value;
		break;
	case ANEMONE_RULE_END:
		mock->shadow.end = value;
		break;
	case ANEMONE_RULE_PRIMARY_MASK:
		mock->shadow.primary_mask = value;
		break;
	case ANEMONE_RULE_SUB_MASK:
		mock->shadow.sub_mask = value;
		break;
	case ANEMONE_RULE_SHIFTS:
		mock->shadow.shifts = value;
		break;
	case ANEMONE_RULE_HASH:
		mock->shadow.hash = value;
		break;
	case ANEMONE_RULE_OPERAND:
		mock->shadow.operand = value;
		break;
	case ANEMONE_RULE_NOTIFY_OPERAND:
		mock->shadow.notify_operand = value;
		break;
	case ANEMONE_RULE_EFFECT_OPERAND:
		mock->shadow.effect_operand = value;
		break;
	case ANEMONE_RULE_COMMIT:
		mock->pipeline[value].rule = mock->shadow;
		break;
	case ANEMONE_EFFECT_WINDOW:
		mock->effect_window = value;
		mock->opened += value & 1;
		break;
	case ANEMONE_SNAPSHOT_WINDOW:
		mock->snapshot_window = value;
		mock->opened += value & 1;
		break;
	case ANEMONE_ACKNOWLEDGE_WINDOW:
		mock->acknowledge_window = value;
		mock->opened += value & 1;
		break;
	case ANEMONE_INTERRUPT_ACKNOWLEDGE:
		acknowledge(mock, value);
		break;
	case ANEMONE_ERROR_STATUS:
		mock->errors &= ~value;
		break;
	case ANEMONE_QUIESCE:
		mock->stopped = value & ANEMONE_QUIESCE_STOP_MASK;
		break;
	}
}

static const struct anemone_io io = {
	.read = read_register,
	.write = write_register,
	.read_lines = mock_read_lines,
	.write_lines = mock_write_lines,
};

void mock_reset(struct mock *mock)
{
	unsigned int p;

	for (p = 0; p < MOCK_PIPELINES; p++) {
		clear(mock, &mock->pipeline[p]);
		memset(&mock->pipeline[p].rule, 0, sizeof(mock->pipeline[p].rule));
	}
	memset(&mock->shadow, 0, sizeof(mock->shadow));
	memset(mock->flat, 0, sizeof(mock->flat));
	mock->effect_window = 0;
	mock->snapshot_window = 0;
	mock->acknowledge_window = 0;
}

/* The device of a mock, or of pci.c, which calls its own function by this name here. */
struct anemone_controller *anemone_of_pci_device(struct device *dev);

struct anemone_controller *anemone_of_device(struct device *dev)
{
	struct mock *mock = dev_get_drvdata(dev);

	return dev_is_pci(dev) ? anemone_of_pci_device(dev) : mock->ctl;
}

void mock_tables(struct kunit *test, struct mock *mock, unsigned int log2)
{
	unsigned int p;

	mock->table_log2 = log2;
	mock->ctl->hw.shape.table_log2 = log2;
	for (p = 0; p < MOCK_PIPELINES; p++) {
		mock->pipeline[p].table = kunit_kzalloc(test, sizeof(u64) << log2, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, mock->pipeline[p].table);
	}
}

static void put(void *ctl)
{
	anemone_controller_put(ctl);
}

struct mock *mock_bare(struct kunit *test)
{
	struct mock *mock = kunit_kzalloc(test, sizeof(*mock), GFP_KERNEL);
	static atomic_t number; /* device names must be unique */
	struct anemone_controller *ctl = kzalloc(sizeof(*ctl), GFP_KERNEL);
	struct device *dev;

	KUNIT_ASSERT_NOT_NULL(test, mock);
	KUNIT_ASSERT_NOT_NULL(test, ctl);
	scnprintf(mock->name, sizeof(mock->name), "anemone%d", atomic_inc_return(&number));
	dev = kunit_device_register(test, mock->name);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	dev_set_drvdata(dev, mock);
	anemone_controller_init(ctl, dev);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put, ctl), 0);
	ctl->bounce = (u64 *)__get_free_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctl->bounce);
	ctl->hw.io = &io;
	ctl->hw.atomic_loads = true;
	ctl->hw.region = 1ULL << MOCK_ADDRESS_BITS;
	anemone_memory_set(&ctl->memory, MOCK_HOST_BASE, 1ULL << MOCK_ADDRESS_BITS);
	mock->ctl = ctl;
	mock_tables(test, mock, ilog2(MOCK_TABLE));
	mock->id = ANEMONE_ID_MAGIC_VALUE;
	mock->version = ANEMONE_VERSION_MAJOR_VALUE << ANEMONE_VERSION_MAJOR_SHIFT;
	mock->capability = ANEMONE_PUT(CAPABILITY_PIPELINES, MOCK_PIPELINES) |
			   ANEMONE_PUT(CAPABILITY_CHANNELS, MOCK_CHANNELS) |
			   ANEMONE_PUT(CAPABILITY_STATES_LOG2, 6) |
			   ANEMONE_PUT(CAPABILITY_TABLE_LOG2, 5) |
			   ANEMONE_PUT(CAPABILITY_ADDRESS_BITS, MOCK_ADDRESS_BITS) |
			   ANEMONE_PUT(CAPABILITY_COUNTER_INDEX_BITS, 9);
	mock->features = ANEMONE_PUT(FEATURES_OPS, 0x3fff) | ANEMONE_PUT(FEATURES_WIDTHS, 0xf) |
			 ANEMONE_PUT(FEATURES_PREDICATES, 0x3f) | ANEMONE_PUT(FEATURES_EFFECTS, 7) |
			 ANEMONE_PUT(FEATURES_OPERAND_SOURCES, 7) | ANEMONE_PUT(FEATURES_HASH, 1);
	mock->window = MOCK_REGION_BYTES / 2;
	return mock;
}

struct mock *mock_new(struct kunit *test)
{
	struct mock *mock = mock_bare(test);
	struct anemone_controller *ctl = mock->ctl;

	KUNIT_ASSERT_EQ(test, anemone_hw_identify(&ctl->hw), 0);
	anemone_pool_init(&ctl->pool, ctl->hw.shape.pipelines);
	KUNIT_ASSERT_EQ(test, anemone_hw_start(&ctl->hw, MOCK_REGION_BYTES), 0);
	return mock;
}

struct mock *mock_harvested(struct kunit *test, bool atomic_stores, bool atomic_loads)
{
	struct mock *mock = mock_new(test);
	struct anemone_hw *hw = &mock->ctl->hw;

	mock->features |= ANEMONE_FEATURES_ACKNOWLEDGES_MASK;
	KUNIT_ASSERT_EQ(test, anemone_hw_identify(hw), 0);
	KUNIT_ASSERT_EQ(test, anemone_hw_start(hw, 2 * MOCK_REGION_BYTES), 0);
	hw->atomic_stores = atomic_stores;
	hw->atomic_loads = atomic_loads;
	return mock;
}

struct anemone_spec mock_hotness(unsigned int regions)
{
	return (struct anemone_spec){
		.name = "hotness",
		.filter = { .type = ANEMONE_R | ANEMONE_W },
		.translation.primary = { .mask = ANEMONE_ALL_MEM, .shift = 21 },
		.regions = regions,
		.update = { .op = ANEMONE_OP_ADD, .operand = 1 },
		.read_effect = { .op = ANEMONE_OP_RESET },
	};
}

static void remove(void *telemetry)
{
	anemone_telemetry_remove(telemetry);
}

struct anemone_telemetry *mock_add(struct kunit *test, struct mock *mock,
				   const struct anemone_spec *spec)
{
	struct anemone_reason reason = {};
	struct anemone_telemetry *telemetry = anemone_telemetry_add(spec, mock->ctl, &reason);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(telemetry), "%s", reason.text);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove, telemetry), 0);
	return telemetry;
}
