/* SPDX-License-Identifier: GPL-2.0 */
/* Delivers the device's interrupts to files and callbacks. */
#ifndef ANEMONE_NOTIFY_H
#define ANEMONE_NOTIFY_H

#include "telemetry.h"

/* Handles a message of the device: vector 0 for errors, 1 + p for pipeline p. May sleep. */
void anemone_notify_vector(struct anemone_controller *ctl, unsigned int vector);
/* Polls for pending vectors, every poll_ms milliseconds until cancelled. */
void anemone_notify_poll(struct work_struct *work);
void anemone_notify_poll_later(struct anemone_controller *ctl);
extern unsigned int anemone_poll_ms;

/* Wakes readers of the telemetry's file, signals its eventfd. Under the controller's lock. */
void anemone_notify_wake(struct anemone_telemetry *telemetry);

/* The next event of a file, or NULL. Under file->lock until anemone_notify_done. */
struct anemone_pending_event *anemone_notify_next(struct anemone_file *file,
						  struct anemone_event *event);
/* Removes an event that was delivered and re-arms its pipeline. A newer event stays queued. */
void anemone_notify_done(struct anemone_pending_event *pending, const struct anemone_event *event);

#endif
