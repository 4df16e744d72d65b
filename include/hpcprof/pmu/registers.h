/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User registers of samples (PERF_SAMPLE_REGS_USER): which ones to request, and the position of
 * each among the values. The kernel has its own numbers; here the numbers are those of instructions
 * (HP_STATE_REGISTERS of <hpcprof/isa/step.h>), followed by the registers that are not general
 * ones.
 */
#ifndef HPCPROF_PMU_REGISTERS_H
#define HPCPROF_PMU_REGISTERS_H

#include <stdint.h>

enum {
	HP_SAMPLED_GENERAL = 16, /* rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15: 0 to 15 */
	HP_SAMPLED_ADDRESS = HP_SAMPLED_GENERAL,
	HP_SAMPLED_FLAGS,
	HP_SAMPLED_REGISTERS, /* the number of values of a sample of 64-bit code */
};

/* For sample_regs_user; 0 if hpcprof cannot interpret this machine's instructions. */
uint64_t hp_sampled_registers(void);

/* Which of the values a register is; `number` is below HP_SAMPLED_REGISTERS. */
unsigned hp_sampled_register_place(unsigned number);

#endif
