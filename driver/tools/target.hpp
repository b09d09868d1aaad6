/* SPDX-License-Identifier: GPL-2.0 */
/* The device, and the telemetry of its holder, that a command acts on. */
#ifndef ANEMONECTL_TARGET_HPP
#define ANEMONECTL_TARGET_HPP

#include "link.hpp"
#include "options.hpp"

/* The devices of --device (a path, "anemone0" or "0"), or all devices; at least one. */
std::vector<std::string> candidates(const Options& options);
/* The device of --device, or the only one. */
std::string chosen_device(const Options& options);

/* A telemetry, its session, and the link to its holder. */
struct Target {
    Session session;
    std::optional<Link> link;
    Telemetry* telemetry; /* in the session */
};

/*
 * The telemetry of this name on --device, or on any device. Without `change` the link is already
 * closed.
 */
Target open_telemetry(const Options& options, const std::string& name, bool change);

#endif
