/* SPDX-License-Identifier: GPL-2.0 */
/* Which device, and which telemetry of its holder, a command is about. */
#ifndef ANEMONECTL_TARGET_HPP
#define ANEMONECTL_TARGET_HPP

#include "link.hpp"
#include "options.hpp"

/* The devices of --device (a path, "anemone0" or "0"), or all there are; at least one. */
std::vector<std::string> candidates(const Options& options);
/* The one device of --device, or the only one there is. */
std::string chosen_device(const Options& options);

/* A telemetry, the session that it is of, and the link to its holder. */
struct Target {
    Session session;
    std::optional<Link> link;
    Telemetry* telemetry; /* in the session */
};

/* The telemetry of this name on --device, or on whichever device has it. Without `change` the link
 * is closed already. */
Target open_telemetry(const Options& options, const std::string& name, bool change);

#endif
