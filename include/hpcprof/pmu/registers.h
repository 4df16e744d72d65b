/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User registers that come with samples (PERF_SAMPLE_REGS_USER): which to ask for, and where among
 * the values each is. The kernel sends them by numbers of its own; here they are by those of
 * instructions (HP_STATE_REGISTERS of <hpcprof/isa/step.h>), then what is no general register.
 */
#ifndef HPCPROF_PMU_REGISTERS_H
#define HPCPROF_PMU_REGISTERS_H

#include <stdint.h>

enum {
	HP_SAMPLED_GENERAL = 16, /* rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15: 0 to 15 */
	HP_SAMPLED_ADDRESS = HP_SAMPLED_GENERAL,
	HP_SAMPLED_FLAGS,
	HP_SAMPLED_REGISTERS, /* so many values come with a sample of 64-bit code */
};

/* For sample_regs_user; 0 where nobody reads the registers of this machine's instructions. */
uint64_t hp_sampled_registers(void);

/* Which of the values a register is; `number` is below HP_SAMPLED_REGISTERS. */
unsigned hp_sampled_register_place(unsigned number);

#endif
