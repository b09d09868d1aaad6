/* SPDX-License-Identifier: GPL-2.0 */
/* Messages between anemonectl and its holder (the same program) on a stream socket. */
#ifndef ANEMONECTL_WIRE_HPP
#define ANEMONECTL_WIRE_HPP

#include "telemetry.hpp"

/* Changes with every change of the format, because a holder may be older than the program. */
constexpr uint32_t WIRE_VERSION = 2;

enum WireKind : uint32_t {
    WIRE_WELCOME = 1, /* holder: a device's descriptor and `count` telemetries follow */
    WIRE_PUT,         /* a telemetry, new or changed, that follows */
    WIRE_REMOVE,      /* the one with this id */
    WIRE_COMMIT,      /* keeps the telemetries that are new on this connection */
    WIRE_DONE,        /* holder: reply; `count` is an errno or 0 */
};

struct WireMessage {
    uint32_t version = WIRE_VERSION;
    uint32_t kind = 0;
    uint32_t count = 0;
    uint32_t id = 0;
};

/* False or empty: the other end has gone, is too slow, or breaks the protocol. */
bool wire_send(int socket, const WireMessage& message, int fd = -1);
std::optional<WireMessage> wire_receive(int socket, Descriptor* fd = nullptr);
bool wire_send_telemetry(int socket, const Telemetry& telemetry);
std::optional<Telemetry> wire_receive_telemetry(int socket);

/*
 * The directory of this user's sockets, and whether it exists and belongs to this user alone;
 * otherwise errno.
 */
std::string wire_directory();
bool wire_directory_is_ours(const std::string& directory);
/* A device's file in it; `suffix` is "sock" or "lock". Empty: no such directory (errno). */
std::optional<std::string> wire_path(const std::string& device, const std::string& suffix);

#endif
