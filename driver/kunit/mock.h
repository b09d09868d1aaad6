/* SPDX-License-Identifier: GPL-2.0 */
/* A device in memory for tests: the registers' contract and the pipelines' semantics, in plain C.
 */
#ifndef ANEMONE_KUNIT_MOCK_H
#define ANEMONE_KUNIT_MOCK_H

#include <kunit/device.h>
#include <kunit/test.h>

#include "../controller.h"
#include "../telemetry.h"

#define MOCK_PIPELINES 3
#define MOCK_CHANNELS 2
#define MOCK_STATES 64
#define MOCK_TABLE 32
#define MOCK_ADDRESS_BITS 30
#define MOCK_HOST_BASE 0x4000000000ULL
#define MOCK_REGION_BYTES (2 * 0x4000ULL)

struct mock_pipeline {
	struct anemone_rule rule;
	u64 *table;
	u64 states[MOCK_CHANNELS][MOCK_STATES];
	u64 matched, unmapped, out_of_range, notifications, latch;
};

struct mock {
	char name[24];
	struct anemone_controller *ctl;
	struct mock_pipeline pipeline[MOCK_PIPELINES];
	struct anemone_rule shadow;
	u64 id, version, capability, features, window; /* what a test may make senseless */
	u64 effect_window, snapshot_window, acknowledge_window;
	u64 flat[MOCK_CHANNELS]
		[0x100 / 8]; /* registers of flat memory mode, as they were written */
	bool dead;	     /* reads as all ones */
	bool posted;	     /* lines were written, and none read since */
	bool lines_dead;     /* the telemetry region alone does */
	unsigned int reads;  /* of registers */
	unsigned int opened; /* times that a window was opened */
	unsigned int unmaps; /* writes that take a table's entry away */
	unsigned int table_log2;
	bool never_clear;  /* status.clearing stays */
	bool never_quiet;  /* what was accepted does not end */
	bool stopped;	   /* quiesce.stop */
	u64 errors;	   /* error_status */
	bool repeats;	   /* the processor makes each load of a line twice */
	unsigned int slow; /* so many reads of a status are of a clear, and take a second each */
};

struct mock *mock_of(struct anemone_hw *hw);
extern struct mock *mock_on_pci; /* the device of controllers that pci.c makes */
/* Of struct anemone_io. */
void mock_read_lines(struct anemone_hw *hw, u64 where, unsigned int lines, u64 *words);
void mock_write_lines(struct anemone_hw *hw, u64 where, unsigned int lines, const u64 *words);

/* A device with a controller that has been started; goes with the test. */
struct mock *mock_new(struct kunit *test);
/* The same, not identified yet: for a test of that. */
struct mock *mock_bare(struct kunit *test);
/* A device with the third window, too, and a processor that may have what it takes to use it, and
 * to read with effect.
 */
struct mock *mock_harvested(struct kunit *test, bool atomic_stores, bool atomic_loads);
/* Tables of so many entries, instead of MOCK_TABLE; before it is used. */
void mock_tables(struct kunit *test, struct mock *mock, unsigned int log2);
/* A request as every pipeline sees it. */
void mock_access(struct mock *mock, u64 address, bool write);
/* As after power came up: nothing is configured, all is zero. */
void mock_reset(struct mock *mock);

/* Hotness by huge page, Listing 2: one counter for each of `regions` keys of 2 MiB. */
struct anemone_spec mock_hotness(unsigned int regions);
struct anemone_telemetry *mock_add(struct kunit *test, struct mock *mock,
				   const struct anemone_spec *spec);

#endif
