/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths as CSV: a record per procedure, per pair of caller and callee, or per node of a
 * tree. */
#include "../common/text.h"
#include "../tables/table.h"
#include "paths_view.h"
#include "write_paths.h"

#include <inttypes.h>

static void add_procedure(struct hp_buffer *record, const struct hp_called *procedure)
{
	text_csv(record, procedure ? procedure->name : "");
	hp_buffer_add(record, ",", 1);
	text_csv(record, procedure && procedure->image ? procedure->image->id.path : "");
	hp_buffer_printf(record, ",%s", procedure && procedure->inlined ? "yes" : "no");
}

static void add_numbers(const struct report *report, struct hp_buffer *record,
			const struct hp_tally *total, const struct hp_tally *own)
{
	hp_buffer_printf(record, "%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,", total->samples, own->samples,
			 100 * paths_view_share(report, total),
			 100 * paths_view_share(report, own));
}

static void add_group(struct hp_buffer *record, const struct hp_called *group)
{
	if (!group)
		return;
	text_csv(record, group->name);
	hp_buffer_add(record, ",", 1);
}

static struct hp_error *write_cost(const struct report *report, const struct called_cost *cost,
				   const struct hp_called *group, struct hp_buffer *record,
				   FILE *out)
{
	add_group(record, group);
	add_numbers(report, record, &cost->total, &cost->own);
	add_procedure(record, cost->procedure);
	return write_csv_record(record, out);
}

static struct hp_error *write_edges(const struct report *report, const struct call_table *table,
				    const struct called_cost *cost, const struct hp_called *group,
				    struct hp_buffer *record, FILE *out)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < cost->edge_count && !error; i++) {
		const struct call_edge *edge = &table->edges.at[cost->first_edge + i];

		add_group(record, group);
		hp_buffer_printf(record, "%" PRIu64 ",%.6f,", edge->tally.samples,
				 100 * paths_view_share(report, &edge->tally));
		add_procedure(record, edge->caller);
		hp_buffer_add(record, ",", 1);
		add_procedure(record, edge->callee);
		error = write_csv_record(record, out);
	}
	return error;
}

static struct hp_error *write_rows(const struct report *report, const struct call_table *table,
				   const struct hp_called *group, struct hp_buffer *record,
				   FILE *out)
{
	enum call_edges edges = paths_view_edges(report);
	struct hp_error *error = NULL;

	for (size_t i = 0; i < table->costs.count && !error; i++) {
		if ((report->options->limit && i == report->options->limit) ||
		    paths_view_is_small(report, &table->costs.at[i].total, 0))
			break;
		error = edges == EDGES_NONE
				? write_cost(report, &table->costs.at[i], group, record, out)
				: write_edges(report, table, &table->costs.at[i], group, record,
					      out);
	}
	return error;
}

static struct hp_error *write_table(const struct report *report, struct hp_buffer *record,
				    FILE *out)
{
	enum call_edges edges = paths_view_edges(report);
	struct path_groups groups = { 0 };
	struct hp_error *error = paths_view_groups(report, &groups);

	fprintf(out, "%s%s", report->paths->groups.count ? "by," : "",
		edges == EDGES_NONE ? "samples_total,samples_self,percent_total,percent_self,"
				      "procedure,image,inlined\r\n"
				    : "samples,percent,caller,caller_image,caller_inlined,callee,"
				      "callee_image,callee_inlined\r\n");
	for (size_t i = 0; i < groups.list.count && !error; i++) {
		const struct hp_called *group = groups.list.at[i].called;
		struct call_table table;

		error = call_table_make(report, edges, group, &table);
		if (!error)
			error = write_rows(report, &table, group, record, out);
		call_table_clear(&table);
	}
	hp_vector_free(&groups.list);
	return error;
}

static struct hp_error *write_tree(const struct report *report, struct hp_buffer *record, FILE *out)
{
	struct call_tree tree;
	struct hp_error *error = paths_view_tree(report, false, &tree);

	fputs("node,parent,depth,samples_total,samples_self,percent_total,percent_self,procedure,"
	      "image,inlined\r\n",
	      out);
	for (size_t i = 1; i < tree.nodes.count && !error; i++) {
		const struct call_node *node = &tree.nodes.at[i];

		hp_buffer_printf(record, "%zu,%" PRIu32 ",%" PRIu32 ",", i, node->parent,
				 node->depth);
		add_numbers(report, record, &node->total, &node->own);
		add_procedure(record, node->procedure);
		error = write_csv_record(record, out);
	}
	call_tree_clear(&tree);
	return error;
}

struct hp_error *write_paths_csv(struct report *report, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer record = { 0 };

	return paths_view_is_tree(report) ? write_tree(report, &record, out)
					  : write_table(report, &record, out);
}
