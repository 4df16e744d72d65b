/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	the stalls of all instructions, split
 * provides	ranges of causes and families in the sheet; in `most`, what causes can have taken in
 *		blocks of which no events are known
 *
 * The ends of the instructions' ranges do not happen all at once: a sample that belongs to a neighbour is
 * missing there, and what one execution of an instruction is off by is not what its whole block is off by.
 * So the ranges are added up block by block, and then loop by loop from the innermost outwards. Each
 * sum is narrowed to what the timing of the path says of that block or loop as a whole.
 */
#include "culprit/facts.h"
#include "stalls.h"

static void add(struct hp_range *into, const struct hp_range *more, unsigned count, double factor)
{
	for (unsigned i = 0; i < count; i++) {
		into[i].low += factor * more[i].low;
		into[i].high += factor * more[i].high;
	}
}

static void add_sums(struct cause_sums *into, const struct cause_sums *more)
{
	add(into->kinds, more->kinds, HP_CAUSE_COUNT, 1);
	add(into->families, more->families, HP_FAMILY_COUNT, 1);
}

/* What was not timed may be of any cause, too, and the timing says nothing of it. */
static void narrow(const struct timed_part *part, double untimed, struct hp_range *sum)
{
	double low = fmax(sum->low, part->low);
	double high = fmin(sum->high, part->high + untimed);

	/* Otherwise the two contradict each other. */
	if (low <= high)
		*sum = (struct hp_range){ low, high };
}

/* Waits of units are in the best case as well, which is added up apart from these sums. */
static bool has_statics(unsigned kind)
{
	return kind >= HP_CAUSE_DIVIDER && kind != HP_CAUSE_FETCH;
}

static void narrow_sums(const struct timed_parts *parts, double untimed, struct cause_sums *sums)
{
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		if (!has_statics(kind))
			narrow(&parts->kinds[kind], untimed, &sums->kinds[kind]);
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++) {
		struct timed_part part = { .low = 0, .high = parts->families[family].high };

		for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
			if (hp_summed_kinds(family) >> kind & 1)
				part.low = fmax(part.low, parts->kinds[kind].low);
		narrow(&part, untimed, &sums->families[family]);
	}
}

struct hp_error *sums_begin(struct stalls *stalls)
{
	stalls->sums = hp_arena_array(stalls->scratch, (size_t)stalls->facts->cfg->block_count + 1,
				      sizeof(*stalls->sums));
	return stalls->sums ? NULL : hp_error_create_no_memory();
}

uint32_t hp_summed_kinds(enum hp_cause_family family)
{
	return hp_family_kinds(family) & ~(1U << HP_CAUSE_STORE_BUFFER);
}

/* What those of the family's causes that are added up took of the instruction split last. */
static struct hp_range share_of(const struct stalls *stalls, enum hp_cause_family family)
{
	struct hp_range share = stalls->families[family];
	double least = 0, most = 0;

	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		const struct hp_range *one = &stalls->kinds[kind];

		if (hp_summed_kinds(family) >> kind & 1) {
			least = fmax(least, one->low);
			most += one->high;
		} else if (hp_family_kinds(family) >> kind & 1) {
			share.low -= one->high;
		}
	}
	share.high = fmax(0, fmin(share.high, most));
	share.low = fmin(share.high, fmax(share.low, least));
	return share;
}

void sums_add(const struct stalls *stalls, uint32_t at)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	struct cause_sums *sums = &stalls->sums[insn->block];

	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		if (stalls->kinds[kind].high > 0)
			add(&sums->kinds[kind], &stalls->kinds[kind], 1, insn->cycles);
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++) {
		struct hp_range share = share_of(stalls, family);

		add(&sums->families[family], &share, 1, insn->cycles);
	}
}

/* Whether simulation says what events the block had. */
static bool is_seen(const struct hp_analysis *analysis, uint32_t b)
{
	const struct hp_analysed_block *block = &analysis->blocks[b];

	for (uint32_t i = 0; i < block->insn_count; i++)
		if (analysis->insns[block->first_insn + i].happened)
			return true;
	return false;
}

/* Adds up each loop, including its inner loops, and then what is in none. */
struct hp_error *sums_end(struct stalls *stalls, struct cause_sums *all)
{
	const struct hp_cfg *cfg = stalls->facts->cfg;
	struct cause_sums *loops =
		hp_arena_array(stalls->scratch, (size_t)cfg->loop_count + 1, sizeof(*loops));
	struct timed_parts parts;
	double untimed;

	if (!loops)
		return hp_error_create_no_memory();
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		uint32_t loop = cfg->blocks[b].loop;

		if (extent_block_parts(stalls, b, &parts))
			narrow_sums(&parts, 0, &stalls->sums[b]);
		for (unsigned kind = 0; kind < HP_CAUSE_DYNAMIC_COUNT; kind++)
			if (!is_seen(stalls->analysis, b))
				stalls->analysis->sheet.most[kind] +=
					stalls->sums[b].kinds[kind].high;
		add_sums(loop == HP_CFG_NONE ? all : &loops[loop], &stalls->sums[b]);
	}
	/* An inner loop has a higher index than the loop around it. */
	for (uint32_t i = cfg->loop_count; i-- > 0;) {
		uint32_t around = cfg->loops[i].parent;

		if (extent_loop_parts(stalls, i, &parts, &untimed))
			narrow_sums(&parts, untimed, &loops[i]);
		add_sums(around == HP_CFG_NONE ? all : &loops[around], &loops[i]);
	}
	return NULL;
}
