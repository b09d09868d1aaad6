/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints: /sys/kernel/tracing/events/anemone. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM anemone

#if !defined(ANEMONE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ANEMONE_TRACE_H

#include <linux/tracepoint.h>
#include <linux/version.h>

/* Linux 6.10 removed the second argument of __assign_str. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define ANEMONE_ASSIGN_NAME() __assign_str(name, name)
#else
#define ANEMONE_ASSIGN_NAME() __assign_str(name)
#endif

/* clang-format off: the layout of the kernel's own trace headers */

TRACE_EVENT(anemone_add, TP_PROTO(const char *name, unsigned int pipelines, u32 regions),
	    TP_ARGS(name, pipelines, regions),
	    TP_STRUCT__entry(__string(name, name) __field(unsigned int, pipelines)
				     __field(u32, regions)),
	    TP_fast_assign(ANEMONE_ASSIGN_NAME(); __entry->pipelines = pipelines;
			   __entry->regions = regions;),
	    TP_printk("%s: %u regions on %u pipelines", __get_str(name), __entry->regions,
		      __entry->pipelines));

TRACE_EVENT(anemone_read, TP_PROTO(const char *name, u32 first, u32 count, bool effect),
	    TP_ARGS(name, first, count, effect),
	    TP_STRUCT__entry(__string(name, name) __field(u32, first) __field(u32, count)
				     __field(bool, effect)),
	    TP_fast_assign(ANEMONE_ASSIGN_NAME(); __entry->first = first; __entry->count = count;
			   __entry->effect = effect;),
	    TP_printk("%s: %u counters from %u%s", __get_str(name), __entry->count, __entry->first,
		      __entry->effect ? ", with effect" : ""));

TRACE_EVENT(anemone_notify, TP_PROTO(const char *name, u32 counter, u32 channel),
	    TP_ARGS(name, counter, channel),
	    TP_STRUCT__entry(__string(name, name) __field(u32, counter) __field(u32, channel)),
	    TP_fast_assign(ANEMONE_ASSIGN_NAME(); __entry->counter = counter;
			   __entry->channel = channel;),
	    TP_printk("%s: counter %u on channel %u", __get_str(name), __entry->counter,
		      __entry->channel));

TRACE_EVENT(anemone_turn, TP_PROTO(const char *name, u32 first, u32 count),
	    TP_ARGS(name, first, count),
	    TP_STRUCT__entry(__string(name, name) __field(u32, first) __field(u32, count)),
	    TP_fast_assign(ANEMONE_ASSIGN_NAME(); __entry->first = first; __entry->count = count;),
	    TP_printk("%s: %u keys from %u have had their turn", __get_str(name), __entry->count,
		      __entry->first));

/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
