/* SPDX-License-Identifier: GPL-2.0 */
/* Messages on a stream socket between anemonectl and its holder, which are one program. */
#ifndef ANEMONECTL_WIRE_HPP
#define ANEMONECTL_WIRE_HPP

#include "telemetry.hpp"

/* Changes with anything that is sent: a holder may be older than the program. */
constexpr uint32_t WIRE_VERSION = 2;

enum WireKind : uint32_t {
    WIRE_WELCOME = 1, /* holder: a device's descriptor and `count` telemetries follow */
    WIRE_PUT,         /* a telemetry, new or changed, that follows */
    WIRE_REMOVE,      /* the one with this id */
    WIRE_COMMIT,      /* what was new since the connection began is to stay */
    WIRE_DONE,        /* holder: so it is; `count` is an errno or 0 */
};

struct WireMessage {
    uint32_t version = WIRE_VERSION;
    uint32_t kind = 0;
    uint32_t count = 0;
    uint32_t id = 0;
};

/* False, or nothing: the other end is gone, too slow, or does not follow the protocol. */
bool wire_send(int socket, const WireMessage& message, int fd = -1);
std::optional<WireMessage> wire_receive(int socket, Descriptor* fd = nullptr);
bool wire_send_telemetry(int socket, const Telemetry& telemetry);
std::optional<Telemetry> wire_receive_telemetry(int socket);

/* The directory of this user's sockets, and whether it exists and is nobody else's; else errno. */
std::string wire_directory();
bool wire_directory_is_ours(const std::string& directory);
/* A device's file there: `suffix` is "sock" or "lock". Nothing: no such place (errno). */
std::optional<std::string> wire_path(const std::string& device, const std::string& suffix);

#endif
