/* SPDX-License-Identifier: GPL-2.0 */
/* A device in memory for tests: the registers and the pipelines' semantics in plain C. */
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
	u64 id, version, capability, features, window; /* tests may set invalid values */
	u64 effect_window, snapshot_window, acknowledge_window;
	u64 flat[MOCK_CHANNELS][0x100 / 8]; /* registers of flat memory mode, as written */
	bool dead;			    /* reads as all ones */
	bool posted;			    /* lines were written and none read since */
	bool lines_dead;		    /* only the telemetry region reads as all ones */
	unsigned int reads;		    /* of registers */
	unsigned int opened;		    /* times that a window was opened */
	unsigned int unmaps;		    /* writes that remove a table entry */
	unsigned int table_log2;
	bool never_clear;  /* status.clearing stays set */
	bool never_quiet;  /* accepted requests never end */
	bool stopped;	   /* quiesce.stop */
	u64 errors;	   /* error_status */
	bool repeats;	   /* the processor makes each load of a line twice */
	unsigned int slow; /* status reads until a clear ends, each of which takes a second */
};

struct mock *mock_of(struct anemone_hw *hw);
extern struct mock *mock_on_pci; /* the device for controllers that pci.c makes */
/* Operations of struct anemone_io. */
void mock_read_lines(struct anemone_hw *hw, u64 where, unsigned int lines, u64 *words);
void mock_write_lines(struct anemone_hw *hw, u64 where, unsigned int lines, const u64 *words);

/* Makes a device with a started controller; it is freed with the test. */
struct mock *mock_new(struct kunit *test);
/* The same, but not identified yet. */
struct mock *mock_bare(struct kunit *test);
/*
 * Makes a device with the acknowledge window, on a processor with or without the accesses that this
 * window (atomic_stores) and reads with effect (atomic_loads) need.
 */
struct mock *mock_harvested(struct kunit *test, bool atomic_stores, bool atomic_loads);
/* Sets the table size instead of MOCK_TABLE; before first use. */
void mock_tables(struct kunit *test, struct mock *mock, unsigned int log2);
/* A request that every pipeline sees. */
void mock_access(struct mock *mock, u64 address, bool write);
/* Sets the state after power-up: nothing configured, all zero. */
void mock_reset(struct mock *mock);

/* Listing 2, hotness by huge page: one counter for each of `regions` keys of 2 MiB. */
struct anemone_spec mock_hotness(unsigned int regions);
struct anemone_telemetry *mock_add(struct kunit *test, struct mock *mock,
				   const struct anemone_spec *spec);

#endif
