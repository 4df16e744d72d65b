/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <math.h>

struct hp_error *path_prepare(struct facts *facts, struct hp_arena *arena)
{
	const struct hp_cfg *cfg = facts->cfg;
	double *most_in = hp_arena_array(arena, (size_t)cfg->node_count + 1, sizeof(double));
	double *most_out = hp_arena_array(arena, (size_t)cfg->node_count + 1, sizeof(double));
	uint32_t *before = hp_arena_array(arena, (size_t)cfg->node_count + 1, sizeof(*before));
	uint32_t *after = hp_arena_array(arena, (size_t)cfg->node_count + 1, sizeof(*after));

	if (!most_in || !most_out || !before || !after)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < cfg->node_count; i++)
		before[i] = after[i] = HP_CFG_NONE;
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct hp_edge *edge = &cfg->edges[i];
		double runs = facts->analysis->edges[i].relative;

		if (runs > most_in[edge->to]) {
			most_in[edge->to] = runs;
			before[edge->to] = edge->from < cfg->block_count ? edge->from : HP_CFG_NONE;
		}
		if (runs > most_out[edge->from] && edge->to < cfg->block_count) {
			most_out[edge->from] = runs;
			after[edge->from] = edge->to;
		}
	}
	facts->before = before;
	facts->after = after;
	return NULL;
}

static bool comes_back(const struct hp_insn *insn)
{
	return insn->kind == HP_INSN_CALL || insn->kind == HP_INSN_CALL_INDIRECT;
}

void path_find(const struct facts *facts, uint32_t at, uint32_t longest, struct path *path)
{
	const struct hp_analysis *analysis = facts->analysis;
	uint32_t block = analysis->insns[at].block;
	uint32_t next = at;

	if (longest > LONGEST_PATH)
		longest = LONGEST_PATH;
	path->count = 0;
	path->meets_call = false;
	for (;;) {
		path->insns[path->count++] = next;
		if (path->count >= longest)
			return;
		while (next == analysis->blocks[block].first_insn) {
			block = facts->before[block];
			if (block == HP_CFG_NONE || analysis->blocks[block].insn_count == 0)
				return;
			next = analysis->blocks[block].first_insn +
			       analysis->blocks[block].insn_count;
		}
		next--;
		if (comes_back(analysis->insns[next].insn)) {
			path->meets_call = true;
			return;
		}
	}
}

uint32_t path_next(const struct facts *facts, uint32_t at)
{
	uint32_t number = facts_insn(facts, at)->block;
	const struct hp_analysed_block *block = &facts->analysis->blocks[number];
	uint32_t next = facts->after[number];

	if (at + 1 < block->first_insn + block->insn_count)
		return at + 1;
	if (next == HP_CFG_NONE || facts->analysis->blocks[next].insn_count == 0)
		return HP_SCHEDULE_NONE;
	return facts->analysis->blocks[next].first_insn;
}

uint32_t path_spread_from(const struct facts *facts, uint32_t at)
{
	struct path path;

	if (!facts->is_skidding)
		return HP_SCHEDULE_NONE;
	path_find(facts, at, facts->core->retire_width, &path);
	for (uint32_t i = 1; i < path.count; i++)
		if (facts_insn(facts, path.insns[i])->moved * spread_share >=
		    facts_insn(facts, at)->moved)
			return path.insns[i];
	return HP_SCHEDULE_NONE;
}

uint32_t path_writer(const struct facts *facts, const struct path *path, uint32_t position,
		     unsigned number)
{
	for (uint32_t i = position + 1; i < path->count; i++) {
		const struct hp_insn *insn = facts_insn(facts, path->insns[i])->insn;

		if (hp_register_in(&insn->written, number))
			return i;
	}
	return 0;
}

/* Whether none of the instructions in between, nor the head if `is_head_free`, reads what it wrote. */
static bool is_unread(const struct facts *facts, const struct path *path, uint32_t position,
		      bool is_head_free)
{
	const struct hp_insn *first = facts_insn(facts, path->insns[position])->insn;
	struct hp_register_set made = first->written;
	uint8_t flags = first->flags_written;

	if (position >= facts->core->retire_width)
		return false;
	for (uint32_t i = position; i-- > !is_head_free;) {
		const struct hp_insn *insn = facts_insn(facts, path->insns[i])->insn;

		for (size_t k = 0; k < HP_ARRAY_COUNT(made.bits); k++)
			if (insn->read.bits[k] & made.bits[k])
				return false;
		if (insn->flags_read & flags)
			return false;
		for (size_t k = 0; k < HP_ARRAY_COUNT(made.bits); k++)
			made.bits[k] &= ~insn->written.bits[k];
		flags &= (uint8_t)~insn->flags_written;
	}
	return true;
}

bool path_retires_along(const struct facts *facts, const struct path *path, uint32_t position)
{
	return is_unread(facts, path, position, true);
}

double path_shows(const struct facts *facts, const struct path *path, uint32_t position)
{
	if (path_retires_along(facts, path, position))
		return INFINITY;
	return is_unread(facts, path, position, false) ? facts->core->late_result_cycles : 0;
}

double path_doubt(uint32_t position)
{
	return position == 0 ? 1 : position == 1 ? second_doubt : later_doubt;
}
