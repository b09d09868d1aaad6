// SPDX-License-Identifier: GPL-2.0
#include "target.hpp"

#include <algorithm>

#include "device.hpp"

namespace {

/* Whether --device names this path. */
bool is_called(const std::string& path, const std::string& device) {
    std::string name = path.substr(path.rfind('/') + 1);

    return path == device || name == device || name == "anemone" + device;
}

} // namespace

std::vector<std::string> candidates(const Options& options) {
    std::vector<std::string> paths = device_paths();
    std::string allowed;

    if (paths.empty())
        fail("there is no /dev/anemone*: is the driver loaded (lsmod | grep anemone), and is there "
             "a device?");
    if (options.device.empty())
        return paths;
    for (const std::string& path : paths) {
        if (is_called(path, options.device))
            return {path};
        allowed += " " + path;
    }
    bad_input("--device is \"", options.device, "\"; allowed:", allowed);
}

std::string chosen_device(const Options& options) {
    std::vector<std::string> paths = candidates(options);

    if (paths.size() > 1)
        bad_input("--device is missing; allowed: one of ", paths.size(), " devices, from ",
                  paths.front(), " to ", paths.back());
    return paths.front();
}

Target open_telemetry(const Options& options, const std::string& name, bool change) {
    std::vector<std::string> found;
    Target target = {};

    for (const std::string& path : candidates(options)) {
        Session session;

        if (Link::open(path, false, false, session) && session.find(name))
            found.push_back(path);
    }
    if (found.size() > 1)
        bad_input("telemetry \"", name, "\" is on ", found.size(), " devices; say which: --device");
    /* It may have been removed since. */
    if (!found.empty())
        target.link = Link::open(found.front(), false, change, target.session);
    target.telemetry = target.link ? target.session.find(name) : nullptr;
    if (!target.telemetry)
        bad_input("telemetry is \"", name,
                  "\"; allowed: one that was added (`anemonectl list` lists them)");
    if (!change)
        target.link.reset();
    return target;
}
