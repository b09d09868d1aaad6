/* SPDX-License-Identifier: GPL-2.0 */
/* What several commands print. */
#ifndef ANEMONECTL_SHOW_HPP
#define ANEMONECTL_SHOW_HPP

#include "json.hpp"
#include "telemetry.hpp"

/* What rules may ask of a device that can be opened; `host`: rules of host addresses. */
Limits device_limits(const std::string& path, bool host);
/* Adds a telemetry's members to an object. */
void add_telemetry(Json& object, const Telemetry& telemetry);

/* How counters are shown. */
struct Reading {
    bool snapshot, channels, all, json;
};

/* Reads and shows a telemetry: counters that are not zero, or the turns of one that is rotated.
 * JSON without the line's end. */
void show_counters(const Session& session, const Telemetry& telemetry, const Reading& reading);

#endif
