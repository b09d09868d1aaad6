/* SPDX-License-Identifier: GPL-2.0 */
/* JSON on stdout: one value per line, with ", " and ": " as separators. */
#ifndef ANEMONECTL_JSON_HPP
#define ANEMONECTL_JSON_HPP

#include <string>

#include <nlohmann/json.hpp>

/* Keeps the order of an object's members. */
using Json = nlohmann::ordered_json;

void print_json(const Json& value);

/*
 * A list that is printed while it grows, so that its size does not matter: a top-level list, or the
 * last member of an object.
 */
class JsonList {
public:
    JsonList();
    JsonList(const Json& object, const std::string& member);
    JsonList(const JsonList&) = delete;
    /* Prints the next element, or only its separator. */
    void add(const Json& element);
    void next();
    /* Prints the closing brackets. */
    void close();
    /* The same for a top-level list, with the end of the line. */
    void close_line();

private:
    std::string closing_;
    bool first_ = true;
};

#endif
