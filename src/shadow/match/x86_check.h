/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emits code that compares the copy's state with a sample's. It runs in the copy, because an
 * address may be passed a million times, and a stop at each pass would take far too long.
 *
 * Registers are compared first, those that change soonest before others, then words of memory that
 * have told states apart before. When all agree the code traps; flags and the rest of the memory
 * are compared by hpcprof (matcher_judge).
 */
#ifndef SHADOW_MATCH_X86_CHECK_H
#define SHADOW_MATCH_X86_CHECK_H

#include "../translate/code_cache.h"
#include "sample.h"
#include "../tuning.h"

/* A word of memory when the sample was taken. */
struct x86_check_word {
	uint64_t address;
	uint64_t value;
};

struct x86_check {
	uint8_t order[X86_REGISTERS];
	uint8_t word_count;
	struct x86_check_word words[X86_CHECK_WORDS];
};

/* Traps with `number` if the state agrees; afterwards the code continues in either case. */
void x86_emit_check(const struct code_zone *zone, struct x86_emitter *emitter,
		    const struct hp_engine_sample *sample, const struct x86_check *check,
		    uint32_t number);

#endif
