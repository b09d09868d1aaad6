// SPDX-License-Identifier: GPL-2.0
/* Registers and telemetry lines by loads and stores, in BARs or in the card's memory. */
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

#include "mmio.h"

static u64 anemone_mmio_read(struct anemone_hw *hw, u32 offset)
{
	return readq(hw->registers + offset);
}

static void anemone_mmio_write(struct anemone_hw *hw, u32 offset, u64 value)
{
	writeq(value, hw->registers + offset);
}

/* Lines per section without preemption. */
#define LINES_AT_ONCE 16U

/*
 * Set for the co-simulation: its device merges pieces of a line, because QEMU has no 64-byte
 * accesses.
 */
static bool merged;
module_param(merged, bool, 0444);
MODULE_PARM_DESC(merged, "four consecutive 16-byte accesses reach the device as one access");

/*
 * A read with effect applies to a whole line, so a line must be read by one access. A streaming
 * load of 64 bytes is one access. Four loads of 16 bytes may be one or several: the first fetches
 * the line into a buffer and the others read that, unless the processor has reused the buffer.
 * Snapshots allow either. Write-combining memory is never prefetched.
 */
static void anemone_mmio_load_line(u64 *words, const void __iomem *line)
{
	const void *from = (const void __force *)line;
	unsigned long flags;

	if (boot_cpu_has(X86_FEATURE_AVX512F)) {
		asm volatile("vmovntdqa (%0), %%zmm0\n\t"
			     "vmovdqu64 %%zmm0, (%1)\n\t"
			     :
			     : "r"(from), "r"(words)
			     : "memory");
		return;
	}
	local_irq_save(flags);
	asm volatile("movntdqa   (%0), %%xmm0\n\t"
		     "movntdqa 16(%0), %%xmm1\n\t"
		     "movntdqa 32(%0), %%xmm2\n\t"
		     "movntdqa 48(%0), %%xmm3\n\t"
		     :
		     : "r"(from)
		     : "memory");
	local_irq_restore(flags);
	asm volatile("movdqu %%xmm0,   (%0)\n\t"
		     "movdqu %%xmm1, 16(%0)\n\t"
		     "movdqu %%xmm2, 32(%0)\n\t"
		     "movdqu %%xmm3, 48(%0)\n\t"
		     :
		     : "r"(words)
		     : "memory");
}

/* The device drops a partial line, so store with MOVDIR64B, which is one access. */
static void anemone_mmio_store_line(void __iomem *line, const u64 *words)
{
	void *to = (void __force *)line;
	unsigned long flags;

	if (boot_cpu_has(X86_FEATURE_MOVDIR64B)) {
		/* movdir64b (%rdx), %rax: older assemblers do not know it */
		asm volatile(".byte 0x66, 0x0f, 0x38, 0xf8, 0x02"
			     :
			     : "a"(to), "d"(words)
			     : "memory");
		return;
	}
	local_irq_save(flags);
	asm volatile("movdqu   (%1), %%xmm0\n\t"
		     "movdqu 16(%1), %%xmm1\n\t"
		     "movdqu 32(%1), %%xmm2\n\t"
		     "movdqu 48(%1), %%xmm3\n\t"
		     "movntdq %%xmm0,   (%0)\n\t"
		     "movntdq %%xmm1, 16(%0)\n\t"
		     "movntdq %%xmm2, 32(%0)\n\t"
		     "movntdq %%xmm3, 48(%0)\n\t"
		     :
		     : "r"(to), "r"(words)
		     : "memory");
	local_irq_restore(flags);
}

static void anemone_mmio_read_lines(struct anemone_hw *hw, u64 where, unsigned int lines,
				    u64 *words)
{
	const void __iomem *line = hw->lines + where;
	unsigned int i;

	/* Orders the loads after earlier stores, and discards lines that are still buffered. */
	mb();
	while (lines) {
		unsigned int some = min(lines, LINES_AT_ONCE);

		kernel_fpu_begin();
		for (i = 0; i < some; i++, line += ANEMONE_LINE_BYTES, words += ANEMONE_LINE_WORDS)
			anemone_mmio_load_line(words, line);
		kernel_fpu_end();
		lines -= some;
	}
}

static void anemone_mmio_write_lines(struct anemone_hw *hw, u64 where, unsigned int lines,
				     const u64 *words)
{
	void __iomem *line = hw->lines + where;
	unsigned int i;

	while (lines) {
		unsigned int some = min(lines, LINES_AT_ONCE);

		kernel_fpu_begin();
		for (i = 0; i < some; i++, line += ANEMONE_LINE_BYTES, words += ANEMONE_LINE_WORDS)
			anemone_mmio_store_line(line, words);
		kernel_fpu_end();
		lines -= some;
	}
	/* Flushes the write-combining buffers before anything is read again. */
	mb();
}

static const struct anemone_io anemone_mmio_ops = {
	.read = anemone_mmio_read,
	.write = anemone_mmio_write,
	.read_lines = anemone_mmio_read_lines,
	.write_lines = anemone_mmio_write_lines,
};

bool anemone_mmio(struct anemone_hw *hw)
{
	hw->io = &anemone_mmio_ops;
	hw->atomic_loads = merged || boot_cpu_has(X86_FEATURE_AVX512F);
	hw->atomic_stores = merged || boot_cpu_has(X86_FEATURE_MOVDIR64B);
	return boot_cpu_has(X86_FEATURE_XMM4_1);
}
