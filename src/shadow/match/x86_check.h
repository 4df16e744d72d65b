/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emits code that compares the copy's state with a sample's. It runs in the copy, because an
 * address may be passed a million times, and a stop at each pass would take far too long.
 *
 * Registers are compared first, those that change soonest before others, then words of the stack
 * that have told states apart before. When all agree the code traps; flags and the rest of the
 * stack are compared by hpcprof (matcher_judge).
 */
#ifndef SHADOW_MATCH_X86_CHECK_H
#define SHADOW_MATCH_X86_CHECK_H

#include "../translate/code_cache.h"
#include "sample.h"
#include "../tuning.h"

struct x86_check {
	uint8_t order[X86_REGISTERS];
	uint8_t slot_count;
	uint16_t slots[X86_CHECK_SLOTS]; /* offsets from rsp, of whole words within the sample's
					    stack */
};

/* Traps with `number` where the state agrees, and goes on behind it either way. */
void x86_emit_check(const struct code_zone *zone, struct x86_emitter *emitter,
		    const struct hp_engine_sample *sample, const struct x86_check *check,
		    uint32_t number);

#endif
