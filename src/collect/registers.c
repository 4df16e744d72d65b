/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "registers.h"

#include <hpcprof/base/number.h>

#include <linux/perf_event.h>

#ifdef __x86_64__

#include <asm/perf_regs.h>

/* By the numbers of the ISA, then what is no general register. */
static const uint8_t numbers[] = {
	PERF_REG_X86_AX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,	PERF_REG_X86_BX,  PERF_REG_X86_SP,
	PERF_REG_X86_BP,  PERF_REG_X86_SI,  PERF_REG_X86_DI,	PERF_REG_X86_R8,  PERF_REG_X86_R9,
	PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12,	PERF_REG_X86_R13, PERF_REG_X86_R14,
	PERF_REG_X86_R15, PERF_REG_X86_IP,  PERF_REG_X86_FLAGS,
};
enum { AT_ADDRESS = 16, AT_FLAGS = 17 };

static const struct {
	uint8_t bit;
	uint8_t flag;
} flags[] = {
	{ 0, HP_FLAG_CARRY },	  { 2, HP_FLAG_PARITY }, { 4, HP_FLAG_ADJUST },
	{ 6, HP_FLAG_ZERO },	  { 7, HP_FLAG_SIGN },	 { 10, HP_FLAG_DIRECTION },
	{ 11, HP_FLAG_OVERFLOW },
};

uint64_t registers_wanted(void)
{
	uint64_t wanted = 0;

	for (size_t i = 0; i < HP_ARRAY_COUNT(numbers); i++)
		wanted |= UINT64_C(1) << numbers[i];
	return wanted;
}

/* The kernel sends them in the order of its own numbers. */
static uint64_t sent(const struct record *record, size_t which)
{
	uint64_t before = registers_wanted() & ((UINT64_C(1) << numbers[which]) - 1);

	return record->sample.registers[__builtin_popcountll(before)];
}

bool registers_state(const struct record *record, struct hp_state *state)
{
	if (record->sample.register_count != HP_ARRAY_COUNT(numbers) ||
	    record->cpu_mode != PERF_RECORD_MISC_USER ||
	    sent(record, AT_ADDRESS) != record->sample.address)
		return false;
	*state = (struct hp_state){ .address = record->sample.address };
	for (size_t i = 0; i < HP_STATE_REGISTERS; i++)
		state->registers[i] = (struct hp_partial){ sent(record, i), UINT64_MAX };
	for (size_t i = 0; i < HP_ARRAY_COUNT(flags); i++) {
		state->known_flags |= flags[i].flag;
		if (sent(record, AT_FLAGS) >> flags[i].bit & 1)
			state->flags |= flags[i].flag;
	}
	return true;
}

#else

uint64_t registers_wanted(void)
{
	return 0;
}

bool registers_state(const struct record *record, struct hp_state *state)
{
	(void)record, (void)state;
	return false;
}

#endif
