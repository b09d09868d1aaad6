/* SPDX-License-Identifier: GPL-2.0 */
/* Output that several commands share. */
#ifndef ANEMONECTL_SHOW_HPP
#define ANEMONECTL_SHOW_HPP

#include "json.hpp"
#include "telemetry.hpp"

/* The limits of a device, if it can be opened; `host`: for rules of host addresses. */
Limits device_limits(const std::string& path, bool host);
/* Adds a telemetry's members to an object. */
void add_telemetry(Json& object, const Telemetry& telemetry);

/* How to show counters. */
struct Reading {
    bool snapshot, channels, all, json;
};

/*
 * Reads and shows a telemetry: its counters that are not zero, or the turns of a rotation. JSON is
 * printed without the end of the line.
 */
void show_counters(const Session& session, const Telemetry& telemetry, const Reading& reading);

#endif
