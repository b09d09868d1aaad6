// SPDX-License-Identifier: GPL-2.0
/* Defines the tracepoints, once in the module. */
#define CREATE_TRACE_POINTS
#include "trace.h"
