// SPDX-License-Identifier: GPL-2.0
#include "rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule_fields.h"
#include "utf8.h"

const struct limits default_limits = { .pipelines = 8,
				       .states = 8192,
				       .table = 8192,
				       .bytes = 16ULL << 30,
				       .features = UINT64_MAX,
				       .options = true };

uint64_t region_counters(const struct anemone_spec *spec, uint64_t bytes)
{
	/* Address bits that the device does not have are zero, and ask for no counters. */
	uint64_t all = UINT64_MAX >> __builtin_clzll(bytes - 1) >> spec->translation.sub.shift;
	uint64_t last = spec->translation.sub.mask >> spec->translation.sub.shift;

	if (last > all)
		last = all;
	/* The least power of two above the last offset. */
	return last ? 2ULL << (63 - __builtin_clzll(last)) : 1;
}

bool reaches(const struct anemone_spec *spec, uint64_t key)
{
	unsigned int shift = spec->translation.primary.shift;
	uint64_t first = key << shift;

	/* Other masks let a key have addresses in many places. */
	if (spec->translation.primary.mask >> shift != UINT64_MAX >> shift || !spec->filter.end)
		return true;
	return first < spec->filter.end && first + ((1ULL << shift) - 1) >= spec->filter.start;
}

unsigned int spec_width(const struct anemone_spec *spec)
{
	return spec->width ? spec->width : 64;
}

/* --- Fields ----------------------------------------------------------------------------------- */

static void read_name(const struct scope *s, struct rule *rule)
{
	const struct toml *name = field(s, "name");
	size_t characters = 0, length;
	bool good = name->kind == TOML_STRING;
	uint32_t code;

	for (size_t at = 0; good && at < name->size; at += length, characters++) {
		length = utf8_decode(name->text + at, name->size - at, &code);
		good = utf8_printable(code) && characters < NAME_CHARACTERS;
		/* The kernel's name is for people who read its log: ASCII, and shorter. */
		if (characters + 1 < sizeof(rule->spec.name))
			rule->spec.name[characters] = code < 0x80 ? (char)code : '?';
	}
	if (!good || !characters)
		wrong(s, "name", NULL, "1 to %d printable characters", NAME_CHARACTERS);
	memcpy(rule->name, name->text, name->size);
}

static void read_range(const struct scope *s, struct anemone_spec *spec)
{
	const struct toml *range = field(s, "range");
	bool two = range->kind == TOML_ARRAY && range->count == 2;
	uint64_t start, end, bytes = s->limits->bytes;

	if (!two || !whole_number(range->first, &start) || !whole_number(range->last, &end) ||
	    start >= end || end > bytes)
		wrong(s, "range", NULL,
		      "[start, end] with 0 <= start < end <= 0x%" PRIx64 " (%" PRIu64 " GiB)",
		      bytes, bytes >> 30);
	spec->filter.start = start;
	spec->filter.end = end;
}

static unsigned int read_width(const struct scope *s)
{
	const struct toml *width = field(s, "width");
	AUTO_FREE char *allowed = built_names(s, width_names, " or ");

	for (const struct name *n = width_names; n->name; n++) {
		unsigned int bits = n->code;

		if (!is_built(s, n))
			continue;
		if (!width ? bits == 64
			   : width->kind == TOML_INTEGER && !width->negative && !width->wide &&
				     width->value == bits)
			return bits;
	}
	/* 64 is what is meant when nothing is said: it may not be built in. */
	if (!width)
		wrong_words(s, "width", "64", allowed);
	wrong(s, "width", NULL, "%s", allowed);
}

static void read_field(const struct scope *s, struct anemone_field *field)
{
	field->mask = number(s, "mask", UINT64_MAX, NULL);
	field->shift = (uint32_t)number(s, "shift", 63, NULL);
}

static void read_update(const struct scope *rule, struct anemone_operation *update)
{
	struct scope s = inner(rule, "update");
	AUTO_FREE char *also = NULL, *quoted = NULL;
	const struct name *fields = source_names + 1;
	const struct toml *operand;

	only_keys(&s, "op operand");
	update->op = (uint8_t)choice(&s, "op", op_names);
	operand = field(&s, "operand");
	for (const struct name *n = fields; n->name; n++)
		if (toml_is(operand, n->name) && is_built(&s, n)) {
			update->source = (uint8_t)n->code;
			return;
		}
	also = built_names(&s, fields, "\" or \"");
	if (asprintf(&quoted, "\"%s\"", also) < 0)
		fail("out of memory");
	update->operand = number(&s, "operand", UINT64_MAX, *also ? quoted : NULL);
}

static void read_notify(const struct scope *rule, struct anemone_operation *notify)
{
	struct scope s = inner(rule, "notify");
	uint64_t operand = 0;

	if (!s.table)
		return;
	only_keys(&s, "op | operand");
	notify->op = (uint8_t)choice(&s, "op", predicate_names);
	if (notify->op != ANEMONE_NOTIFY_NONE || field(&s, "operand"))
		operand = number(&s, "operand", UINT64_MAX, NULL);
	notify->operand = notify->op == ANEMONE_NOTIFY_NONE ? 0 : operand;
}

static void read_effect(const struct scope *rule, struct anemone_operation *effect)
{
	struct scope s = inner(rule, "read_effect");
	const char *wants = "operand", *other = "value";

	effect->op = ANEMONE_OP_NONE;
	if (!s.table)
		return;
	only_keys(&s, "op | value operand");
	effect->op = (uint8_t)choice(&s, "op", effect_names);
	if (effect->op == ANEMONE_OP_NONE)
		return;
	if (effect->op == ANEMONE_OP_RESET) {
		wants = "value";
		other = "operand";
	}
	if (field(&s, other))
		wrong(&s, other, NULL, "only op and %s with op \"%s\"", wants, op_name(effect->op));
	effect->operand = number(&s, wants, UINT64_MAX, NULL);
}

/* --- The map ---------------------------------------------------------------------------------- */

/* A base index, which has to be the first counter of a region. */
static uint32_t region_of(const struct scope *s, const struct anemone_spec *spec, const char *at,
			  const struct toml *entry, uint64_t base)
{
	uint64_t counters = region_counters(spec, s->limits->bytes);

	if (counters ? base % counters : base)
		wrong(s, at, entry,
		      "a base index that is a multiple of the region's %s%" PRIu64
		      " counters (by sub): the driver gives every region counters of its own",
		      counters ? "" : "2^64: ", counters);
	return counters ? (uint32_t)(base / counters) : 0;
}

static void read_map(const struct scope *s, struct rule *rule)
{
	const struct toml *map = field(s, "map");
	uint64_t counters = (uint64_t)s->limits->states * (64 / spec_width(&rule->spec));
	const char *table_option = s->limits->options ? " (--table)" : "";
	const char *states_option = s->limits->options ? " (--states x 64 / width)" : "";
	AUTO_FREE uint32_t *seen = NULL;
	uint32_t most = 0;

	if (toml_is(map, "identity")) {
		rule->identity = true;
		if (region_counters(&rule->spec, s->limits->bytes) != 1)
			wrong(s, "map", NULL,
			      "[[key, base index], ...] with a sub mask: key 1's counters would "
			      "begin among key 0's");
		return;
	}
	if (map->kind != TOML_ARRAY)
		wrong(s, "map", NULL, "a list of [key, base index], or \"identity\"");
	rule->map = zeroed(map->count, sizeof(*rule->map));
	seen = zeroed(s->limits->table, sizeof(*seen));
	for (const struct toml *e = map->first; e; e = e->next) {
		uint64_t key, base;
		char at[32];

		snprintf(at, sizeof(at), "map[%u]", rule->mapped);
		if (e->kind != TOML_ARRAY || e->count != 2 || !is_whole(e->first) ||
		    !is_whole(e->last))
			wrong(s, at, e, "[key, base index], two whole numbers");
		if (!whole_number(e->first, &key) || key >= s->limits->table)
			wrong(s, at, e, "a key of 0 to %u%s", s->limits->table - 1, table_option);
		if (!whole_number(e->last, &base) || base >= counters)
			wrong(s, at, e, "a base index of 0 to %" PRIu64 "%s", counters - 1,
			      states_option);
		if (seen[key])
			wrong(s, at, e, "each key once (map[%u] has %" PRIu64 ")", seen[key] - 1,
			      key);
		rule->map[rule->mapped].key = key;
		rule->map[rule->mapped].region = region_of(s, &rule->spec, at, e, base);
		if (rule->map[rule->mapped].region >= most)
			most = rule->map[rule->mapped].region + 1;
		seen[key] = ++rule->mapped;
	}
	/* As many as the file names; a file without any gets one, for `map` to use. */
	rule->spec.regions = most ? most : 1;
}

/* --- Rules ------------------------------------------------------------------------------------ */

static void read_rule(const struct scope *s, struct rule *rule)
{
	struct anemone_spec *spec = &rule->spec;
	struct scope primary, sub;

	only_keys(s, "name type range primary update map | near sub width notify read_effect "
		     "read_every");
	read_name(s, rule);
	read_range(s, spec);
	primary = inner(s, "primary");
	sub = inner(s, "sub");
	only_keys(&primary, "mask shift");
	if (sub.table)
		only_keys(&sub, "mask shift");
	spec->width = (uint8_t)read_width(s);
	spec->filter.type = (uint8_t)choice(s, "type", type_names);
	if (field(s, "near"))
		spec->filter.near = (uint8_t)choice(s, "near", near_names);
	read_field(&primary, &spec->translation.primary);
	if (sub.table)
		read_field(&sub, &spec->translation.sub);
	read_update(s, &spec->update);
	read_notify(s, &spec->notify);
	read_effect(s, &spec->read_effect);
	if (field(s, "read_every"))
		number(s, "read_every", INT64_MAX, NULL);
	read_map(s, rule);
	if (spec->filter.near != ANEMONE_NEAR_ANY && !s->limits->flat)
		wrong(s, "near", NULL,
		      "\"any\" (only an expander with flat memory mode tells hits from misses)");
}

/* Arithmetic modulo 2^width on a longer operand is what these mean anyway. */
static bool takes_any(unsigned int op)
{
	return op <= ANEMONE_OP_OR;
}

static void note_truncated(const struct rule *rule, const char *name, uint64_t operand)
{
	unsigned int width = spec_width(&rule->spec);

	if (width < 64 && operand >> width)
		note("rule \"%s\": %s 0x%" PRIx64 " is wider than the counter's %u bits; 0x%" PRIx64
		     " is used",
		     rule->name, name, operand, width, operand & ((UINT64_C(1) << width) - 1));
}

static void say_notes(const char *file, const struct rules *rules, bool read_every)
{
	for (const struct rule *rule = rules->rule; rule < rules->rule + rules->count; rule++) {
		const struct anemone_spec *spec = &rule->spec;

		if (spec->notify.op != ANEMONE_NOTIFY_NONE)
			note_truncated(rule, "notify.operand", spec->notify.operand);
		if (!takes_any(spec->read_effect.op))
			note_truncated(rule, "read_effect", spec->read_effect.operand);
		if (!takes_any(spec->update.op))
			note_truncated(rule, "update.operand", spec->update.operand);
	}
	if (read_every)
		note("%s: read_every is ignored: it is of a trace's replay; here `anemonectl read` "
		     "reads",
		     file);
}

struct rules read_rules(const char *path, const struct limits *limits)
{
	size_t size;
	AUTO_FREE char *text = read_file(path, &size);
	const char *file = strcmp(path, "-") ? path : "stdin";
	struct toml *top = toml_parse(file, text, size);
	struct scope s = { .file = file, .limits = limits, .table = top, .path = "" };
	const char *option = limits->options ? " (--pipelines)" : "";
	const struct toml *tables;
	struct rules rules = { 0 };
	bool read_every = false;

	for (const struct toml *node = top->first; node; node = node->next)
		if (node->key_size != 4 || memcmp(node->key, "rule", 4))
			wrong(&s, node->key, node, "only the keys rule");
	tables = toml_get(top, "rule");
	if (!tables || tables->kind != TOML_ARRAY || !tables->count)
		wrong(&s, "rule", tables, "1 to %u [[rule]] tables%s", limits->pipelines, option);
	rules.rule = zeroed(tables->count, sizeof(*rules.rule));
	for (s.rule = tables->first; s.rule; s.rule = s.rule->next) {
		struct rule *rule = &rules.rule[rules.count];

		s.table = s.rule;
		rules.count++;
		s.number = (unsigned int)rules.count;
		if (rules.count > limits->pipelines) {
			char value[64], allowed[64];

			snprintf(value, sizeof(value), "number %zu of %zu", rules.count,
				 tables->count);
			snprintf(allowed, sizeof(allowed), "1 to %u [[rule]] tables%s",
				 limits->pipelines, option);
			wrong_words(&s, "rule", value, allowed);
		}
		if (s.rule->kind != TOML_TABLE)
			wrong(&s, "rule", s.rule, "a [[rule]] table");
		read_rule(&s, rule);
		read_every = read_every || field(&s, "read_every");
		for (struct rule *earlier = rules.rule; earlier < rule; earlier++)
			if (!strcmp(earlier->name, rule->name))
				wrong(&s, "name", NULL, "a name of its own (rule %zu has this one)",
				      (size_t)(earlier - rules.rule) + 1);
	}
	toml_free(top);
	say_notes(file, &rules, read_every);
	return rules;
}

void free_rules(struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		free(rules->rule[i].map);
	free(rules->rule);
}
