/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/registers.h>

#ifdef __x86_64__

#include <asm/perf_regs.h>

static const uint8_t numbers[HP_SAMPLED_REGISTERS] = {
	PERF_REG_X86_AX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,	PERF_REG_X86_BX,  PERF_REG_X86_SP,
	PERF_REG_X86_BP,  PERF_REG_X86_SI,  PERF_REG_X86_DI,	PERF_REG_X86_R8,  PERF_REG_X86_R9,
	PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12,	PERF_REG_X86_R13, PERF_REG_X86_R14,
	PERF_REG_X86_R15, PERF_REG_X86_IP,  PERF_REG_X86_FLAGS,
};

uint64_t hp_sampled_registers(void)
{
	uint64_t asked = 0;

	for (unsigned i = 0; i < HP_SAMPLED_REGISTERS; i++)
		asked |= UINT64_C(1) << numbers[i];
	return asked;
}

unsigned hp_sampled_register_place(unsigned number)
{
	/* Values come in the order of the kernel's numbers, without gaps. */
	uint64_t before = hp_sampled_registers() & ((UINT64_C(1) << numbers[number]) - 1);

	return (unsigned)__builtin_popcountll(before);
}

#else

uint64_t hp_sampled_registers(void)
{
	return 0;
}

unsigned hp_sampled_register_place(unsigned number)
{
	return number;
}

#endif
