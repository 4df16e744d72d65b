/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	a connected graph
 * provides	classes of blocks and edges that run equally often whenever the procedure is
 *		entered and left, numbered from 0
 *
 * Johnson, Pearson, Pingali, "The Program Structure Tree" (PLDI 1994), section 3: two edges of a
 * strongly connected graph lie on the same cycles exactly if the same back edges of an undirected
 * depth-first walk span them ("brackets"). Each node is split in two, joined by an edge that
 * stands for the node; an edge from exit to entry makes the graph strongly connected. Linear time.
 *
 * A graph that misses edges proves nothing, so there everything is in a class of its own (section
 * 6.1.2 of the DCPI paper).
 */
#include "graph.h"

#define NONE HP_CFG_NONE

/* Half-nodes: node v comes in at 2v and goes out at 2v + 1. Links: the graph's edges, then one
 * inside each node, then the one from exit to entry. Brackets: links, then one capping bracket a
 * half-node. */
struct bracket {
	uint32_t previous; /* towards the top */
	uint32_t next;
	uint32_t class; /* NONE until it is known */
	uint32_t recent_class;
	uint32_t recent_size;
};

struct half {
	uint32_t first_link; /* in links */
	uint32_t link_count;
	uint32_t number; /* in the order of the walk, or NONE */
	uint32_t parent; /* the link that led to it */
	uint32_t next;	 /* the next link */
	uint32_t high;	 /* least number that a bracket from its subtree reaches */
	uint32_t top;	 /* the topmost of its brackets */
	uint32_t bottom;
	uint32_t size;
	uint32_t caps; /* first capping bracket that ends here */
};

struct search {
	struct hp_cfg *cfg;
	uint32_t half_count;
	uint32_t link_count;
	struct half *halves;
	uint32_t *links; /* by half-node */
	uint32_t *order; /* half-nodes by number */
	uint32_t *stack;
	uint32_t *next_cap; /* by half-node of its start */
	struct bracket *brackets;
	uint32_t classes;
};

static uint32_t start_of(const struct search *s, uint32_t link)
{
	if (link < s->cfg->edge_count)
		return 2 * s->cfg->edges[link].from + 1;
	link -= s->cfg->edge_count;
	return link < s->cfg->node_count ? 2 * link : 2 * s->cfg->exit + 1;
}

static uint32_t end_of(const struct search *s, uint32_t link)
{
	if (link < s->cfg->edge_count)
		return 2 * s->cfg->edges[link].to;
	link -= s->cfg->edge_count;
	return link < s->cfg->node_count ? 2 * link + 1 : 2 * s->cfg->entry;
}

static uint32_t other_end(const struct search *s, uint32_t link, uint32_t half)
{
	uint32_t start = start_of(s, link);

	return start == half ? end_of(s, link) : start;
}

static void make_links(struct search *s)
{
	uint32_t at = 0;

	for (uint32_t link = 0; link < s->link_count; link++) {
		s->halves[start_of(s, link)].link_count++;
		s->halves[end_of(s, link)].link_count++;
	}
	for (uint32_t i = 0; i < s->half_count; i++) {
		s->halves[i].first_link = at;
		at += s->halves[i].link_count;
		s->halves[i].link_count = 0;
	}
	for (uint32_t link = 0; link < s->link_count; link++) {
		struct half *start = &s->halves[start_of(s, link)];
		struct half *end = &s->halves[end_of(s, link)];

		s->links[start->first_link + start->link_count++] = link;
		s->links[end->first_link + end->link_count++] = link;
	}
}

static void walk(struct search *s)
{
	uint32_t root = 2 * s->cfg->entry;
	uint32_t depth = 0;
	uint32_t count = 0;

	s->halves[root].number = 0;
	s->order[count++] = root;
	s->stack[depth++] = root;
	while (depth > 0) {
		uint32_t top = s->stack[depth - 1];
		struct half *half = &s->halves[top];
		uint32_t link;
		uint32_t to;

		if (half->next == half->link_count) {
			depth--;
			continue;
		}
		link = s->links[half->first_link + half->next++];
		to = other_end(s, link, top);
		if (s->halves[to].number != NONE)
			continue;
		s->halves[to].number = count;
		s->halves[to].parent = link;
		s->order[count++] = to;
		s->stack[depth++] = to;
	}
}

/* --- bracket lists ---------------------------------------------------------------------------- */

static void push(struct search *s, struct half *half, uint32_t bracket)
{
	s->brackets[bracket].previous = NONE;
	s->brackets[bracket].next = half->top;
	if (half->top != NONE)
		s->brackets[half->top].previous = bracket;
	else
		half->bottom = bracket;
	half->top = bracket;
	half->size++;
}

static void take_out(struct search *s, struct half *half, uint32_t bracket)
{
	const struct bracket *b = &s->brackets[bracket];

	if (b->previous != NONE)
		s->brackets[b->previous].next = b->next;
	else
		half->top = b->next;
	if (b->next != NONE)
		s->brackets[b->next].previous = b->previous;
	else
		half->bottom = b->previous;
	half->size--;
}

static void append(struct search *s, struct half *half, const struct half *child)
{
	if (child->size == 0)
		return;
	if (half->size == 0) {
		half->top = child->top;
	} else {
		s->brackets[half->bottom].next = child->top;
		s->brackets[child->top].previous = half->bottom;
	}
	half->bottom = child->bottom;
	half->size += child->size;
}

/* --- classes ---------------------------------------------------------------------------------- */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* What the half-node's links reach, before brackets end or begin at it. */
struct reach {
	uint32_t up;	  /* least number that a back link from here reaches */
	uint32_t child;	  /* least number that a child's subtree reaches */
	uint32_t another; /* least number that the other children's subtrees reach */
};

static struct reach look_around(struct search *s, uint32_t number)
{
	uint32_t self = s->order[number];
	struct half *half = &s->halves[self];
	struct reach reach = { NONE, NONE, NONE };

	for (uint32_t i = 0; i < half->link_count; i++) {
		uint32_t link = s->links[half->first_link + i];
		const struct half *other = &s->halves[other_end(s, link, self)];

		if (link == half->parent)
			continue;
		if (other->parent == link) {
			append(s, half, other);
			reach.another = least(reach.another, other->high < reach.child
								     ? reach.child
								     : other->high);
			reach.child = least(reach.child, other->high);
		} else if (other->number < number) {
			reach.up = least(reach.up, other->number);
		}
	}
	return reach;
}

/* Removes brackets that end here, and adds those that begin here. */
static void change_brackets(struct search *s, uint32_t number, const struct reach *reach)
{
	uint32_t self = s->order[number];
	struct half *half = &s->halves[self];

	for (uint32_t cap = half->caps; cap != NONE; cap = s->next_cap[cap])
		take_out(s, half, s->link_count + cap);
	for (uint32_t i = 0; i < half->link_count; i++) {
		uint32_t link = s->links[half->first_link + i];
		const struct half *other = &s->halves[other_end(s, link, self)];

		if (link == half->parent || other->parent == link || other->number < number)
			continue;
		take_out(s, half, link);
		if (s->brackets[link].class == NONE)
			s->brackets[link].class = s->classes++;
	}
	for (uint32_t i = 0; i < half->link_count; i++) {
		uint32_t link = s->links[half->first_link + i];
		const struct half *other = &s->halves[other_end(s, link, self)];

		if (link != half->parent && other->parent != link && other->number < number)
			push(s, half, link);
	}
	if (reach->another < reach->up && reach->another < number) {
		struct half *end = &s->halves[s->order[reach->another]];

		push(s, half, s->link_count + self);
		s->next_cap[self] = end->caps;
		end->caps = self;
	}
}

/* The link to the parent is on the same cycles as all links with the same topmost bracket and
 * number of brackets. */
static void classify_parent(struct search *s, struct half *half)
{
	struct bracket *top;

	if (half->top == NONE) { /* a bridge: not in a connected graph */
		s->brackets[half->parent].class = s->classes++;
		return;
	}
	top = &s->brackets[half->top];
	if (top->recent_size != half->size) {
		top->recent_size = half->size;
		top->recent_class = s->classes++;
	}
	s->brackets[half->parent].class = top->recent_class;
	if (half->size == 1)
		top->class = top->recent_class;
}

static void find_classes(struct search *s)
{
	for (uint32_t number = s->half_count; number-- > 0;) {
		struct half *half = &s->halves[s->order[number]];
		struct reach reach = look_around(s, number);

		half->high = least(reach.up, reach.child);
		change_brackets(s, number, &reach);
		if (number > 0)
			classify_parent(s, half);
	}
}

static bool run(struct hp_cfg *cfg)
{
	struct search s = { .cfg = cfg,
			    .half_count = 2 * cfg->node_count,
			    .link_count = cfg->edge_count + cfg->node_count + 1 };
	size_t halves = s.half_count;
	size_t brackets = (size_t)s.link_count + halves;
	_cleanup_free_ struct half *half_memory = calloc(halves, sizeof(struct half));
	_cleanup_free_ struct bracket *bracket_memory = calloc(brackets, sizeof(struct bracket));
	_cleanup_free_ uint32_t *numbers =
		calloc(3 * halves + 2 * (size_t)s.link_count, sizeof(uint32_t));

	if (!half_memory || !bracket_memory || !numbers)
		return false;
	s.halves = half_memory;
	s.brackets = bracket_memory;
	s.order = numbers;
	s.stack = numbers + halves;
	s.next_cap = numbers + 2 * halves;
	s.links = numbers + 3 * halves;
	for (size_t i = 0; i < halves; i++) {
		struct half *half = &s.halves[i];

		half->number = half->parent = half->top = half->bottom = half->caps = NONE;
	}
	for (size_t i = 0; i < brackets; i++)
		s.brackets[i].class = NONE;
	make_links(&s);
	walk(&s);
	find_classes(&s);
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		cfg->edges[i].class = s.brackets[i].class;
	for (uint32_t i = 0; i < cfg->node_count; i++)
		cfg->blocks[i].class = s.brackets[cfg->edge_count + i].class;
	cfg->class_count = s.classes;
	return true;
}

/* Numbers classes in the order in which they are first met, without gaps. */
static bool renumber(struct hp_cfg *cfg)
{
	_cleanup_free_ uint32_t *now =
		reallocarray(NULL, (size_t)cfg->class_count + 1, sizeof(*now));
	uint32_t count = 0;

	if (!now)
		return false;
	for (uint32_t i = 0; i < cfg->class_count; i++)
		now[i] = NONE;
	for (uint32_t i = 0; i < cfg->node_count; i++) {
		uint32_t *class = &cfg->blocks[i].class;

		if (now[*class] == NONE)
			now[*class] = count++;
		*class = now[*class];
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		uint32_t *class = &cfg->edges[i].class;

		if (now[*class] == NONE)
			now[*class] = count++;
		*class = now[*class];
	}
	cfg->class_count = count;
	return true;
}

bool graph_equivalence(struct hp_cfg *cfg)
{
	if (!cfg->missing_edges)
		return run(cfg) && renumber(cfg);
	cfg->class_count = 0;
	for (uint32_t i = 0; i < cfg->node_count; i++)
		cfg->blocks[i].class = cfg->class_count++;
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		cfg->edges[i].class = cfg->class_count++;
	return true;
}
