/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Anemone memory expander: the interface of /dev/anemoneN to user space (anemone(4)).
 *
 * A telemetry is a rule, the pipelines that run it and the counters that it updates. It belongs to
 * the open file that added it: nothing else can read, map or remove it, and it ends with that file.
 *
 * Every structure has the same layout for 32-bit and 64-bit callers. The first member, `size`, is
 * the caller's sizeof. A newer kernel takes an older caller's shorter structure. An older kernel
 * takes a newer caller's longer one if the members that it does not know are zero (else E2BIG).
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

/* .filter.near: requests that hit or miss near memory; needs flat memory mode. */
#define ANEMONE_NEAR_ANY 0
#define ANEMONE_NEAR_HIT 1
#define ANEMONE_NEAR_MISS 2

/* .update.op and .read_effect.op: the operation on the counter. */
#define ANEMONE_OP_NONE 0 /* of a read effect: none */
#define ANEMONE_OP_ADD 1
#define ANEMONE_OP_SUB 2
#define ANEMONE_OP_SHR 3
#define ANEMONE_OP_SHL 4
#define ANEMONE_OP_XOR 5
#define ANEMONE_OP_OR 6
#define ANEMONE_OP_MAX 7
#define ANEMONE_OP_ADDSAT 8
#define ANEMONE_OP_RESET 9 /* of a read effect: the counter becomes the value */
/* These are not in every device: bits 8 to 13 of .features. */
#define ANEMONE_OP_MIN 10
#define ANEMONE_OP_SUBSAT 11 /* ends at 0 */
#define ANEMONE_OP_LAST 12   /* the operand */
/* Averages: a step towards the operand by 1/2, 1/4 or 1/8 of the difference, rounded down. */
#define ANEMONE_OP_EWMA2 13
#define ANEMONE_OP_EWMA4 14
#define ANEMONE_OP_EWMA8 15

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
 * Addresses and keys are the host's physical ones; otherwise they are the device's, from 0. The
 * primary mask then has every bit from its shift on, and the sub mask none at or above that.
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
 * key = (address & primary.mask) >> primary.shift; ANEMONE_MAP maps a key to a region.
 * offset = (address & sub.mask) >> sub.shift; the counter within the region.
 * A region has as many counters as there are offsets, rounded up to a power of two.
 */
struct anemone_translation {
	struct anemone_field primary, sub;
};

/*
 * Hash of the offset, so that a sketch counts more places than it has counters:
 * (offset * multiplier mod 2^ANEMONE_HASH_BITS) * size >> ANEMONE_HASH_BITS.
 * A region then has `size` counters, rounded up to a power of two.
 */
#define ANEMONE_HASH_BITS 27

struct anemone_hash {
	__u32 multiplier; /* odd, less than 2^ANEMONE_HASH_BITS */
	__u32 size;       /* 0: no hash */
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
	char name[32]; /* printable; ends with a NUL */
	struct anemone_filter filter;
	struct anemone_translation translation;
	struct anemone_operation update, notify, read_effect;
	__u32 regions; /* wanted; 0: as many as one pipeline holds */
	__u32 flags;
	__u8 width; /* bits of a counter: 8, 16, 32, 64; 0 is 64 */
	__u8 pad[7];
	struct anemone_hash hash;
	__u64 reserved[3]; /* must be 0 */
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
	__u32 states;               /* 64-bit words per pipeline and channel */
	__u32 table;                /* entries of a pipeline's table; keys are below this */
	__u32 address_bits;         /* of device addresses that are counted */
	__u64 features;             /* register `features`: what is built in */
	__u64 host_base, host_size; /* of the memory in the host's address space; size 0: unknown */
	__u64 interrupts;           /* so far; 0 without CAP_SYS_ADMIN */
	__u64 spurious;             /* of these, without a cause */
	char device[32];            /* PCI address */
};

/* --- Telemetries ----------------------------------------------------------------------------- */

struct anemone_add {
	__u32 size;
	__u32 id; /* out: names the telemetry in calls on this file */
	struct anemone_spec spec;
	__u32 regions;         /* out: their number; region indices are below it */
	__u32 region_counters; /* out: counters of a region */
	__u32 pipelines;       /* out: pipelines taken */
	__u32 granule;         /* out: counters per line; reads with effect are of whole lines */
	char reason[128];      /* out, on failure: the reason in words */
};

struct anemone_id {
	__u32 size;
	__u32 id;
};

/* struct anemone_entry.flags */
#define ANEMONE_ENTRY_UNMAP (1 << 0)
/*
 * `key` is a virtual address of the caller, whose memory must be present and in one page or huge
 * page of a key's reach or more. The entry goes when that page does (ANEMONE_EVENTS reports it).
 * Without CAP_SYS_ADMIN this is the only kind of entry, because physical addresses are not
 * disclosed.
 */
#define ANEMONE_ENTRY_VIRTUAL (1 << 1)

/*
 * ERANGE: the filter lets no address of this key pass (checked only if the primary mask has all
 * bits from its shift on), the key is past the table, or there is no such region. EBUSY: a rotation
 * is running. ENOENT: there is no such entry to unmap.
 */
struct anemone_entry {
	__u64 key;
	__u32 region;
	__u32 flags;
};

/* ESTALE: the host has moved the memory since the telemetry was added (host addresses). */
struct anemone_map {
	__u32 size;
	__u32 id;
	__u64 entries; /* pointer to struct anemone_entry */
	__u32 count;
	__u32 done;       /* out: entries that were set; on failure, the next one failed */
	__u32 entry_size; /* the caller's sizeof of an entry; 0: 16 */
	__u32 pad;
};

/* struct anemone_read.flags */
#define ANEMONE_READ_SNAPSHOT (1 << 0) /* without the read effect */
#define ANEMONE_READ_CHANNELS (1 << 1) /* by channel: values[i * channels + c]; else folded */

/*
 * With effect, `first` is a multiple of the granule, and `count` is one, too, or goes to the end:
 * EINVAL. Not during a rotation: EBUSY. ANEMONE_OP_LAST and averages of several channels only by
 * channel: EOPNOTSUPP, as for a snapshot in shared memory and a rotation.
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
 * How reads with effect work, so that each event is in exactly one of them: see driver/harvest.h.
 * With ANEMONE_HARVEST_REFUSED, ANEMONE_READ returns EOPNOTSUPP, unless it is a snapshot.
 */
#define ANEMONE_HARVEST_NONE 0        /* no read effect, or an older kernel */
#define ANEMONE_HARVEST_DIFFERENCE 1  /* the kernel keeps what it read last */
#define ANEMONE_HARVEST_ACKNOWLEDGE 2 /* a write takes away what was read */
#define ANEMONE_HARVEST_EFFECT 3      /* by loads that change the counters */
#define ANEMONE_HARVEST_REFUSED 4     /* this processor has no 64-byte loads for this */

struct anemone_status {
	__u32 size;
	__u32 id;
	__u64 matched;
	__u64 unmapped; /* 0 if the caller may not name physical memory */
	__u64 out_of_range, notifications, parity_errors;
	__u64 events;  /* notifications that were reported */
	__u32 mapped;  /* keys that are mapped */
	__u32 harvest; /* ANEMONE_HARVEST_* */
};

/* Notifications also signal this eventfd; -1: no longer. */
struct anemone_eventfd {
	__u32 size;
	__u32 id;
	__s32 fd;
	__u32 pad;
};

/*
 * read(2) of the file returns these; poll(2) says whether there are any. Reading an event re-arms
 * its pipeline, so a rule that always holds has one event queued, and not a storm.
 */
struct anemone_event {
	__u32 id;      /* telemetry */
	__u32 counter; /* region * region_counters + offset: the first one since the last event */
	__u32 channel;
	__u32 type;    /* ANEMONE_EVENT_NOTIFICATION, unless the file asked for others */
	__u64 time_ns; /* CLOCK_MONOTONIC */
};

/* struct anemone_event.type */
#define ANEMONE_EVENT_NOTIFICATION 0
/*
 * An entry for the caller's own memory was lost with its page (moved, swapped, unmapped, shared by
 * a fork); `counter` is the first one of its region. Map the address again to count on.
 */
#define ANEMONE_EVENT_LOST 1
/* So many more entries (`counter`) were lost before this event was read, without a record each. */
#define ANEMONE_EVENT_MORE_LOST 2

/* What read(2) returns after ANEMONE_EVENTS; it may grow at its end. */
struct anemone_record {
	struct anemone_event event;
	__u64 address; /* of a lost entry: the address that was mapped */
};

/* struct anemone_events.flags */
#define ANEMONE_EVENTS_LOST (1 << 0) /* also report entries lost with their page */

/* Sets what read(2) of this file returns; before that, struct anemone_event of notifications. */
struct anemone_events {
	__u32 size;
	__u32 record; /* the caller's sizeof of a record; unknown bytes are 0 */
	__u32 flags;
	__u32 known; /* 0; out: bytes of a record that this kernel knows */
};

/* --- Time multiplexing (NEMO, section 6.1) ---------------------------------------------------- */

/*
 * Keys take turns in the regions if there are more keys than regions: as many keys as the telemetry
 * has regions are counted for a period, then read, and the next ones follow. count = 0 ends the
 * rotation. EBUSY: keys are mapped already. EINVAL: a key is named twice. ENOENT: there is no
 * rotation to end. ESTALE: as for ANEMONE_MAP; it also ends a rotation, and ANEMONE_TURN then
 * returns it.
 *
 * A turn during which the device was reset is repeated. An event belongs to the turn that contains
 * its time. If it was not read, an event of a later turn replaces it.
 */
struct anemone_rotate {
	__u32 size;
	__u32 id;
	__u64 keys; /* pointer to __u64 */
	__u32 count;
	__u32 period_ms; /* 1 to 60000 */
	__u64 sweep_ns;  /* out: time until all keys have had a turn */
};

/* What key number `index` of the rotation counted in its last turn, folded. */
struct anemone_turn {
	__u32 size;
	__u32 id;
	__u32 index;
	__u32 count;            /* of values: region_counters, or fewer, from the first on */
	__u64 values;           /* pointer to __u64 */
	__u64 turns;            /* out: number of turns so far; 0: no values yet */
	__u64 start_ns, end_ns; /* out: of the last turn, CLOCK_MONOTONIC */
};

/* --- Snapshots in shared memory ----------------------------------------------------------------
 */

/*
 * mmap(2), read-only, at offset ANEMONE_SNAPSHOT_OFFSET(id): this header and the folded counters of
 * the last ANEMONE_SNAPSHOT. While `sequence` is odd, they are being written.
 */
struct anemone_snapshot {
	__u64 sequence;
	__u64 time_ns;
	__u64 count;
	/*
	 * Later additions follow the values: their offset from here in bytes, and their size. Now
	 * 0.
	 */
	__u32 tail, tail_bytes;
	__u64 values[];
};

#define ANEMONE_SNAPSHOT_OFFSET(id) ((__u64)(id) << 32)

#define ANEMONE_IOC 0xA7
#define ANEMONE_INFO _IOWR(ANEMONE_IOC, 0x00, struct anemone_info)
#define ANEMONE_ADD _IOWR(ANEMONE_IOC, 0x01, struct anemone_add)
#define ANEMONE_REMOVE _IOW(ANEMONE_IOC, 0x02, struct anemone_id)
/* A command number keeps the size that its structure had first. */
#define ANEMONE_MAP _IOC(_IOC_READ | _IOC_WRITE, ANEMONE_IOC, 0x03, 24)
#define ANEMONE_READ _IOWR(ANEMONE_IOC, 0x04, struct anemone_read)
#define ANEMONE_STATUS _IOWR(ANEMONE_IOC, 0x05, struct anemone_status)
#define ANEMONE_EVENTFD _IOW(ANEMONE_IOC, 0x06, struct anemone_eventfd)
#define ANEMONE_ROTATE _IOWR(ANEMONE_IOC, 0x07, struct anemone_rotate)
#define ANEMONE_TURN _IOWR(ANEMONE_IOC, 0x08, struct anemone_turn)
#define ANEMONE_SNAPSHOT _IOW(ANEMONE_IOC, 0x09, struct anemone_id)
#define ANEMONE_EVENTS _IOWR(ANEMONE_IOC, 0x0a, struct anemone_events)

#endif
