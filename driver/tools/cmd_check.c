// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "json.h"
#include "show.h"
#include "target.h"

static void show_json(const struct rule *rule, uint64_t bytes)
{
	const struct anemone_spec *spec = &rule->spec;

	json_begin(NULL, '{');
	json_text("name", rule->name);
	json_text("type", type_name(spec->filter.type));
	json_text("near", near_name(spec->filter.near));
	json_number("start", spec->filter.start);
	json_number("end", spec->filter.end);
	json_number("primary_mask", spec->translation.primary.mask);
	json_number("primary_shift", spec->translation.primary.shift);
	json_number("sub_mask", spec->translation.sub.mask);
	json_number("sub_shift", spec->translation.sub.shift);
	json_text("op", op_name(spec->update.op));
	json_number("operand", spec->update.operand);
	json_text("operand_kind", source_name(spec->update.source));
	json_number("width", spec_width(spec));
	json_text("notify_op", predicate_name(spec->notify.op));
	json_number("notify_operand", spec->notify.operand);
	json_text("effect_op", op_name(spec->read_effect.op));
	json_number("effect_operand", spec->read_effect.operand);
	json_number("regions", spec->regions);
	json_number("region_counters", region_counters(spec, bytes));
	if (rule->identity)
		json_text("map", "identity");
	else
		json_begin("map", '[');
	for (uint32_t i = 0; i < rule->mapped; i++) {
		json_begin(NULL, '[');
		json_number(NULL, rule->map[i].key);
		json_number(NULL, rule->map[i].region);
		json_end();
	}
	if (!rule->identity)
		json_end();
	json_end();
}

static int run(const struct options *o)
{
	struct limits limits = o->limits;
	struct rules rules;
	uint64_t bytes;

	if (!o->file)
		bad_input("check: --file is missing; allowed: a rule file (docs/rules.md), - for "
			  "stdin");
	if (o->device) {
		AUTO_FREE char *device = chosen_device(o);

		limits = device_limits(device);
	}
	bytes = limits.bytes;
	rules = read_rules(o->file, &limits);
	if (o->json)
		json_begin(NULL, '[');
	for (const struct rule *rule = rules.rule; rule < rules.rule + rules.count; rule++) {
		if (o->json)
			show_json(rule, bytes);
		else
			printf("%s: %s, regions of %llu counter%s, %u bits each\n", rule->name,
			       type_name(rule->spec.filter.type),
			       (unsigned long long)region_counters(&rule->spec, bytes),
			       region_counters(&rule->spec, bytes) == 1 ? "" : "s",
			       spec_width(&rule->spec));
	}
	if (o->json)
		json_end();
	free_rules(&rules);
	return 0;
}

const struct command command_check = {
	.name = "check",
	.summary = "read a rule file and say what is wrong with it",
	.help = "usage: anemonectl check -f RULES.toml [--device D] [--json]\n"
		"\n"
		"Reads the file (docs/rules.md) as `add` does, for a device or without any, and "
		"shows\n"
		"the rules. What is wrong is one line that names file, rule, line, field, value "
		"and\n"
		"what is allowed; the exit status is then 2.\n"
		"\n"
		"  -f, --file F        the rules; - for stdin\n"
		"  -d, --device D      as this device could run them; else as the paper's "
		"prototype,\n"
		"                      or one with these sizes:\n"
		"      --pipelines N   rules (8)\n"
		"      --states N      words of 64 bits of a pipeline on a channel (8192)\n"
		"      --table N       keys of a pipeline (8192)\n"
		"      --device-gib N  memory (16)\n"
		"      --flat          with flat memory mode\n"
		"  -j, --json          the rules' fields: a list with an object for each; the map "
		"is\n"
		"                      of [key, region]\n",
	.options = OPTION_FILE | OPTION_DEVICE | OPTION_JSON | OPTION_LIMITS,
	.run = run,
};
