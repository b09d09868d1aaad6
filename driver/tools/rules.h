/* SPDX-License-Identifier: GPL-2.0 */
/* Rule files (docs/rules.md): what `anemone replay` takes, as telemetries of the driver. */
#ifndef ANEMONECTL_RULES_H
#define ANEMONECTL_RULES_H

#include <linux/anemone.h>

#include "common.h"

/* Characters of a rule's name, and its bytes with the 0. */
#define NAME_CHARACTERS 100
#define NAME_SIZE (4 * NAME_CHARACTERS + 1)

/* What a rule may ask for: the sizes of a device, and what is built into it. */
struct limits {
	uint32_t pipelines, states, table;
	uint64_t bytes;	   /* of the device's memory */
	uint64_t features; /* register `features` */
	bool flat;
	bool options; /* they came from options of these names, and can be changed */
};

/* The prototype of the paper: what the software model assumes, too. */
extern const struct limits default_limits;

struct rule {
	char name[NAME_SIZE];
	struct anemone_spec spec;
	bool identity; /* key i to region i, as far as both go; `map` is then empty */
	struct anemone_entry *map;
	uint32_t mapped;
};

struct rules {
	struct rule *rule;
	size_t count;
};

/* All rules of a file, or the end of the program; notes go to stderr. "-" is stdin. */
struct rules read_rules(const char *path, const struct limits *limits);
void free_rules(struct rules *rules);

/*
 * Counters of a region: as many as there are offsets in `bytes` of memory, rounded up; 0 is 2^64.
 */
uint64_t region_counters(const struct anemone_spec *spec, uint64_t bytes);
/* Whether the filter lets any address of a key pass; the driver maps no other. */
bool reaches(const struct anemone_spec *spec, uint64_t key);
/* Bits of a counter of the spec: 0 is 64. */
unsigned int spec_width(const struct anemone_spec *spec);

/* Names of codes, as rule files have them; NULL: none. */
const char *type_name(unsigned int type);
const char *near_name(unsigned int near);
const char *op_name(unsigned int op);	      /* of updates and of read effects */
const char *source_name(unsigned int source); /* "imm", "line", "is_write" */
const char *predicate_name(unsigned int op);

#endif
