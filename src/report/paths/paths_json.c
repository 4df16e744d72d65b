/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths as JSON. Trees are lists of nodes with the number of their parents, because readers of
 * nested values have limits that recursion exceeds.
 */
#include "../common/json.h"
#include "call_counts.h"
#include "paths_view.h"
#include "write_paths.h"

#include <string.h>

static json_t *procedure_object(const struct hp_called *procedure)
{
	return json_pack("{s:o, s:o, s:o, s:b}", "name", json_text(procedure->name), "image",
			 json_text(procedure->image ? procedure->image->id.path : NULL), "address",
			 json_address(procedure->has_address, procedure->address), "inlined",
			 procedure->inlined);
}

static json_t *number_of(const struct hp_called *procedure)
{
	return json_integer((json_int_t)procedure->index);
}

static struct hp_error *write_procedures(const struct report *report, FILE *out)
{
	struct hp_error *error = NULL;

	fputs(",\n\"procedures\": [", out);
	for (size_t i = 0; i < report->paths->procedures.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(procedure_object(report->paths->procedures.at[i]), false, out);
	}
	fputs("]", out);
	return error;
}

static json_t *share_of(const struct report *report, const struct hp_tally *tally)
{
	return json_real(paths_view_share(report, tally));
}

static json_t *quality(const struct report *report)
{
	const struct hp_call_paths *paths = report->paths;
	size_t event = report->profiles->sort_event;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "event",
			 json_text(report->profiles->events.at[event].info->name), "samples",
			 json_count(paths->all[event].samples), "truncated",
			 json_count(paths->truncated[event].samples), "unknown",
			 json_count(paths->unknown[event].samples), "guessed",
			 json_count(paths->guessed[event].samples), "grafted",
			 json_count(paths->grafted[event].samples), "folded",
			 json_count(paths->folded[event].samples), "epochs_without",
			 json_count(paths->epochs_without));
}

static struct hp_error *begin(const struct report *report, const char *schema, FILE *out)
{
	struct hp_error *error = json_write(json_header(report, schema), true, out);

	fputs(",\n\"paths\": ", out);
	if (!error)
		error = json_write(quality(report), false, out);
	return error ? error : write_procedures(report, out);
}

/* --- tables ----------------------------------------------------------------------------------- */

static json_t *edges_of(const struct report *report, const struct call_table *table,
			const struct called_cost *cost)
{
	bool of_callees = paths_view_edges(report) == EDGES_OF_CALLEES;
	json_t *list = json_array();

	for (size_t i = 0; i < cost->edge_count; i++) {
		const struct call_edge *edge = &table->edges.at[cost->first_edge + i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "procedure",
						number_of(of_callees ? edge->caller : edge->callee),
						"samples", json_count(edge->tally.samples), "share",
						share_of(report, &edge->tally)));
	}
	return list;
}

static json_t *cost_object(const struct report *report, const struct call_table *table,
			   const struct call_counts *counts, const struct called_cost *cost)
{
	enum call_edges edges = paths_view_edges(report);
	json_t *object = json_pack(
		"{s:o, s:{s:o, s:o}, s:{s:o, s:o}}", "procedure", number_of(cost->procedure),
		"samples", "self", json_count(cost->own.samples), "total",
		json_count(cost->total.samples), "share", "self", share_of(report, &cost->own),
		"total", share_of(report, &cost->total));

	if (edges == EDGES_NONE)
		json_object_set_new(object, "calls",
				    json_figure(call_counts_of(counts, cost->procedure)));
	else
		json_object_set_new(object, edges == EDGES_OF_CALLEES ? "callers" : "callees",
				    edges_of(report, table, cost));
	return object;
}

static struct hp_error *write_rows(const struct report *report, const struct path_group *group,
				   bool *is_first, FILE *out)
{
	enum call_edges edges = paths_view_edges(report);
	struct call_table table;
	struct call_counts counts = { 0 };
	struct hp_error *error = call_table_make(report, edges, group->called, &table);

	/* Calls were counted for all threads together, so groups have none. */
	if (!error && edges == EDGES_NONE && !group->called)
		error = call_counts_make(report, &counts);
	for (size_t i = 0; i < table.costs.count && !error; i++) {
		json_t *object;

		if ((report->options->limit && i == report->options->limit) ||
		    paths_view_is_small(report, &table.costs.at[i].total, 0))
			break;
		object = cost_object(report, &table, &counts, &table.costs.at[i]);
		if (group->called)
			json_object_set_new(object, "by", number_of(group->called));
		fputs(*is_first ? "\n" : ",\n", out);
		*is_first = false;
		error = json_write(object, false, out);
	}
	call_table_clear(&table);
	call_counts_clear(&counts);
	return error;
}

static struct hp_error *write_table(const struct report *report, FILE *out)
{
	enum call_edges edges = paths_view_edges(report);
	const char *schema = edges == EDGES_OF_CALLEES	 ? "hpcprof-callers/1"
			     : edges == EDGES_OF_CALLERS ? "hpcprof-callees/1"
							 : "hpcprof-children/1";
	struct path_groups groups = { 0 };
	struct hp_error *error = paths_view_groups(report, &groups);
	bool is_first = true;

	if (!error)
		error = begin(report, schema, out);
	fputs(",\n\"costs\": [", out);
	for (size_t i = 0; i < groups.list.count && !error; i++)
		error = write_rows(report, &groups.list.at[i], &is_first, out);
	fputs("]}\n", out);
	hp_vector_free(&groups.list);
	return error;
}

/* --- trees ------------------------------------------------------------------------------------ */

static json_t *node_object(const struct report *report, const struct call_node *node)
{
	return json_pack("{s:o, s:o, s:{s:o, s:o}, s:{s:o, s:o}}", "parent",
			 node->parent == HP_PATH_NO_NODE ? json_null() : json_integer(node->parent),
			 "procedure", node->procedure ? number_of(node->procedure) : json_null(),
			 "samples", "self", json_count(node->own.samples), "total",
			 json_count(node->total.samples), "share", "self",
			 share_of(report, &node->own), "total", share_of(report, &node->total));
}

static const char *tree_schema(const struct report *report)
{
	if (report->options->view == HP_VIEW_CALLERS)
		return "hpcprof-caller-tree/1";
	return report->options->view == HP_VIEW_CALLEES ? "hpcprof-callee-tree/1"
							: "hpcprof-tree/1";
}

static struct hp_error *write_tree(const struct report *report, FILE *out)
{
	struct call_tree tree;
	struct hp_error *error = paths_view_tree(report, false, &tree);

	if (!error)
		error = begin(report, tree_schema(report), out);
	if (!error)
		fprintf(out, ",\n\"order\": \"%s\",\n\"nodes\": [",
			report->options->view == HP_VIEW_CALLERS || report->options->bottom_up
				? "bottom-up"
				: "top-down");
	for (size_t i = 0; i < tree.nodes.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(node_object(report, &tree.nodes.at[i]), false, out);
	}
	fputs("]}\n", out);
	call_tree_clear(&tree);
	return error;
}

struct hp_error *write_paths_json(struct report *report, FILE *out)
{
	return paths_view_is_tree(report) ? write_tree(report, out) : write_table(report, out);
}
