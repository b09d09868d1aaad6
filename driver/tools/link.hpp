/* SPDX-License-Identifier: GPL-2.0 */
/* A command's connection to the holder of a device. */
#ifndef ANEMONECTL_LINK_HPP
#define ANEMONECTL_LINK_HPP

#include "wire.hpp"

class Link {
public:
    /*
     * Opens the telemetries of a device's holder. If there is no holder, `start` starts one;
     * otherwise the result is empty. With `change`, no other command can change anything while the
     * link is open.
     */
    static std::optional<Link> open(const std::string& device, bool start, bool change,
                                    Session& session);

    /* Sends a new or changed telemetry; a new one goes if the link closes before a commit. */
    void put(const Telemetry& telemetry);
    /* Removes it from the device, too. */
    void remove(uint32_t id);
    void commit();

private:
    void request(WireKind kind, uint32_t id) const;
    void wait_done(const char* what) const;
    Session receive_session(const std::string& device) const;

    Descriptor lock_; /* while locked, other commands and the end of the holder wait */
    Descriptor socket_;
};

#endif
