/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	a connected graph
 * provides	loops and their nesting, irreducible ones included, and each block's innermost loop
 *
 * Havlak, "Nesting of Reducible and Irreducible Loops" (TOPLAS 1997). An irreducible loop gets as
 * its header the entry that a depth-first walk meets first; its other entries make it irreducible.
 * The edges that this moves outward are limited in number, which bounds the time: a graph that
 * exceeds the limit (no compiler makes one) has bodies of irreducible loops cut short.
 */
#include "graph.h"
#include "tuning.h"

struct moved {
	uint32_t from; /* number of the node */
	uint32_t next;
};

struct search {
	struct hp_cfg *cfg;
	uint32_t count;
	uint32_t *number; /* by node: depth-first preorder */
	/* By number: */
	uint32_t *node;
	uint32_t *last; /* largest number in its subtree */
	/* header of the innermost loop around it, not counting its own; or HP_CFG_NONE */
	uint32_t *header;
	uint32_t *set;	   /* union-find: towards the header of the outermost loop found so far */
	uint32_t *body;	   /* worklist */
	uint32_t *in_body; /* the header for which the number was last put into the worklist */
	uint32_t *moved;   /* first edge that was moved here */
	uint32_t *next;	   /* edges done; later the loop of which it is the header */
	bool *is_header;
	bool *is_irreducible;
	struct moved *pool;
	size_t pool_count;
	size_t pool_room;
};

static void walk(struct search *s)
{
	const struct hp_cfg *cfg = s->cfg;
	uint32_t *stack = s->body;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < cfg->node_count; i++)
		s->number[i] = HP_CFG_NONE;
	s->node[0] = cfg->entry;
	s->number[cfg->entry] = 0;
	s->next[0] = 0;
	s->count = 1;
	stack[depth++] = 0;
	while (depth > 0) {
		uint32_t top = stack[depth - 1];
		const struct hp_block *block = &cfg->blocks[s->node[top]];
		uint32_t to;

		if (s->next[top] == block->out_count) {
			s->last[top] = s->count - 1;
			depth--;
			continue;
		}
		to = cfg->edges[block->first_out + s->next[top]++].to;
		if (s->number[to] != HP_CFG_NONE)
			continue;
		s->number[to] = s->count;
		s->node[s->count] = to;
		s->next[s->count] = 0;
		stack[depth++] = s->count++;
	}
}

static bool is_ancestor(const struct search *s, uint32_t above, uint32_t below)
{
	return above <= below && below <= s->last[above];
}

static uint32_t find(struct search *s, uint32_t number)
{
	while (s->set[number] != number) {
		s->set[number] = s->set[s->set[number]];
		number = s->set[number];
	}
	return number;
}

static void move_edge(struct search *s, uint32_t from, uint32_t to)
{
	if (s->pool_count == s->pool_room)
		return;
	s->pool[s->pool_count] = (struct moved){ from, s->moved[to] };
	s->moved[to] = (uint32_t)s->pool_count++;
}

/* An edge from `from` leads into what is collected as the body of `header`. */
static uint32_t take_edge(struct search *s, uint32_t header, uint32_t from, uint32_t body_count)
{
	uint32_t y = find(s, from);

	if (!is_ancestor(s, header, y)) {
		s->is_irreducible[header] = true;
		move_edge(s, y, header);
	} else if (y != header && s->in_body[y] != header) {
		s->in_body[y] = header;
		s->body[body_count++] = y;
	}
	return body_count;
}

static void collect_body(struct search *s, uint32_t header)
{
	const struct hp_cfg *cfg = s->cfg;
	const struct hp_block *block = &cfg->blocks[s->node[header]];
	uint32_t count = 0;

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t v = s->number[cfg->edges[cfg->in_edges[block->first_in + i]].from];

		if (!is_ancestor(s, header, v))
			continue;
		s->is_header[header] = true;
		if (v != header)
			count = take_edge(s, header, v, count);
	}
	for (uint32_t done = 0; done < count; done++) {
		uint32_t x = s->body[done];

		block = &cfg->blocks[s->node[x]];
		for (uint32_t i = 0; i < block->in_count; i++) {
			uint32_t v = s->number[cfg->edges[cfg->in_edges[block->first_in + i]].from];

			if (!is_ancestor(s, x, v))
				count = take_edge(s, header, v, count);
		}
		for (uint32_t i = s->moved[x]; i != HP_CFG_NONE; i = s->pool[i].next)
			count = take_edge(s, header, s->pool[i].from, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		s->header[s->body[i]] = header;
		s->set[s->body[i]] = header;
	}
}

/* Sets each loop's place in a preorder, so that containment can be tested without climbing, even
 * for thousands of nested loops. */
static void place_loops(struct search *s)
{
	struct hp_cfg *cfg = s->cfg;
	uint32_t *next = s->body; /* reused: in each loop, the place of the next one */
	uint32_t outermost = 0;

	for (uint32_t i = 0; i < cfg->loop_count; i++)
		cfg->loops[i].size = 1;
	for (uint32_t i = cfg->loop_count; i-- > 0;)
		if (cfg->loops[i].parent != HP_CFG_NONE)
			cfg->loops[cfg->loops[i].parent].size += cfg->loops[i].size;
	for (uint32_t i = 0; i < cfg->loop_count; i++) {
		struct hp_loop *loop = &cfg->loops[i];
		uint32_t *place = loop->parent == HP_CFG_NONE ? &outermost : &next[loop->parent];

		loop->first = *place;
		*place += loop->size;
		next[i] = loop->first + 1;
	}
}

static bool make_loops(struct search *s, struct hp_arena *arena)
{
	struct hp_cfg *cfg = s->cfg;
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->count; i++)
		count += s->is_header[i];
	cfg->loops = hp_arena_array(arena, (size_t)count + 1, sizeof(*cfg->loops));
	if (!cfg->loops)
		return false;
	cfg->loop_count = 0;
	/* A header has a smaller number than the nodes of its loop, so outer loops come first. */
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t outer = s->header[i] == HP_CFG_NONE ? HP_CFG_NONE : s->next[s->header[i]];
		struct hp_block *block = &cfg->blocks[s->node[i]];

		block->loop = outer;
		if (!s->is_header[i])
			continue;
		s->next[i] = cfg->loop_count;
		block->loop = cfg->loop_count;
		cfg->loops[cfg->loop_count++] = (struct hp_loop){
			.header = s->node[i],
			.parent = outer,
			.depth = outer == HP_CFG_NONE ? 1 : cfg->loops[outer].depth + 1,
			.is_irreducible = s->is_irreducible[i],
		};
	}
	place_loops(s);
	return true;
}

bool graph_loops(struct hp_cfg *cfg, struct hp_arena *arena)
{
	enum { ARRAYS = 9 };
	size_t nodes = cfg->node_count;
	_cleanup_free_ uint32_t *memory = reallocarray(NULL, nodes, ARRAYS * sizeof(uint32_t));
	_cleanup_free_ bool *flags = calloc(nodes, 2 * sizeof(bool));
	_cleanup_free_ struct moved *pool = NULL;
	struct search s = { .cfg = cfg };
	uint32_t **const arrays[ARRAYS] = { &s.number, &s.node,	   &s.last,  &s.header, &s.set,
					    &s.body,   &s.in_body, &s.moved, &s.next };

	s.pool_room = MOVED_PER_EDGE * ((size_t)cfg->edge_count + 1);
	pool = reallocarray(NULL, s.pool_room, sizeof(*pool));
	if (!memory || !flags || !pool)
		return false;
	s.pool = pool;
	for (size_t i = 0; i < ARRAYS; i++)
		*arrays[i] = memory + i * nodes;
	s.is_header = flags;
	s.is_irreducible = flags + nodes;
	walk(&s);
	for (uint32_t i = 0; i < s.count; i++) {
		s.header[i] = s.in_body[i] = s.moved[i] = HP_CFG_NONE;
		s.set[i] = i;
	}
	for (uint32_t w = s.count; w-- > 0;)
		collect_body(&s, w);
	return make_loops(&s, arena);
}
