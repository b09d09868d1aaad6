/* SPDX-License-Identifier: GPL-2.0 */
/* From the device's interrupts to those who asked. */
#ifndef ANEMONE_NOTIFY_H
#define ANEMONE_NOTIFY_H

#include "telemetry.h"

/* A message of the device: vector 0 for errors, 1 + p for pipeline p. May sleep. */
void anemone_notify_vector(struct anemone_controller *ctl, unsigned int vector);
/* Looks for vectors whose cause stands, and again after so many milliseconds, until cancelled. */
void anemone_notify_poll(struct work_struct *work);
void anemone_notify_poll_later(struct anemone_controller *ctl);
extern unsigned int anemone_poll_ms;

/* Who reads the telemetry's file, and its eventfd, are told. Under the controller's lock. */
void anemone_notify_wake(struct anemone_telemetry *telemetry);

/* The next event of a file; NULL: there is none. Of it, under file->lock until it is done. */
struct anemone_pending_event *anemone_notify_next(struct anemone_file *file,
						  struct anemone_event *event);
/* The event was told: its pipeline is armed again. One that came meanwhile stays for the next. */
void anemone_notify_done(struct anemone_pending_event *pending, const struct anemone_event *event);

#endif
