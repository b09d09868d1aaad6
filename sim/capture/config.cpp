// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace capture {
namespace {

void require(bool holds, const char* name, const std::string& value, const char* allowed) {
    if (!holds) {
        throw std::invalid_argument(std::string(name) + " is " + value + "; allowed: " + allowed);
    }
}

void require(bool holds, const char* name, std::uint64_t value, const char* allowed) {
    require(holds, name, std::to_string(value), allowed);
}

bool power_of_two(std::uint64_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

bool between(std::uint64_t n, std::uint64_t low, std::uint64_t high) {
    return n >= low && n <= high;
}

std::uint64_t number(const std::string& name, const std::string& value) {
    bool digits = !value.empty() && value.size() <= 19 &&
                  value.find_first_not_of("0123456789") == std::string::npos;
    require(digits, name.c_str(), "\"" + value + "\"", "a whole number below 10^19");
    return std::stoull(value);
}

} // namespace

Config Config::parse(const std::string& text) {
    Config c{};
    std::set<std::string> given;
    const std::map<std::string, std::uint64_t*> numbers = {
        {"llc_kib", &c.llc_kib},
        {"ways", &c.ways},
        {"prefetch_degree", &c.prefetch_degree},
        {"prefetch_table", &c.prefetch_table},
        {"combine_buffers", &c.combine_buffers},
        {"seed", &c.seed},
        {"device_gib", &c.device_gib},
        {"base_gib", &c.base_gib},
        {"tenants", &c.tenants},
        {"tenant", &c.tenant},
        {"access_ps", &c.access_ps},
        {"call_ps", &c.call_ps},
        {"stall_ps", &c.stall_ps},
        {"line_ps", &c.line_ps},
        {"slow_down", &c.slow_down},
        {"events", &c.events},
    };
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        require(equals != std::string::npos, "setting", "\"" + word + "\"", "name=value");
        const std::string name = word.substr(0, equals);
        const std::string value = word.substr(equals + 1);
        require(given.insert(name).second, name.c_str(), "twice there", "once");
        if (name == "prefetch") {
            require(value == "0" || value == "1", "prefetch", value, "0 or 1");
            c.prefetch = value == "1";
        } else if (name == "pages") {
            require(value == "base" || value == "huge", "pages", value, "base or huge");
            c.pages = value == "huge" ? Pages::huge : Pages::base;
        } else if (name == "placement") {
            require(value == "first-touch" || value == "scattered", "placement", value,
                    "first-touch or scattered");
            c.placement = value == "scattered" ? Placement::scattered : Placement::first_touch;
        } else {
            const auto found = numbers.find(name);
            require(found != numbers.end(), "setting", "\"" + name + "\"", "a known name");
            *found->second = number(name, value);
        }
    }
    for (const char* name : {"prefetch", "pages", "placement"}) {
        require(given.count(name) != 0, name, "missing", "every setting");
    }
    for (const auto& known : numbers) {
        require(given.count(known.first) != 0, known.first.c_str(), "missing", "every setting");
    }
    c.check();
    return c;
}

void Config::check() const {
    require(between(ways, 1, 64), "ways", ways, "1 to 64");
    require(between(llc_kib, 1, 1 << 20), "llc_kib", llc_kib, "1 to 1048576");
    require(llc_kib * 1024 % (kLineBytes * ways) == 0 && power_of_two(sets()), "llc_kib", llc_kib,
            "a size whose sets (size / 64 B / ways) are a power of two");
    require(between(prefetch_degree, 1, 16), "prefetch_degree", prefetch_degree, "1 to 16");
    require(power_of_two(prefetch_table) && prefetch_table <= 4096, "prefetch_table",
            prefetch_table, "a power of two up to 4096");
    require(between(combine_buffers, 1, 64), "combine_buffers", combine_buffers, "1 to 64");
    require(seed <= 1000000000000000000, "seed", seed, "at most 10^18");
    require(between(device_gib, 1, 1024), "device_gib", device_gib, "1 to 1024");
    require(base_gib < device_gib, "base_gib", base_gib, "less than device_gib");
    require(between(tenants, 1, 64), "tenants", tenants, "1 to 64");
    require(tenant < tenants, "tenant", tenant, "less than tenants");
    require(access_ps <= 1000000, "access_ps", access_ps, "at most 1000000");
    require(call_ps <= 1000000, "call_ps", call_ps, "at most 1000000");
    require(stall_ps <= 1000000, "stall_ps", stall_ps, "at most 1000000");
    require(between(line_ps, 1, 1000000), "line_ps", line_ps, "1 to 1000000");
    require(between(slow_down, 1, 100000), "slow_down", slow_down, "1 to 100000");
    require(between(events, 1, 1000000000), "events", events, "1 to 10^9");
}

} // namespace capture
