/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Anemone memory expander: what user space says to /dev/anemoneN (anemone(4)).
 *
 * A telemetry is a rule, the pipelines that run it and the counters that it updates. It belongs to
 * the open file that added it: nothing else can read, map or remove it, and it ends with that file.
 * Every structure has the same layout for 32-bit and 64-bit callers. The first member, `size`, is
 * the caller's sizeof: a newer kernel takes an older caller's shorter structure, and an older
 * kernel takes a newer caller's longer one as long as what it does not know is zero (else E2BIG).
 * Padding must be zero.
 */
#ifndef _UAPI_LINUX_ANEMONE_H
#define _UAPI_LINUX_ANEMONE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ANEMONE_UAPI_VERSION 1

/* --- Rules (NEMO, Table 1) ------------------------------------------------------------------- */

/* .filter.type: the requests that count. */
#define ANEMONE_R 1
#define ANEMONE_W 2

/* .filter.near: those that near memory had (hit) or had not (miss); needs flat memory mode. */
#define ANEMONE_NEAR_ANY 0
#define ANEMONE_NEAR_HIT 1
#define ANEMONE_NEAR_MISS 2

/* .update.op and .read_effect.op: what becomes of the counter. */
#define ANEMONE_OP_NONE 0 /* of a read effect: nothing */
#define ANEMONE_OP_ADD 1
#define ANEMONE_OP_SUB 2
#define ANEMONE_OP_SHR 3
#define ANEMONE_OP_SHL 4
#define ANEMONE_OP_XOR 5
#define ANEMONE_OP_OR 6
#define ANEMONE_OP_MAX 7
#define ANEMONE_OP_ADDSAT 8
#define ANEMONE_OP_RESET 9 /* of a read effect: the counter becomes the value */

/* .update.source: where the operand comes from. */
#define ANEMONE_OPERAND_VALUE 0
#define ANEMONE_OPERAND_LINE 1
#define ANEMONE_OPERAND_IS_WRITE 2

/* .notify.op: tested on the value just written, unsigned. */
#define ANEMONE_NOTIFY_NONE 0
#define ANEMONE_NOTIFY_EQ 1
#define ANEMONE_NOTIFY_GE 2
#define ANEMONE_NOTIFY_GT 3
#define ANEMONE_NOTIFY_LT 4
#define ANEMONE_NOTIFY_LE 5

/* A mask of all memory, for .translation.primary.mask. */
#define ANEMONE_ALL_MEM (~0ULL)

/* struct anemone_spec.flags */
/*
 * Addresses and keys are the host's physical ones; else they are the device's, from 0. The primary
 * mask then has every bit from its shift on, and the sub mask none at or above that.
 */
#define ANEMONE_SPEC_HOST (1 << 0)

struct anemone_filter {
	__u64 start, end; /* addresses that match, end exclusive; both 0: all */
	__u8 type;        /* ANEMONE_R | ANEMONE_W */
	__u8 near;
	__u8 pad[6];
};

struct anemone_field {
	__u64 mask;
	__u32 shift; /* 0 to 63 */
	__u32 pad;
};

/*
 * key = (address & primary.mask) >> primary.shift; a key is mapped to a region (ANEMONE_MAP).
 * offset = (address & sub.mask) >> sub.shift; the counter within the region.
 * A region has as many counters as there are offsets, rounded up to a power of two.
 */
struct anemone_translation {
	struct anemone_field primary, sub;
};

struct anemone_operation {
	union {
		__u64 operand;
		__u64 value; /* of a reset */
	};
	__u8 op;
	__u8 source; /* of an update's operand */
	__u8 pad[6];
};

struct anemone_spec {
	char name[32]; /* printable, for people; ends with a NUL */
	struct anemone_filter filter;
	struct anemone_translation translation;
	struct anemone_operation update, notify, read_effect;
	__u32 regions; /* wanted at a time; 0: as many as one pipeline holds */
	__u32 flags;
	__u8 width; /* bits of a counter: 8, 16, 32, 64; 0 is 64 */
	__u8 pad[7];
	__u64 reserved[4]; /* 0, until they mean something */
};

/* --- The device ------------------------------------------------------------------------------ */

/* struct anemone_info.flags */
#define ANEMONE_INFO_INTERRUPTS (1 << 0) /* notifications come by interrupt, not by polling */
#define ANEMONE_INFO_FLAT (1 << 1)       /* flat memory mode is built in */
#define ANEMONE_INFO_FAILED (1 << 2)     /* the device was given up: every call returns EIO */

struct anemone_info {
	__u32 size;
	__u32 uapi;    /* ANEMONE_UAPI_VERSION of the kernel */
	__u32 version; /* of the register map: major << 16 | minor */
	__u32 flags;
	__u32 pipelines, pipelines_free;
	__u32 channels;
	__u32 states;               /* words of 64 bits of a pipeline on a channel */
	__u32 table;                /* entries of a pipeline's table: keys are below */
	__u32 address_bits;         /* of device addresses that are events */
	__u64 features;             /* register `features`: what is built in */
	__u64 host_base, host_size; /* of the memory in the host's address space; size 0: unknown */
	__u64 interrupts;           /* taken so far; 0 without CAP_SYS_ADMIN */
	__u64 spurious;             /* of them, for nothing that the device knew of */
	char device[32];            /* PCI address */
};

/* --- Telemetries ----------------------------------------------------------------------------- */

struct anemone_add {
	__u32 size;
	__u32 id; /* out: names the telemetry in calls on this file */
	struct anemone_spec spec;
	__u32 regions;         /* out: there are so many; region indices are below */
	__u32 region_counters; /* out: counters of a region */
	__u32 pipelines;       /* out: taken */
	__u32 granule;         /* out: counters of a line; reads with effect are of whole ones */
	char reason[128];      /* out, when the call fails: why, in words */
};

struct anemone_id {
	__u32 size;
	__u32 id;
};

/* struct anemone_entry.flags */
#define ANEMONE_ENTRY_UNMAP (1 << 0)
/*
 * `key` is an address of the caller's own memory, which has to be there and is of one page or huge
 * page as large as a key's reach; the entry goes when that page does (ANEMONE_EVENTS tells).
 * Without CAP_SYS_ADMIN this is the only kind of entry, as other pages' physical addresses are not
 * the caller's to know.
 */
#define ANEMONE_ENTRY_VIRTUAL (1 << 1)

/*
 * ERANGE: the filter lets no address of this key pass (with a primary mask of all bits from its
 * shift on; others are not looked at), or it is past the table, or there is no such region. EBUSY:
 * a rotation goes on. ENOENT: there is no such entry to unmap.
 */
struct anemone_entry {
	__u64 key;
	__u32 region;
	__u32 flags;
};

/* ESTALE: the host has put the memory elsewhere since the telemetry was added (host addresses). */
struct anemone_map {
	__u32 size;
	__u32 id;
	__u64 entries; /* pointer to struct anemone_entry */
	__u32 count;
	__u32 done;       /* out: entries that were set; the next one failed */
	__u32 entry_size; /* the caller's sizeof of an entry; 0: 16 */
	__u32 pad;
};

/* struct anemone_read.flags */
#define ANEMONE_READ_SNAPSHOT (1 << 0) /* without the read effect */
#define ANEMONE_READ_CHANNELS (1 << 1) /* by channel: values[i * channels + c]; else folded */

/*
 * With effect, `first` is a multiple of the granule, and `count` is one or goes to the end: EINVAL.
 * Not during a rotation: EBUSY.
 */
struct anemone_read {
	__u32 size;
	__u32 id;
	__u32 flags;
	__u32 first; /* counter: region * region_counters + offset */
	__u32 count;
	__u32 pad;
	__u64 values; /* pointer to __u64 */
};

/*
 * How reads with effect are made, so that each event is in one of them: see driver/harvest.h.
 * ANEMONE_READ of one that is refused is EOPNOTSUPP, unless it is a snapshot.
 */
#define ANEMONE_HARVEST_NONE 0        /* there is no read effect; or an older kernel */
#define ANEMONE_HARVEST_DIFFERENCE 1  /* the kernel keeps what it read last */
#define ANEMONE_HARVEST_ACKNOWLEDGE 2 /* what was read is written back, to be taken away */
#define ANEMONE_HARVEST_EFFECT 3      /* by loads that change what they read */
#define ANEMONE_HARVEST_REFUSED 4     /* this processor has no such loads, of 64 bytes */

struct anemone_status {
	__u32 size;
	__u32 id;
	__u64 matched;
	__u64 unmapped; /* 0 for who may not name memory by its physical address */
	__u64 out_of_range, notifications, parity_errors;
	__u64 events;  /* of the notifications, those that were told */
	__u32 mapped;  /* keys that are mapped */
	__u32 harvest; /* ANEMONE_HARVEST_* */
};

/* Notifications also signal this eventfd; -1: none any more. */
struct anemone_eventfd {
	__u32 size;
	__u32 id;
	__s32 fd;
	__u32 pad;
};

/*
 * read(2) of the file returns these; poll(2) says when there are any. To read one re-arms the
 * pipeline that it came from: a rule that always holds has one event waiting, not a storm.
 */
struct anemone_event {
	__u32 id;      /* telemetry */
	__u32 counter; /* region * region_counters + offset: the first since the last */
	__u32 channel;
	__u32 type;    /* ANEMONE_EVENT_NOTIFICATION, unless others were asked for */
	__u64 time_ns; /* CLOCK_MONOTONIC */
};

/* struct anemone_event.type */
#define ANEMONE_EVENT_NOTIFICATION 0
/*
 * An entry for the caller's own memory went with its page (moved, swapped, unmapped, shared by a
 * fork): `counter` is the first one of its region. Map the address again to count it on.
 */
#define ANEMONE_EVENT_LOST 1
/* Before this one was read, so many were lost (`counter`) that there was no room to tell which. */
#define ANEMONE_EVENT_MORE_LOST 2

/* An event as read(2) returns it once ANEMONE_EVENTS has said so; it may grow at its end. */
struct anemone_record {
	struct anemone_event event;
	__u64 address; /* of a lost entry: its key */
};

/* struct anemone_events.flags */
#define ANEMONE_EVENTS_LOST (1 << 0) /* also tell of entries that went with their page */

/* What read(2) of this file returns from now on; before: struct anemone_event, notifications. */
struct anemone_events {
	__u32 size;
	__u32 record; /* the caller's sizeof of a record; what is not known of it is 0 */
	__u32 flags;
	__u32 known; /* 0; out: bytes of a record that this kernel knows */
};

/* --- Time multiplexing (NEMO, section 6.1) ---------------------------------------------------- */

/*
 * More regions than fit take turns: of those named by the keys, as many as the telemetry has
 * regions are counted for a period, read, and followed by the next. Ends with count = 0. EBUSY:
 * keys are mapped already. EINVAL: a key is named twice. ENOENT: there is none to end. ESTALE: as
 * of ANEMONE_MAP; it also ends a rotation, of which ANEMONE_TURN then returns it.
 *
 * A turn amid which the device was reset is taken again. An event is of the turn whose time its own
 * is in; one that was not read before a later turn's is replaced by that.
 */
struct anemone_rotate {
	__u32 size;
	__u32 id;
	__u64 keys; /* pointer to __u64 */
	__u32 count;
	__u32 period_ms; /* 1 to 60000 */
	__u64 sweep_ns;  /* out: until all have had a turn */
};

/* What key number `index` of the rotation counted in its last turn, folded. */
struct anemone_turn {
	__u32 size;
	__u32 id;
	__u32 index;
	__u32 count;            /* of values: region_counters, or less for the first of them */
	__u64 values;           /* pointer to __u64 */
	__u64 turns;            /* out: turns it has had; 0: no values yet */
	__u64 start_ns, end_ns; /* out: of the last one, CLOCK_MONOTONIC */
};

/* --- Snapshots in shared memory ----------------------------------------------------------------
 */

/*
 * mmap(2), read-only, at offset ANEMONE_SNAPSHOT_OFFSET(id): this header and the folded counters,
 * as of the last ANEMONE_SNAPSHOT. While `sequence` is odd they are being written.
 */
struct anemone_snapshot {
	__u64 sequence;
	__u64 time_ns;
	__u64 count;
	/* What may be added to it is behind the values: bytes from here, and how many. Now 0. */
	__u32 tail, tail_bytes;
	__u64 values[];
};

#define ANEMONE_SNAPSHOT_OFFSET(id) ((__u64)(id) << 32)

#define ANEMONE_IOC 0xA7
#define ANEMONE_INFO _IOWR(ANEMONE_IOC, 0x00, struct anemone_info)
#define ANEMONE_ADD _IOWR(ANEMONE_IOC, 0x01, struct anemone_add)
#define ANEMONE_REMOVE _IOW(ANEMONE_IOC, 0x02, struct anemone_id)
/* A call's number keeps the size that its structure had first. */
#define ANEMONE_MAP _IOC(_IOC_READ | _IOC_WRITE, ANEMONE_IOC, 0x03, 24)
#define ANEMONE_READ _IOWR(ANEMONE_IOC, 0x04, struct anemone_read)
#define ANEMONE_STATUS _IOWR(ANEMONE_IOC, 0x05, struct anemone_status)
#define ANEMONE_EVENTFD _IOW(ANEMONE_IOC, 0x06, struct anemone_eventfd)
#define ANEMONE_ROTATE _IOWR(ANEMONE_IOC, 0x07, struct anemone_rotate)
#define ANEMONE_TURN _IOWR(ANEMONE_IOC, 0x08, struct anemone_turn)
#define ANEMONE_SNAPSHOT _IOW(ANEMONE_IOC, 0x09, struct anemone_id)
#define ANEMONE_EVENTS _IOWR(ANEMONE_IOC, 0x0a, struct anemone_events)

#endif
