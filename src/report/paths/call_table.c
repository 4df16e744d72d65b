/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call_table.h"

#include "call_tree.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/number.h>
#include <hpcprof/model/procedure_name.h>

#include <string.h>

struct edge_key {
	const struct hp_called *caller;
	const struct hp_called *callee;
};

struct edge_entry {
	UT_hash_handle hh;
	struct edge_key key;
	size_t edge;
	size_t last_path;
};

struct counting {
	struct call_table *table;
	enum call_edges edges;
	const struct hp_called *group; /* the only group that counts; NULL: all do */
	size_t *last_path;	       /* of each procedure: a path counts once */
	size_t path;
	struct edge_entry *index;
};

/* --- counting --------------------------------------------------------------------------------- */

static struct hp_error *add_edge(struct counting *counting, const struct hp_called *caller,
				 const struct hp_called *callee, const struct hp_tally *tally)
{
	struct call_table *table = counting->table;
	struct edge_entry *entry;
	struct edge_key key;

	memset(&key, 0, sizeof(key));
	key.caller = caller;
	key.callee = callee;
	HASH_FIND(hh, counting->index, &key, sizeof(key), entry);
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry ||
		    !hp_vector_push(&table->edges, (struct call_edge){ caller, callee, { 0 } })) {
			free(entry);
			return hp_error_create_no_memory();
		}
		memcpy(&entry->key, &key, sizeof(key));
		entry->edge = table->edges.count - 1;
		HASH_ADD(hh, counting->index, key, sizeof(key), entry);
		if (!entry->hh.tbl) {
			free(entry);
			return hp_error_create_no_memory();
		}
	}
	if (entry->last_path != counting->path)
		hp_tally_add(&table->edges.at[entry->edge].tally, tally);
	entry->last_path = counting->path;
	return NULL;
}

static struct hp_error *add_path(const struct call_path *found, void *context)
{
	const struct hp_called *const *path = found->procedures;
	const struct hp_tally *tally = &found->tally;
	struct counting *counting = context;
	struct hp_error *error = NULL;

	if (counting->group && counting->group != found->group)
		return NULL;
	counting->path++;
	for (size_t i = 0; i < found->count && !error; i++) {
		struct called_cost *cost = &counting->table->costs.at[path[i]->index];

		if (counting->last_path[path[i]->index] != counting->path)
			hp_tally_add(&cost->total, tally);
		counting->last_path[path[i]->index] = counting->path;
		if (i + 1 == found->count)
			hp_tally_add(&cost->own, tally);
		else if (counting->edges != EDGES_NONE)
			error = add_edge(counting, path[i], path[i + 1], tally);
	}
	return error;
}

/* --- order ------------------------------------------------------------------------------------ */

static int compare_costs(const void *left, const void *right)
{
	const struct called_cost *a = left;
	const struct called_cost *b = right;
	int order = (a->total.weight < b->total.weight) - (a->total.weight > b->total.weight);

	if (!order)
		order = (a->own.weight < b->own.weight) - (a->own.weight > b->own.weight);
	if (!order)
		order = strcmp(a->procedure->name, b->procedure->name);
	return order ? order
		     : (a->procedure->index > b->procedure->index) -
			       (a->procedure->index < b->procedure->index);
}

static const struct hp_called *owner_of(const struct call_edge *edge, enum call_edges edges)
{
	return edges == EDGES_OF_CALLERS ? edge->caller : edge->callee;
}

static int compare_edges(const void *left, const void *right, void *context)
{
	enum call_edges edges = *(const enum call_edges *)context;
	const struct call_edge *a = left;
	const struct call_edge *b = right;
	const struct hp_called *x = owner_of(a, edges);
	const struct hp_called *y = owner_of(b, edges);
	const struct hp_called *other_x = x == a->caller ? a->callee : a->caller;
	const struct hp_called *other_y = y == b->caller ? b->callee : b->caller;
	int order = (x->index > y->index) - (x->index < y->index);

	if (!order)
		order = (a->tally.weight < b->tally.weight) - (a->tally.weight > b->tally.weight);
	return order ? order
		     : (other_x->index > other_y->index) - (other_x->index < other_y->index);
}

static void sort(struct call_table *table, enum call_edges edges)
{
	size_t kept = 0;

	if (table->edges.count)
		qsort_r(table->edges.at, table->edges.count, sizeof(*table->edges.at),
			compare_edges, &edges);
	for (size_t i = 0; i < table->edges.count; i++) {
		struct called_cost *cost =
			&table->costs.at[owner_of(&table->edges.at[i], edges)->index];

		if (!cost->edge_count++)
			cost->first_edge = i;
	}
	/* Procedures without samples of this event have empty costs. */
	for (size_t i = 0; i < table->costs.count; i++)
		if (table->costs.at[i].total.samples)
			table->costs.at[kept++] = table->costs.at[i];
	table->costs.count = kept;
	if (kept)
		qsort(table->costs.at, kept, sizeof(*table->costs.at), compare_costs);
}

struct hp_error *call_table_make(const struct report *report, enum call_edges edges,
				 const struct hp_called *group, struct call_table *table)
{
	const struct hp_call_paths *paths = report->paths;
	_cleanup_free_ size_t *last_path = calloc(paths->procedures.count + 1, sizeof(*last_path));
	struct counting counting = {
		.table = table, .edges = edges, .group = group, .last_path = last_path
	};
	struct hp_error *error;

	*table = (struct call_table){ 0 };
	if (!last_path || !hp_vector_reserve(&table->costs, paths->procedures.count + 1))
		return hp_error_create_no_memory();
	for (size_t i = 0; i < paths->procedures.count; i++)
		table->costs.at[table->costs.count++] =
			(struct called_cost){ .procedure = paths->procedures.at[i] };
	error = call_paths_each(report, add_path, &counting);
	HP_HASH_FREE(counting.index);
	if (!error)
		sort(table, edges);
	return error;
}

void call_table_clear(struct call_table *table)
{
	hp_vector_free(&table->costs);
	hp_vector_free(&table->edges);
}

/* --- one procedure ---------------------------------------------------------------------------- */

/* The part after "IMAGE:", if it names the procedure's image; otherwise NULL. */
static const char *after_image(const struct hp_called *procedure, const char *wanted)
{
	const char *colon = strchr(wanted, ':');
	_cleanup_free_ char *image = NULL;

	/* "a::b" is a name, not an image. */
	if (!colon || colon[1] == ':' || !procedure->image)
		return NULL;
	image = strndup(wanted, (size_t)(colon - wanted));
	if (!image)
		return NULL;
	return hp_profiles_matches(image, procedure->image->id.path) ||
			       hp_profiles_matches(image, procedure->image->short_name) ||
			       hp_profiles_matches(image,
						   hp_image_basename(procedure->image->id.path))
		       ? colon + 1
		       : NULL;
}

static enum hp_name_fit fit_alone(const struct hp_called *procedure, const char *wanted)
{
	uint64_t address;

	if (strncmp(wanted, "0x", 2) == 0 && hp_parse_u64(wanted, &address))
		return procedure->has_address && address >= procedure->address &&
				       address - procedure->address < procedure->size
			       ? HP_NAME_EXACT
			       : HP_NAME_NOT;
	return hp_name_fit(procedure->name, procedure->linkage, wanted);
}

static enum hp_name_fit fit_of(const struct hp_called *procedure, const char *wanted)
{
	enum hp_name_fit fit = fit_alone(procedure, wanted);
	const char *rest = fit == HP_NAME_NOT ? after_image(procedure, wanted) : NULL;

	return rest ? fit_alone(procedure, rest) : fit;
}

static void tell_other(const struct report *report, const struct hp_called *found,
		       const struct hp_called *other, size_t count, const char *wanted)
{
	hp_profiles_warn(report->profiles, "IMAGE:PROCEDURE or a full name selects another one",
			 "%zu procedures match '%s': %s in %s is shown, the next is %s in %s",
			 count, wanted, found->shown,
			 found->image ? found->image->short_name : "no image", other->shown,
			 other->image ? other->image->short_name : "no image");
}

struct hp_error *call_table_find(const struct report *report, const struct call_table *table,
				 const char *wanted, const struct hp_called **found)
{
	enum hp_name_fit best = HP_NAME_NOT;
	const struct hp_called *other = NULL;
	size_t count = 0;

	*found = NULL;
	for (size_t i = 0; i < table->costs.count; i++) {
		const struct hp_called *procedure = table->costs.at[i].procedure;
		enum hp_name_fit fit = fit_of(procedure, wanted);

		if (fit < best) {
			best = fit;
			*found = procedure;
			other = NULL;
			count = 1;
		} else if (fit == best && fit != HP_NAME_NOT) {
			other = other ? other : procedure;
			count++;
		}
	}
	if (!*found)
		return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
						       "no procedure '%s' is on any call path",
						       wanted),
				       "hpcprof report --children lists the procedures");
	if (other)
		tell_other(report, *found, other, count, wanted);
	return NULL;
}
