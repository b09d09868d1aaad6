/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A mark for sim/plugin/instructions.c: an instruction without effect that carries a number of 0 to
 * 255.
 */
#pragma once

#define MARK(number) __asm__ volatile("nopl 0x27E00000 + (" #number ") * 256 (%%rax)" ::: "memory")
