// SPDX-License-Identifier: Apache-2.0
// Settings as text, one `name=value` per line. Errors name the setting.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace core {

class Fields {
public:
    explicit Fields(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            const auto at = line.find('=');
            if (at == std::string::npos ||
                !found_.emplace(line.substr(0, at), line.substr(at + 1)).second)
                throw std::invalid_argument("not name=value, or twice: " + line);
        }
    }
    // An optional field: `value` keeps its default when the field is missing.
    template <class T> void may(const char* name, T& value, double minimum, double maximum) {
        if (found_.count(name))
            take(name, value, minimum, maximum);
    }
    void take(const char* name, double& value, double minimum, double maximum) {
        const auto at = found_.find(name);
        if (at == found_.end())
            throw std::invalid_argument(std::string(name) + " is missing");
        char* end = nullptr;
        value = std::strtod(at->second.c_str(), &end);
        if (at->second.empty() || *end || !(value >= minimum && value <= maximum))
            throw std::invalid_argument(std::string(name) + " is " + at->second +
                                        "; allowed: " + text(minimum) + " to " + text(maximum));
        found_.erase(at);
    }
    void take(const char* name, std::uint64_t& value, double minimum, double maximum) {
        double number = 0;
        take(name, number, minimum, maximum);
        value = static_cast<std::uint64_t>(number);
        if (static_cast<double>(value) != number)
            throw std::invalid_argument(std::string(name) + " is not a whole number");
    }
    std::string word(const char* name) {
        const auto at = found_.find(name);
        if (at == found_.end())
            throw std::invalid_argument(std::string(name) + " is missing");
        const std::string word = at->second;
        found_.erase(at);
        return word;
    }
    void nothing_left() const {
        if (!found_.empty())
            throw std::invalid_argument(found_.begin()->first + " is not known");
    }

private:
    static std::string text(double value) {
        std::ostringstream out;
        out << value;
        return out.str();
    }
    std::map<std::string, std::string> found_;
};

} // namespace core
