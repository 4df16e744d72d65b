/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every pass against its definition, worked out the slow way, on graphs of all shapes. */
#include "../support.h"
#include "graphs.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

enum { TEST_BLOCKS = 14, TEST_NODES = TEST_BLOCKS + 2, ROUNDS = 3000, SEED = 1997 };

/* Runs `check` on many random graphs. */
static void on_random_graphs(unsigned rounds, void (*check)(const struct hp_cfg *cfg))
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct hp_random random = hp_random_seeded(SEED);

	for (unsigned i = 0; i < rounds; i++) {
		struct hp_cfg *cfg = random_graph(arena, &random, TEST_BLOCKS);

		ck_assert(run_passes(cfg, arena));
		check(cfg);
		hp_arena_reset(arena);
	}
}

/* --- connecting and order --------------------------------------------------------------------- */

static void check_connected(const struct hp_cfg *cfg)
{
	bool forward[TEST_NODES];
	bool backward[TEST_NODES];

	reach_without(cfg, cfg->entry, false, HP_CFG_NONE, forward);
	reach_without(cfg, cfg->exit, true, HP_CFG_NONE, backward);
	for (uint32_t i = 0; i < cfg->node_count; i++) {
		ck_assert(forward[i] || i == cfg->exit);
		ck_assert(backward[i] || i == cfg->entry);
	}
}

TEST(every_node_is_reached_from_entry_and_reaches_exit)
{
	on_random_graphs(ROUNDS, check_connected);
}

static void check_escapes(const struct hp_cfg *cfg)
{
	struct hp_cfg without = *cfg;
	bool reaches[TEST_NODES];

	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		struct hp_edge edges[128];
		uint32_t kept = 0;

		if (cfg->edges[i].kind != HP_EDGE_ESCAPE)
			continue;
		for (uint32_t k = 0; k < cfg->edge_count; k++)
			if (k != i)
				edges[kept++] = cfg->edges[k];
		without.edges = edges;
		without.edge_count = kept;
		reach_without(&without, cfg->exit, true, HP_CFG_NONE, reaches);
		ck_assert(!reaches[cfg->edges[i].from]);
	}
}

TEST(an_escape_is_only_where_nothing_else_leads_out)
{
	on_random_graphs(ROUNDS, check_escapes);
}

static void check_index(const struct hp_cfg *cfg)
{
	uint32_t inner = 0;

	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct hp_edge *edge = &cfg->edges[i];
		const struct hp_block *from = &cfg->blocks[edge->from];
		const struct hp_block *to = &cfg->blocks[edge->to];
		uint32_t times = 0;

		ck_assert_uint_le(from->first_out, i);
		ck_assert_uint_lt(i, from->first_out + from->out_count);
		for (uint32_t k = 0; k < to->in_count; k++)
			times += cfg->in_edges[to->first_in + k] == i;
		ck_assert_uint_eq(times, 1);
		for (uint32_t k = 0; k < i; k++)
			ck_assert(cfg->edges[k].from != edge->from || cfg->edges[k].to != edge->to);
		inner += edge->from < cfg->block_count && edge->to < cfg->block_count;
	}
	ck_assert_uint_eq(cfg->inner_edge_count, inner);
}

static void check_between(const struct hp_cfg *cfg)
{
	enum { BYTES = 4 };

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		cfg->blocks[i].address.value = 1000 + i * BYTES;
		cfg->blocks[i].bytes = BYTES;
	}
	for (uint32_t from = 0; from < cfg->block_count; from++)
		for (uint32_t to = 0; to < cfg->block_count; to++) {
			hp_link_address inside = { cfg->blocks[from].address.value + 1 };
			hp_link_address middle = { cfg->blocks[to].address.value + 1 };
			uint32_t expected = HP_CFG_NONE;

			for (uint32_t i = 0; i < cfg->edge_count; i++)
				if (cfg->edges[i].from == from && cfg->edges[i].to == to)
					expected = i;
			ck_assert_uint_eq(hp_cfg_edge_between(cfg, inside, cfg->blocks[to].address),
					  expected);
			ck_assert_uint_eq(hp_cfg_edge_between(cfg, inside, middle), HP_CFG_NONE);
		}
}

TEST(an_edge_is_found_by_what_it_leads_from_and_to)
{
	on_random_graphs(ROUNDS / 4, check_between);
}

TEST(edges_are_found_from_both_ends_and_only_once)
{
	on_random_graphs(ROUNDS, check_index);
}

/* An edge that goes back in a reverse postorder closes a cycle. */
static void check_order(const struct hp_cfg *cfg)
{
	bool seen[TEST_NODES] = { false };
	bool reached[TEST_NODES];

	for (uint32_t i = 0; i < cfg->node_count; i++) {
		ck_assert_uint_eq(cfg->blocks[cfg->order[i]].position, i);
		ck_assert(!seen[cfg->order[i]]);
		seen[cfg->order[i]] = true;
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct hp_edge *edge = &cfg->edges[i];

		if (cfg->blocks[edge->to].position > cfg->blocks[edge->from].position)
			continue;
		reach_without(cfg, edge->to, false, HP_CFG_NONE, reached);
		ck_assert(reached[edge->from]);
	}
	ck_assert_uint_eq(cfg->order[0], cfg->entry);
}

TEST(the_order_goes_back_only_to_close_a_cycle)
{
	on_random_graphs(ROUNDS, check_order);
}

/* --- dominators ------------------------------------------------------------------------------- */

/* a dominates b when taking a away cuts b off from the root. */
static void find_domination(const struct hp_cfg *cfg, bool is_backward,
			    bool dominates[TEST_NODES][TEST_NODES])
{
	uint32_t root = is_backward ? cfg->exit : cfg->entry;

	for (uint32_t a = 0; a < cfg->node_count; a++) {
		bool reached[TEST_NODES];

		reach_without(cfg, root, is_backward, a, reached);
		for (uint32_t b = 0; b < cfg->node_count; b++)
			dominates[a][b] = !reached[b];
	}
}

static void check_domination(const struct hp_cfg *cfg, bool is_backward)
{
	bool dominates[TEST_NODES][TEST_NODES];
	uint32_t root = is_backward ? cfg->exit : cfg->entry;

	find_domination(cfg, is_backward, dominates);
	for (uint32_t n = 0; n < cfg->node_count; n++) {
		uint32_t found = is_backward ? cfg->blocks[n].post_dominator
					     : cfg->blocks[n].dominator;

		if (n == root) {
			ck_assert_uint_eq(found, HP_CFG_NONE);
			continue;
		}
		ck_assert_uint_lt(found, cfg->node_count);
		ck_assert(found != n && dominates[found][n]);
		for (uint32_t d = 0; d < cfg->node_count; d++)
			if (d != n && dominates[d][n])
				ck_assert(dominates[d][found]);
	}
}

static void check_dominators(const struct hp_cfg *cfg)
{
	check_domination(cfg, false);
}

TEST(a_dominator_is_the_nearest_node_that_cuts_off_the_entry)
{
	on_random_graphs(ROUNDS, check_dominators);
}

static void check_post_dominators(const struct hp_cfg *cfg)
{
	check_domination(cfg, true);
}

TEST(a_post_dominator_is_the_nearest_node_that_cuts_off_the_exit)
{
	on_random_graphs(ROUNDS, check_post_dominators);
}

/* --- loops ------------------------------------------------------------------------------------ */

static bool is_in_loop(const struct hp_cfg *cfg, uint32_t node, uint32_t loop)
{
	uint32_t at = cfg->blocks[node].loop;

	while (at != HP_CFG_NONE && at != loop)
		at = cfg->loops[at].parent;
	return at == loop;
}

/* a and b lie on a cycle that stays within `inside`. */
static bool on_one_cycle(const struct hp_cfg *cfg, const bool *inside, uint32_t a, uint32_t b)
{
	bool reached[TEST_NODES] = { false };
	bool back[TEST_NODES] = { false };

	for (uint32_t round = 0; round <= cfg->node_count; round++)
		for (uint32_t i = 0; i < cfg->edge_count; i++) {
			uint32_t from = cfg->edges[i].from;
			uint32_t to = cfg->edges[i].to;

			if (!inside[from] || !inside[to])
				continue;
			reached[to] |= from == a || reached[from];
			back[from] |= to == a || back[to];
		}
	return reached[b] && back[b];
}

/* Of the nodes of `outer` but its header (HP_CFG_NONE: of all nodes) those on a cycle among
 * themselves are in one loop directly inside `outer`, the others in none. */
static void check_level(const struct hp_cfg *cfg, uint32_t outer)
{
	bool inside[TEST_NODES];
	uint32_t inner[TEST_NODES];

	for (uint32_t n = 0; n < cfg->node_count; n++) {
		inside[n] = outer == HP_CFG_NONE ||
			    (is_in_loop(cfg, n, outer) && n != cfg->loops[outer].header);
		inner[n] = HP_CFG_NONE;
		for (uint32_t loop = 0; loop < cfg->loop_count; loop++)
			if (cfg->loops[loop].parent == outer && is_in_loop(cfg, n, loop))
				inner[n] = loop;
	}
	for (uint32_t a = 0; a < cfg->node_count; a++) {
		if (!inside[a])
			continue;
		ck_assert_int_eq(on_one_cycle(cfg, inside, a, a), inner[a] != HP_CFG_NONE);
		for (uint32_t b = 0; b < cfg->node_count; b++)
			if (inside[b] && inner[a] != HP_CFG_NONE)
				ck_assert_int_eq(on_one_cycle(cfg, inside, a, b),
						 inner[a] == inner[b]);
	}
}

static void check_loops(const struct hp_cfg *cfg)
{
	check_level(cfg, HP_CFG_NONE);
	for (uint32_t loop = 0; loop < cfg->loop_count; loop++) {
		uint32_t parent = cfg->loops[loop].parent;

		ck_assert(is_in_loop(cfg, cfg->loops[loop].header, loop));
		ck_assert_uint_eq(cfg->loops[loop].depth,
				  parent == HP_CFG_NONE ? 1 : cfg->loops[parent].depth + 1);
		ck_assert(parent == HP_CFG_NONE || parent < loop);
		check_level(cfg, loop);
	}
}

/* Against climbing. */
static void check_places(const struct hp_cfg *cfg)
{
	for (uint32_t loop = 0; loop < cfg->loop_count; loop++) {
		uint32_t size = 0;

		for (uint32_t other = 0; other < cfg->loop_count; other++)
			size += is_in_loop(cfg, cfg->loops[other].header, loop);
		ck_assert_uint_eq(cfg->loops[loop].size, size);
		for (uint32_t n = 0; n < cfg->node_count; n++)
			ck_assert_int_eq(hp_cfg_is_in_loop(cfg, n, loop), is_in_loop(cfg, n, loop));
	}
}

TEST(what_is_in_a_loop_is_known_without_climbing)
{
	on_random_graphs(ROUNDS, check_places);
}

TEST(loops_are_the_cycles_left_when_the_outer_header_is_gone)
{
	on_random_graphs(ROUNDS / 4, check_loops);
}

static void check_irreducible(const struct hp_cfg *cfg)
{
	for (uint32_t loop = 0; loop < cfg->loop_count; loop++) {
		bool has_side_entry = false;

		for (uint32_t i = 0; i < cfg->edge_count; i++)
			has_side_entry |= !is_in_loop(cfg, cfg->edges[i].from, loop) &&
					  is_in_loop(cfg, cfg->edges[i].to, loop) &&
					  cfg->edges[i].to != cfg->loops[loop].header;
		ck_assert_int_eq(cfg->loops[loop].is_irreducible, has_side_entry);
	}
}

TEST(a_loop_is_irreducible_when_it_is_entered_beside_its_header)
{
	on_random_graphs(ROUNDS, check_irreducible);
}

/* --- equivalence ------------------------------------------------------------------------------ */

/* The graph with each node split, and exit joined to entry. */
struct split {
	uint32_t count;
	uint32_t from[160];
	uint32_t to[160];
	uint32_t class[160];
};

static void split_graph(const struct hp_cfg *cfg, struct split *split)
{
	split->count = 0;
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		split->from[split->count] = 2 * cfg->edges[i].from + 1;
		split->to[split->count] = 2 * cfg->edges[i].to;
		split->class[split->count++] = cfg->edges[i].class;
	}
	for (uint32_t i = 0; i < cfg->node_count; i++) {
		split->from[split->count] = 2 * i;
		split->to[split->count] = 2 * i + 1;
		split->class[split->count++] = cfg->blocks[i].class;
	}
	split->from[split->count] = 2 * cfg->exit + 1;
	split->to[split->count] = 2 * cfg->entry;
	split->class[split->count++] = cfg->blocks[cfg->entry].class;
}

/* There is a cycle through link a that does not use link b. */
static bool cycle_avoids(const struct split *split, uint32_t a, uint32_t b)
{
	bool reached[2 * TEST_NODES] = { false };
	bool grown = true;

	reached[split->to[a]] = true;
	while (grown) {
		grown = false;
		for (uint32_t i = 0; i < split->count; i++)
			if (i != b && reached[split->from[i]] && !reached[split->to[i]])
				reached[split->to[i]] = grown = true;
	}
	return reached[split->from[a]];
}

static void check_classes(const struct hp_cfg *cfg)
{
	struct split split;

	split_graph(cfg, &split);
	for (uint32_t a = 0; a < split.count; a++) {
		ck_assert_uint_lt(split.class[a], cfg -> class_count);
		for (uint32_t b = 0; b < a; b++)
			ck_assert_int_eq(split.class[a] == split.class[b],
					 !cycle_avoids(&split, a, b) &&
						 !cycle_avoids(&split, b, a));
	}
}

TEST(a_class_is_what_lies_on_the_same_cycles)
{
	on_random_graphs(ROUNDS / 3, check_classes);
}

TEST(with_missing_edges_nothing_is_equivalent)
{
	static const uint32_t edges[][2] = { { 0, 1 }, { 1, EXIT } };
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct hp_cfg *cfg = graph_of(arena, 2, edges, 2);

	cfg->missing_edges = true;
	ck_assert(run_passes(cfg, arena));
	ck_assert_uint_eq(cfg->class_count, cfg->node_count + cfg->edge_count);
	ck_assert_uint_ne(cfg->blocks[0].class, cfg->blocks[1].class);
}

TEST(the_arms_of_a_branch_differ_and_its_ends_agree)
{
	static const uint32_t edges[][2] = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 3, EXIT } };
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct hp_cfg *cfg = graph_of(arena, 4, edges, 5);

	ck_assert(run_passes(cfg, arena));
	ck_assert_uint_eq(cfg->blocks[0].class, cfg->blocks[3].class);
	ck_assert_uint_ne(cfg->blocks[1].class, cfg->blocks[2].class);
	ck_assert_uint_ne(cfg->blocks[0].class, cfg->blocks[1].class);
	ck_assert_uint_eq(cfg->blocks[3].dominator, 0);
	ck_assert_uint_eq(cfg->blocks[0].post_dominator, 3);
	ck_assert_uint_eq(cfg->class_count, 3);
}

TEST(the_blocks_of_an_infinite_loop_run_equally_often)
{
	static const uint32_t edges[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 1 } };
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct hp_cfg *cfg = graph_of(arena, 4, edges, 4);

	ck_assert(run_passes(cfg, arena));
	ck_assert_uint_eq(cfg->blocks[1].class, cfg->blocks[2].class);
	ck_assert_uint_eq(cfg->blocks[1].class, cfg->blocks[3].class);
	ck_assert_uint_ne(cfg->blocks[0].class, cfg->blocks[1].class);
	ck_assert_uint_eq(cfg->loop_count, 1);
	ck_assert_uint_eq(cfg->loops[0].header, 1);
}

/* --- size ------------------------------------------------------------------------------------- */

/* A ladder that is hard for methods that iterate: each rung can be jumped over, and back. */
TEST(a_hundred_thousand_blocks_are_no_trouble)
{
	enum { BLOCKS = 100000 };
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	uint32_t(*edges)[2] = calloc(4 * BLOCKS, sizeof(*edges));
	struct hp_cfg *cfg;
	size_t count = 0;

	for (uint32_t i = 0; i + 1 < BLOCKS; i++) {
		edges[count][0] = i;
		edges[count++][1] = i + 1;
		edges[count][0] = i;
		edges[count++][1] = i + 2 < BLOCKS ? i + 2 : EXIT;
		edges[count][0] = i;
		edges[count++][1] = i / 2;
	}
	cfg = graph_of(arena, BLOCKS, (const uint32_t(*)[2])edges, count);
	ck_assert(run_passes(cfg, arena));
	ck_assert_uint_eq(cfg->blocks[1].dominator, 0);
	ck_assert_uint_eq(cfg->order[0], cfg->entry);
	free(edges);
}

HP_TEST_MAIN("cfg/graph")
