/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "followed.h"

#include "../tuning.h"

#include <elf.h>
#include <stdlib.h>

enum { LINE = 64 };

/* Divides it where cache lines begin; an instruction across two lines belongs to the first. */
static void cut(struct followed *followed)
{
	const struct path_plan *plan = followed->plan;
	uint64_t at = plan->address;
	size_t access = 0;

	for (size_t i = 0; i < plan->insn_count; i++) {
		struct piece *piece = &followed->pieces[followed->piece_count];

		if (!i || at / LINE != piece[-1].address / LINE) {
			*piece = (struct piece){ .address = at, .first = (uint8_t)i };
			followed->piece_count++;
		}
		followed->pieces[followed->piece_count - 1].bytes += plan->lengths[i];
		for (; access < plan->access_count && plan->accesses[access].insn == i; access++)
			followed->patterns[access].ip = at;
		followed->last = at;
		at += plan->lengths[i];
	}
	followed->next = at;
	followed->bytes = (uint32_t)(at - plan->address);
}

/* A block with an instruction that cannot be decoded would be timed wrongly, so it is not timed. */
static bool time_insns(struct followed *followed, const struct hp_core *core)
{
	const struct path_plan *plan = followed->plan;
	const struct hp_isa *isa = hp_isa_of(EM_X86_64);
	struct hp_insn insns[2];
	const uint8_t *code = plan->code;
	uint64_t address = plan->address;

	followed->timed = calloc(plan->insn_count, sizeof(*followed->timed));
	if (!followed->timed || !isa)
		return followed->timed;
	for (size_t i = 0; i < plan->insn_count; i++) {
		struct hp_insn *insn = &insns[i % 2];

		if (!isa->decode(code, plan->lengths[i], address, insn))
			*insn = (struct hp_insn){ .address = address, .length = plan->lengths[i] };
		hp_timed_insn_make(core, isa, i ? &insns[(i + 1) % 2] : NULL, insn,
				   &followed->timed[i]);
		code += plan->lengths[i];
		address += plan->lengths[i];
	}
	return true;
}

void followed_destroy(struct followed *followed)
{
	if (!followed)
		return;
	for (size_t i = 0; followed->patterns && i < followed->access_count; i++)
		for (unsigned level = 0; level < SECOND_LEVELS; level++)
			free(followed->patterns[i].reuse[level]);
	free(followed->pieces);
	free(followed->fetches);
	free(followed->patterns);
	free(followed->accesses);
	free(followed->timed);
	free(followed->each);
	free(followed);
}

struct followed *followed_create(const struct path_plan *plan, uint64_t number,
				 const struct hp_core *core)
{
	struct followed *followed = calloc(1, sizeof(*followed));
	size_t accesses = plan->access_count + 1U;

	if (!followed)
		return NULL;
	followed->number = number;
	followed->plan = plan;
	followed->access_count = plan->access_count;
	followed->pieces = calloc(plan->insn_count, sizeof(*followed->pieces));
	followed->fetches = calloc(plan->insn_count, sizeof(*followed->fetches));
	followed->patterns = calloc(accesses, sizeof(*followed->patterns));
	followed->accesses = calloc(accesses, sizeof(*followed->accesses));
	if (!followed->pieces || !followed->fetches || !followed->patterns || !followed->accesses ||
	    (core && !time_insns(followed, core))) {
		followed_destroy(followed);
		return NULL;
	}
	cut(followed);
	return followed;
}

/* Without memory the block continues as before. */
void followed_run(struct followed *followed)
{
	if (++followed->runs != RUNS_BEFORE_EACH || !followed->timed)
		return;
	followed->each = calloc(followed->plan->insn_count, sizeof(*followed->each));
	followed->runs_before = followed->runs;
}

static void settle(struct ticks *ticks)
{
	for (unsigned lane = 0; lane < HP_LANES; lane++) {
		ticks->before[lane] += ticks->recent.at[lane];
		ticks->recent.at[lane] = 0;
	}
}

void followed_settle(struct followed *followed)
{
	settle(&followed->spent);
	for (size_t i = 0; followed->each && i < followed->plan->insn_count; i++)
		settle(&followed->each[i]);
}
