// SPDX-License-Identifier: GPL-2.0
#include "json.hpp"

#include <cstdio>

namespace {

/* The library's own format has no blanks and prints fractions with all digits. */
std::string to_text(const Json& value) {
    if (value.is_number_float()) {
        char digits[64];

        std::snprintf(digits, sizeof(digits), "%.6f", value.get<double>());
        return digits;
    }
    if (!value.is_structured())
        return value.dump(-1, ' ', false, Json::error_handler_t::replace);

    std::string inside;

    for (const auto& [key, element] : value.items()) {
        if (!inside.empty())
            inside += ", ";
        if (value.is_object())
            inside += to_text(key) + ": ";
        inside += to_text(element);
    }
    return value.is_object() ? "{" + inside + "}" : "[" + inside + "]";
}

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace

void print_json(const Json& value) {
    print(to_text(value) + "\n");
}

JsonList::JsonList() : closing_("]") {
    print("[");
}

JsonList::JsonList(const Json& object, const std::string& member) : closing_("]}") {
    std::string head = to_text(object);

    head.pop_back();
    print(head + (object.empty() ? "" : ", ") + to_text(member) + ": [");
}

void JsonList::next() {
    if (!first_)
        print(", ");
    first_ = false;
}

void JsonList::add(const Json& element) {
    next();
    print(to_text(element));
}

void JsonList::close() {
    print(closing_);
}

void JsonList::close_line() {
    close();
    print("\n");
}
