// SPDX-License-Identifier: GPL-2.0
/* The tracepoints' one definition. */
#define CREATE_TRACE_POINTS
#include "trace.h"
