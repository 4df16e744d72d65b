/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	what is never executed
 * provides	hubs: sets of blocks that all jump to exactly the same targets
 *
 * In an interpreter, the code of every instruction ends with a jump to the code of any other. That
 * is blocks times targets edges, and samples tell nothing about a single one. Only sums of the flow
 * through them matter. So such blocks share a hub: the flow of all blocks enters the hub, and one
 * arc leads from it to each target. This restricts no block's frequency, since any inflows and
 * outflows with equal sums can be connected by edges.
 *
 * Each block's edges are given the shares of the arcs: an edge's frequency is block * arc / hub.
 * That is an assumption, not a measurement, and its deviation says so. Blocks with edges named by
 * evidence are left out of hubs; their edges keep unknowns of their own.
 */
#include "flow.h"

#include <hpcprof/base/search.h>

#include <stdlib.h>

struct search {
	const struct hp_cfg *cfg;
	const bool *is_dead;  /* of each class: it never runs */
	uint32_t *class_size; /* number of blocks and edges of each class */
	bool *is_named;	      /* of each block: some evidence names one of its edges */
	uint32_t *candidates; /* blocks that may share a hub */
	uint32_t candidate_count;
};

static bool begin(struct flow *flow, struct search *search)
{
	const struct hp_cfg *cfg = flow->cfg;
	const struct hp_analysis_input *input = flow->analyzer->input;
	struct hp_arena *arena = flow->analyzer->scratch;

	search->class_size = hp_arena_array(arena, (size_t)cfg->class_count + 1, sizeof(uint32_t));
	search->is_named = hp_arena_array(arena, cfg->node_count, sizeof(bool));
	search->candidates = hp_arena_array(arena, cfg->node_count, sizeof(uint32_t));
	flow->hub_of = hp_arena_array(arena, cfg->node_count, sizeof(int));
	if (!search->class_size || !search->is_named || !search->candidates || !flow->hub_of)
		return false;
	for (uint32_t i = 0; i < cfg->node_count; i++) {
		search->class_size[cfg->blocks[i].class]++;
		flow->hub_of[i] = -1;
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		search->class_size[cfg->edges[i].class]++;
	for (size_t i = 0; i < input->evidence_count; i++) {
		uint32_t block = hp_cfg_block_at(cfg, input->evidence[i].address);

		if (input->evidence[i].kind == HP_EVIDENCE_EDGE && block != HP_CFG_NONE)
			search->is_named[block] = true;
	}
	return true;
}

static bool is_candidate(const struct search *search, uint32_t number)
{
	const struct hp_block *block = &search->cfg->blocks[number];

	if (block->end != HP_END_TABLE || block->out_count < 2 || search->is_named[number] ||
	    search->is_dead[block->class])
		return false;
	for (uint32_t i = 0; i < block->out_count; i++) {
		const struct hp_edge *edge = &search->cfg->edges[block->first_out + i];

		if (edge->kind != HP_EDGE_TABLE || search->class_size[edge->class] != 1)
			return false;
	}
	return true;
}

/* Compares the targets of two blocks' edges, which are sorted by target. */
static int compare_targets(const struct hp_cfg *cfg, uint32_t one, uint32_t other)
{
	const struct hp_block *left = &cfg->blocks[one];
	const struct hp_block *right = &cfg->blocks[other];

	if (left->out_count != right->out_count)
		return left->out_count < right->out_count ? -1 : 1;
	for (uint32_t i = 0; i < left->out_count; i++) {
		uint32_t to_left = cfg->edges[left->first_out + i].to;
		uint32_t to_right = cfg->edges[right->first_out + i].to;

		if (to_left != to_right)
			return to_left < to_right ? -1 : 1;
	}
	return 0;
}

static int compare_candidates(const void *a, const void *b, void *context)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	const struct search *search = context;
	int order = compare_targets(search->cfg, left, right);

	return order ? order : hp_order(left, right);
}

/* Adds a hub if it takes fewer unknowns than the edges themselves. */
static bool add_hub(struct flow *flow, uint32_t *sources, uint32_t count)
{
	uint32_t targets = flow->cfg->blocks[sources[0]].out_count;

	if ((uint64_t)count * targets <= (uint64_t)count + targets + 1)
		return true;
	for (uint32_t i = 0; i < count; i++)
		flow->hub_of[sources[i]] = (int)flow->hubs.count;
	return hp_vector_push(&flow->hubs,
			      (struct hub){ .sources = sources, .source_count = count });
}

bool flow_find_hubs(struct flow *flow, const bool *is_dead)
{
	const struct hp_cfg *cfg = flow->cfg;
	struct search search = { .cfg = cfg, .is_dead = is_dead };
	uint32_t end;

	if (!begin(flow, &search))
		return false;
	for (uint32_t i = 0; i < cfg->block_count; i++)
		if (is_candidate(&search, i))
			search.candidates[search.candidate_count++] = i;
	qsort_r(search.candidates, search.candidate_count, sizeof(uint32_t), compare_candidates,
		&search);
	for (uint32_t at = 0; at < search.candidate_count; at = end) {
		for (end = at + 1; end < search.candidate_count; end++)
			if (compare_targets(cfg, search.candidates[at], search.candidates[end]))
				break;
		if (!add_hub(flow, &search.candidates[at], end - at))
			return false;
	}
	return true;
}

/* All edges through a hub to one target have the unknown of that arc. */
void flow_number_hubs(struct flow *flow, const bool *is_dead)
{
	const struct hp_cfg *cfg = flow->cfg;

	for (size_t h = 0; h < flow->hubs.count; h++) {
		struct hub *hub = &flow->hubs.at[h];
		uint32_t count = cfg->blocks[hub->sources[0]].out_count;

		hub->whole = flow->unknown_count++;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t arc = cfg->blocks[hub->sources[0]].first_out + i;
			bool is_alive = !is_dead[cfg->edges[arc].class];
			int unknown = is_alive ? flow->unknown_count++ : -1;

			for (uint32_t s = 0; s < hub->source_count; s++) {
				uint32_t edge = cfg->blocks[hub->sources[s]].first_out + i;

				flow->unknown_of[cfg->edges[edge].class] = unknown;
			}
		}
	}
}
