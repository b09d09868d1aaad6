// SPDX-License-Identifier: GPL-2.0
#include <cstdio>

#include "json.hpp"
#include "show.hpp"
#include "target.hpp"

namespace {

Json json_of(const Rule& rule, uint64_t bytes) {
    const anemone_spec& spec = rule.spec;
    Json map = Json::array();

    for (const anemone_entry& entry : rule.map)
        map.push_back(Json::array({entry.key, entry.region}));
    if (rule.identity)
        map = "identity";
    return {
        {"name", rule.name},
        {"type", type_name(spec.filter.type)},
        {"near", near_name(spec.filter.near)},
        {"start", spec.filter.start},
        {"end", spec.filter.end},
        {"primary_mask", spec.translation.primary.mask},
        {"primary_shift", spec.translation.primary.shift},
        {"sub_mask", spec.translation.sub.mask},
        {"sub_shift", spec.translation.sub.shift},
        {"hash_multiplier", spec.hash.multiplier},
        {"hash_size", spec.hash.size},
        {"op", op_name(spec.update.op)},
        {"operand", spec.update.operand},
        {"operand_kind", source_name(spec.update.source)},
        {"width", spec_width(spec)},
        {"notify_op", predicate_name(spec.notify.op)},
        {"notify_operand", spec.notify.operand},
        {"effect_op", op_name(spec.read_effect.op)},
        {"effect_operand", spec.read_effect.operand},
        {"regions", spec.regions},
        {"region_counters", region_counters(spec, bytes)},
        {"host_addresses", (spec.flags & ANEMONE_SPEC_HOST) != 0},
        {"map", map},
    };
}

int run(const Options& o) {
    if (o.file.empty())
        bad_input("check: --file is missing; allowed: a rule file (docs/rules.md), - for stdin");

    Limits limits = !o.device.empty() ? device_limits(chosen_device(o), o.host)
                    : o.host          ? o.limits.of_host()
                                      : o.limits;
    Json list = Json::array();

    for (const Rule& rule : read_rules(o.file, limits)) {
        uint64_t counters = region_counters(rule.spec, limits.bytes);

        if (o.json)
            list.push_back(json_of(rule, limits.bytes));
        else
            std::printf("%s: %s, regions of %llu counter%s, %u bits each\n", rule.name.c_str(),
                        type_name(rule.spec.filter.type), static_cast<unsigned long long>(counters),
                        plural(counters), spec_width(rule.spec));
    }
    if (o.json)
        print_json(list);
    return 0;
}

} // namespace

const Command command_check = {
    .name = "check",
    .summary = "check a rule file and show its first error",
    .help = R"(usage: anemonectl check -f RULES.toml [--device D] [--json]

Reads the file (docs/rules.md) as `add` does, with or without a device, and shows the
rules. An error is one line with file, rule, line, field, value and the allowed
values; the exit status is then 2.

  -f, --file F        the rules; - for stdin
      --host-addresses  addresses and keys in the file are host addresses, not
                      device addresses
  -d, --device D      check against this device; else against the paper's
                      prototype, or these sizes:
      --pipelines N   rules (8)
      --states N      64-bit words per pipeline and channel (8192)
      --table N       keys per pipeline (8192)
      --device-gib N  memory (16)
      --flat          with flat memory mode
      --hash          with the hash stage
      --all-ops       with every update op, not only the standard ones
  -j, --json          the rules' fields: a list with an object for each; the map is
                      of [key, region]
)",
    .options = OPTION_FILE | OPTION_HOST | OPTION_DEVICE | OPTION_JSON | OPTION_LIMITS,
    .min_words = 0,
    .max_words = 0,
    .run = run,
};
