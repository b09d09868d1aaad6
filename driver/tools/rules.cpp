// SPDX-License-Identifier: GPL-2.0
#include "rules.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "rule_fields.hpp"
#include "utf8.hpp"

/* No host has more physical address bits. */
static constexpr unsigned int HOST_BITS = 52;

Limits Limits::of_host() const {
    Limits limits = *this;

    limits.host = true;
    limits.bytes = 1ULL << HOST_BITS;
    return limits;
}

uint64_t region_counters(const anemone_spec& spec, uint64_t bytes) {
    if (spec.hash.size)
        return std::bit_ceil(uint64_t{spec.hash.size});

    /* Address bits that the device does not have are zero, so they need no counters. */
    uint64_t all = UINT64_MAX >> std::countl_zero(bytes - 1) >> spec.translation.sub.shift;
    uint64_t last =
        std::min<uint64_t>(spec.translation.sub.mask >> spec.translation.sub.shift, all);

    /* The smallest power of two above the last offset. */
    return last ? 2ULL << (63 - std::countl_zero(last)) : 1;
}

bool reaches(const anemone_spec& spec, uint64_t key) {
    unsigned int shift = spec.translation.primary.shift;

    /* With other masks a key may have addresses in many ranges. */
    if (spec.translation.primary.mask >> shift != UINT64_MAX >> shift || !spec.filter.end)
        return true;
    return key >= spec.filter.start >> shift && key <= (spec.filter.end - 1) >> shift;
}

unsigned int spec_width(const anemone_spec& spec) {
    return spec.width ? spec.width : 64;
}

namespace {

constexpr size_t NAME_CHARACTERS = 100;

/* --- Fields ----------------------------------------------------------------------------------- */

void read_name(const Scope& s, Rule& rule) {
    auto name = s.source.string(*s.field("name"));
    std::u32string characters = decode_utf8(name.value_or(""));

    if (characters.empty() || characters.size() > NAME_CHARACTERS ||
        !std::ranges::all_of(characters, is_printable))
        s.wrong("name", text("1 to ", NAME_CHARACTERS, " printable characters"));
    rule.name = *name;
    /* The kernel's name is for its log: ASCII, and shorter. */
    for (size_t i = 0; i < characters.size() && i + 1 < sizeof(rule.spec.name); i++)
        rule.spec.name[i] = characters[i] < 0x80 ? static_cast<char>(characters[i]) : '?';
}

void read_range(const Scope& s, anemone_spec& spec) {
    const toml::array* range = s.field("range")->as_array();
    bool two = range && range->size() == 2;
    auto start = two ? s.whole_number((*range)[0]) : std::nullopt;
    auto end = two ? s.whole_number((*range)[1]) : std::nullopt;
    uint64_t bytes = s.limits.bytes;

    if (!start || !end || *start >= *end || *end > bytes)
        s.wrong("range", text("[start, end] with 0 <= start < end <= ", Hex{bytes}, " (",
                              bytes >> 30, " GiB)"));
    spec.filter.start = *start;
    spec.filter.end = *end;
}

unsigned int read_width(const Scope& s) {
    const toml::node* width = s.field("width");
    auto bits = width ? s.source.integer(*width) : std::nullopt;

    for (const Name& name : width_names)
        if (s.is_built(name) &&
            (width ? bits && !bits->negative && bits->magnitude == name.code : name.code == 64))
            return name.code;
    /* The default is 64, which may not be built in. */
    if (!width)
        s.wrong_words("width", "64", s.built_names(width_names, " or "));
    s.wrong("width", s.built_names(width_names, " or "));
}

void read_field(const Scope& s, anemone_field& field) {
    field.mask = s.number("mask", UINT64_MAX);
    field.shift = static_cast<uint32_t>(s.number("shift", 63));
}

/* The driver's conditions for host addresses: keys must not depend on the memory's base. */
void check_host_fields(const Scope& primary, const Scope& sub, const anemone_translation& fields) {
    uint32_t shift = fields.primary.shift;
    uint64_t reach = 1ULL << shift;

    if (fields.primary.mask >> shift != UINT64_MAX >> shift)
        primary.wrong("mask", text("with --host-addresses every bit from shift ", shift,
                                   " on, such as ", Hex{UINT64_MAX << shift}));
    if (fields.sub.mask >= reach)
        sub.wrong("mask", text("with --host-addresses less than ", Hex{reach},
                               ", a key's reach by primary.shift ", shift));
}

void read_hash(const Scope& rule, anemone_spec& spec) {
    Scope s = rule.inner("hash");
    uint64_t counters = uint64_t{s.limits.states} * (64 / spec_width(spec));

    if (!s)
        return;
    if (!s.limits.hash)
        rule.wrong("hash", "no hash, as none is built in");
    s.only_keys({"multiplier", "size"});
    spec.hash.multiplier =
        static_cast<uint32_t>(s.number("multiplier", (1U << ANEMONE_HASH_BITS) - 1));
    if (spec.hash.multiplier % 2 == 0)
        s.wrong("multiplier", "an odd number");
    spec.hash.size = static_cast<uint32_t>(s.number("size", counters));
    if (!spec.hash.size)
        s.wrong("size", "1 or more");
}

void read_update(const Scope& rule, anemone_operation& update) {
    Scope s = rule.inner("update");
    Names fields = source_names.subspan(1);

    s.only_keys({"op", "operand"});
    update.op = static_cast<uint8_t>(s.choice("op", op_names));
    for (const Name& name : fields)
        if (s.is("operand", name.name) && s.is_built(name)) {
            update.source = static_cast<uint8_t>(name.code);
            return;
        }

    std::string also = s.built_names(fields, "\" or \"");

    update.operand = s.number("operand", UINT64_MAX, also.empty() ? "" : '"' + also + '"');
}

void read_notify(const Scope& rule, anemone_operation& notify) {
    Scope s = rule.inner("notify");
    uint64_t operand = 0;

    if (!s)
        return;
    s.only_keys({"op"}, {"operand"});
    notify.op = static_cast<uint8_t>(s.choice("op", predicate_names));
    if (notify.op != ANEMONE_NOTIFY_NONE || s.field("operand"))
        operand = s.number("operand", UINT64_MAX);
    notify.operand = notify.op == ANEMONE_NOTIFY_NONE ? 0 : operand;
}

void read_effect(const Scope& rule, anemone_operation& effect) {
    Scope s = rule.inner("read_effect");

    effect.op = ANEMONE_OP_NONE;
    if (!s)
        return;
    s.only_keys({"op"}, {"value", "operand"});
    effect.op = static_cast<uint8_t>(s.choice("op", effect_names));
    if (effect.op == ANEMONE_OP_NONE)
        return;

    bool reset = effect.op == ANEMONE_OP_RESET;
    const char* wants = reset ? "value" : "operand";
    const char* other = reset ? "operand" : "value";

    if (s.field(other))
        s.wrong(other, text("only op and ", wants, " with op \"", op_name(effect.op), '"'));
    effect.operand = s.number(wants, UINT64_MAX);
}

/* --- The map ---------------------------------------------------------------------------------- */

/* Checks that a base index is the first counter of a region. */
uint32_t region_of(const Scope& s, const anemone_spec& spec, const std::string& at,
                   const toml::node& entry, uint64_t base) {
    uint64_t counters = region_counters(spec, s.limits.bytes);

    if (counters ? base % counters : base)
        s.wrong(at, &entry,
                text("a base index that is a multiple of the region's ",
                     counters ? "" : "2^64: ", counters,
                     " counters (by sub): the driver gives every region counters of its own"));
    return counters ? static_cast<uint32_t>(base / counters) : 0;
}

void read_map(const Scope& s, Rule& rule) {
    const toml::array* map = s.field("map")->as_array();
    uint64_t counters = uint64_t{s.limits.states} * (64 / spec_width(rule.spec));
    const char* table_option = s.limits.from_options && !s.limits.host ? " (--table)" : "";
    const char* states_option = s.limits.from_options ? " (--states x 64 / width)" : "";
    /* For host addresses the driver knows which keys exist. */
    uint64_t keys = s.limits.host ? s.limits.bytes : s.limits.table;
    std::map<uint64_t, size_t> seen;
    uint32_t region_count = 0;

    if (s.is("map", "identity")) {
        rule.identity = true;
        if (region_counters(rule.spec, s.limits.bytes) != 1)
            s.wrong("map",
                    "[[key, base index], ...] with a sub mask or a hash: key 1's counters would "
                    "begin among key 0's");
        return;
    }
    if (!map)
        s.wrong("map", "a list of [key, base index], or \"identity\"");
    for (const toml::node& entry : *map) {
        const toml::array* pair = entry.as_array();
        std::string at = text("map[", rule.map.size(), ']');

        if (!pair || pair->size() != 2 || !s.is_whole((*pair)[0]) || !s.is_whole((*pair)[1]))
            s.wrong(at, &entry, "[key, base index], two whole numbers");

        auto key = s.whole_number((*pair)[0]), base = s.whole_number((*pair)[1]);

        if (!key || *key >= keys)
            s.wrong(at, &entry, text("a key of 0 to ", keys - 1, table_option));
        if (!base || *base >= counters)
            s.wrong(at, &entry, text("a base index of 0 to ", counters - 1, states_option));
        if (auto [first, added] = seen.emplace(*key, rule.map.size()); !added)
            s.wrong(at, &entry, text("each key once (map[", first->second, "] has ", *key, ')'));

        uint32_t region = region_of(s, rule.spec, at, entry, *base);

        rule.map.push_back({.key = *key, .region = region, .flags = 0});
        region_count = std::max(region_count, region + 1);
    }
    /*
     * As many regions as the file names. If it names none: one for the command `map`, or with host
     * addresses as many as a pipeline holds (0), for the pages of a process.
     */
    rule.spec.regions = region_count || s.limits.host ? region_count : 1;
}

/* --- Rules ------------------------------------------------------------------------------------ */

Rule read_rule(const Scope& s) {
    Rule rule;
    anemone_spec& spec = rule.spec;

    s.only_keys({"name", "type", "range", "primary", "update", "map"},
                {"near", "sub", "hash", "width", "notify", "read_effect", "read_every"});
    read_name(s, rule);
    read_range(s, spec);
    spec.flags = s.limits.host ? ANEMONE_SPEC_HOST : 0;

    Scope primary = s.inner("primary"), sub = s.inner("sub");

    primary.only_keys({"mask", "shift"});
    if (sub)
        sub.only_keys({"mask", "shift"});
    spec.width = static_cast<uint8_t>(read_width(s));
    spec.filter.type = static_cast<uint8_t>(s.choice("type", type_names));
    if (s.field("near"))
        spec.filter.near = static_cast<uint8_t>(s.choice("near", near_names));
    read_field(primary, spec.translation.primary);
    if (sub)
        read_field(sub, spec.translation.sub);
    read_hash(s, spec);
    if (s.limits.host)
        check_host_fields(primary, sub, spec.translation);
    read_update(s, spec.update);
    read_notify(s, spec.notify);
    read_effect(s, spec.read_effect);
    if (s.field("read_every"))
        s.number("read_every", INT64_MAX);
    read_map(s, rule);
    if (spec.filter.near != ANEMONE_NEAR_ANY && !s.limits.flat)
        s.wrong("near", "\"any\" (only an expander with flat memory mode tells hits from misses)");
    return rule;
}

void note_truncated(const Rule& rule, const char* name, uint64_t operand) {
    unsigned int width = spec_width(rule.spec);

    if (width < 64 && operand >> width)
        note("rule \"", rule.name, "\": ", name, ' ', Hex{operand}, " is wider than the counter's ",
             width, " bits; ", Hex{operand & ((uint64_t{1} << width) - 1)}, " is used");
}

void print_notes(const Rule& rule) {
    const anemone_spec& spec = rule.spec;
    /* For the other ops a longer operand works modulo 2^width anyway. */
    auto truncates = [](unsigned int op) { return op > ANEMONE_OP_OR; };

    if (spec.notify.op != ANEMONE_NOTIFY_NONE)
        note_truncated(rule, "notify.operand", spec.notify.operand);
    if (truncates(spec.read_effect.op))
        note_truncated(rule, "read_effect", spec.read_effect.operand);
    if (truncates(spec.update.op))
        note_truncated(rule, "update.operand", spec.update.operand);
}

} // namespace

std::vector<Rule> read_rules(const std::string& path, const Limits& limits) {
    TomlFile source(path == "-" ? "stdin" : path, read_file(path));
    Scope top(source, limits);
    std::string allowed = text("1 to ", limits.pipelines, " [[rule]] tables",
                               limits.from_options ? " (--pipelines)" : "");
    std::vector<Rule> rules;
    bool read_every = false;

    for (const TomlFile::Member& member : TomlFile::members(source.root()))
        if (member.key->str() != "rule")
            top.wrong(member.key->str(), member.value, "only the keys rule");

    const toml::node* found = top.field("rule");
    const toml::array* tables = found ? found->as_array() : nullptr;

    if (!tables || tables->empty())
        top.wrong("rule", allowed);
    for (const toml::node& table : *tables) {
        Scope s = top.rule(static_cast<unsigned int>(rules.size()) + 1, table);

        if (rules.size() == limits.pipelines)
            s.wrong_words("rule", text("number ", rules.size() + 1, " of ", tables->size()),
                          allowed);
        if (!table.is_table())
            s.wrong("rule", &table, "a [[rule]] table");

        Rule rule = read_rule(s);
        auto earlier = std::ranges::find(rules, rule.name, &Rule::name);

        if (earlier != rules.end())
            s.wrong("name", text("a name of its own (rule ", earlier - rules.begin() + 1,
                                 " has this one)"));
        read_every = read_every || s.field("read_every");
        rules.push_back(std::move(rule));
    }
    std::ranges::for_each(rules, print_notes);
    if (read_every)
        note(source.name(), ": read_every is ignored: it is of a trace's replay; here "
                            "`anemonectl read` reads");
    return rules;
}
