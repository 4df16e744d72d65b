/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "registers.h"

#include <hpcprof/base/number.h>
#include <hpcprof/pmu/registers.h>

#include <linux/perf_event.h>

/* Bits of x86's flags register. */
static const struct {
	uint8_t bit;
	uint8_t flag;
} flags[] = {
	{ 0, HP_FLAG_CARRY },	  { 2, HP_FLAG_PARITY }, { 4, HP_FLAG_ADJUST },
	{ 6, HP_FLAG_ZERO },	  { 7, HP_FLAG_SIGN },	 { 10, HP_FLAG_DIRECTION },
	{ 11, HP_FLAG_OVERFLOW },
};

bool registers_state(const struct hp_record *record, struct hp_state *state)
{
	const uint64_t *sent = record->sample.registers;
	uint64_t set;

	if (record->sample.register_count != HP_SAMPLED_REGISTERS ||
	    record->cpu_mode != PERF_RECORD_MISC_USER ||
	    sent[hp_sampled_register_place(HP_SAMPLED_ADDRESS)] != record->sample.address)
		return false;
	*state = (struct hp_state){ .address = record->sample.address };
	for (unsigned i = 0; i < HP_STATE_REGISTERS; i++)
		state->registers[i] =
			(struct hp_partial){ sent[hp_sampled_register_place(i)], UINT64_MAX };
	set = sent[hp_sampled_register_place(HP_SAMPLED_FLAGS)];
	for (size_t i = 0; i < HP_ARRAY_COUNT(flags); i++) {
		state->known_flags |= flags[i].flag;
		if (set >> flags[i].bit & 1)
			state->flags |= flags[i].flag;
	}
	return true;
}
