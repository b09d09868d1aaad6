// SPDX-License-Identifier: GPL-2.0
#include "rule_fields.hpp"

#include <algorithm>
#include <charconv>

#include "utf8.hpp"

namespace {

/* The digits of a number "0x...", which may have single underscores between digits. */
std::optional<std::string> hex_digits(std::string_view written) {
    std::string digits;
    bool after_digit = false;

    if (!written.starts_with("0x") && !written.starts_with("0X"))
        return std::nullopt;
    for (char c : written.substr(2)) {
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

        if (!digit && !(c == '_' && after_digit))
            return std::nullopt;
        if (digit)
            digits += c;
        after_digit = digit;
    }
    if (!after_digit)
        return std::nullopt;
    return digits;
}

std::string listed(std::initializer_list<const char*> first,
                   std::initializer_list<const char*> more = {}) {
    std::string list;

    for (const auto& keys : {first, more})
        for (const char* key : keys)
            list += (list.empty() ? "" : ", ") + std::string(key);
    return list;
}

} // namespace

Scope Scope::rule(unsigned int number, const toml::node& node) const {
    Scope within = *this;

    within.number_ = number;
    within.rule_ = &node;
    within.table_ = node.as_table();
    return within;
}

Scope Scope::inner(const char* key) const {
    const toml::node* node = field(key);
    Scope within = *this;

    if (node && !node->is_table())
        wrong(key, "a table { key = value, ... }");
    within.table_ = node ? node->as_table() : nullptr;
    within.path_ = key;
    return within;
}

/* The line of a field: of the rule's field that contains it, or else of the rule. */
toml::source_index Scope::line_of(std::string_view key) const {
    std::string_view top = path_.empty() ? key.substr(0, key.find('[')) : path_;

    if (const toml::table* table = rule_->as_table())
        if (auto found = table->find(top); found != table->end())
            return found->first.source().begin.line;
    return rule_->source().begin.line;
}

void Scope::wrong_words(std::string_view key, const std::string& value,
                        const std::string& allowed) const {
    std::string message = one_line(key, 80) + " is " + value + "; allowed: " + allowed;

    if (!number_)
        bad_input(source.name(), ": top level: ", message);

    const toml::table* rule = rule_->as_table();
    const toml::node* name = rule ? rule->get("name") : nullptr;
    auto called = name ? source.string(*name) : std::nullopt;

    bad_input(source.name(), ": rule ", number_, called ? " \"" + one_line(*called, 180) + '"' : "",
              " (line ", line_of(key), "): ", path_, path_.empty() ? "" : ".", message);
}

void Scope::wrong(std::string_view key, const toml::node* value, const std::string& allowed) const {
    wrong_words(key, value ? source.show(*value) : "missing", allowed);
}

const toml::node* Scope::field(std::string_view key) const {
    return table_ ? table_->get(key) : nullptr;
}

bool Scope::is(std::string_view key, std::string_view value) const {
    const toml::node* node = field(key);

    return node && source.string(*node) == value;
}

void Scope::only_keys(std::initializer_list<const char*> required,
                      std::initializer_list<const char*> optional) const {
    auto has = [](const auto& keys, std::string_view key) {
        return std::ranges::find(keys, key) != keys.end();
    };

    for (const TomlFile::Member& member : TomlFile::members(*table_)) {
        std::string_view key = member.key->str();

        if (!has(required, key) && !has(optional, key))
            wrong(key, member.value, "only the keys " + listed(required, optional));
    }
    for (const char* key : required)
        if (!field(key))
            wrong(key, "must give " + listed(required));
}

bool Scope::is_whole(const toml::node& value) const {
    auto written = source.string(value);

    return written ? hex_digits(*written).has_value() : source.integer(value).has_value();
}

std::optional<uint64_t> Scope::whole_number(const toml::node& value) const {
    if (auto written = source.string(value)) {
        auto digits = hex_digits(*written);
        uint64_t number = 0;

        if (!digits ||
            std::from_chars(digits->data(), digits->data() + digits->size(), number, 16).ec !=
                std::errc())
            return std::nullopt;
        return number;
    }
    auto integer = source.integer(value);

    if (!integer || (integer->negative && integer->magnitude != 0))
        return std::nullopt;
    return integer->magnitude;
}

uint64_t Scope::number(std::string_view key, uint64_t maximum, const std::string& also) const {
    const toml::node* value = field(key);
    auto got = value ? whole_number(*value) : std::nullopt;

    if (got && *got <= maximum)
        return *got;
    wrong(key,
          text("a whole number of 0 to ", maximum < 1 << 20 ? text(maximum) : text(Hex{maximum}),
               maximum == UINT64_MAX ? " or a string of hex" : "", also.empty() ? "" : ", or ",
               also));
}

bool Scope::is_built(const Name& name) const {
    return (limits.features & name.feature) == name.feature;
}

std::string Scope::built_names(Names names, const char* last) const {
    std::vector<const char*> built;
    std::string list;

    for (const Name& name : names)
        if (is_built(name))
            built.push_back(name.name);
    for (size_t i = 0; i < built.size(); i++)
        list += (!i ? "" : i + 1 < built.size() ? ", " : last) + std::string(built[i]);
    return list;
}

unsigned int Scope::choice(std::string_view key, Names names) const {
    for (const Name& name : names)
        if (is(key, name.name) && is_built(name))
            return name.code;
    wrong(key, built_names(names, ", "));
}
