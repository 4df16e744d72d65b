/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "paths_view.h"
#include "write_paths.h"

#include <string.h>

bool paths_view_is_tree(const struct report *report)
{
	return report->options->view == HP_VIEW_TREE ||
	       report->options->view == HP_VIEW_FLAME_GRAPH || report->options->path_procedure;
}

struct hp_error *paths_find_called(struct report *report)
{
	struct call_table table = { 0 };
	struct hp_error *error;

	if (!report->options->path_procedure)
		return NULL;
	error = call_table_make(report, EDGES_NONE, NULL, &table);
	if (!error)
		error = call_table_find(report, &table, report->options->path_procedure,
					&report->called);
	call_table_clear(&table);
	return error;
}

struct hp_error *paths_view_tree(const struct report *report, bool joins_recursion,
				 struct call_tree *tree)
{
	const struct hp_report_options *options = report->options;
	struct call_shape shape = {
		.order = options->view == HP_VIEW_CALLERS || options->bottom_up ? CALLS_FROM_SAMPLE
										: CALLS_FROM_ROOT,
		.of = report->called,
		.joins_recursion = joins_recursion,
	};
	return call_tree_make(report, &shape, tree);
}

/* --- groups ----------------------------------------------------------------------------------- */

static struct hp_error *add_to_group(const struct call_path *path, void *context)
{
	struct path_groups *groups = context;
	size_t i = 0;

	while (i < groups->list.count && groups->list.at[i].called != path->group)
		i++;
	if (i == groups->list.count &&
	    !hp_vector_push(&groups->list, (struct path_group){ path->group, { 0 } }))
		return hp_error_create_no_memory();
	hp_tally_add(&groups->list.at[i].tally, &path->tally);
	return NULL;
}

static int compare_groups(const void *left, const void *right)
{
	const struct path_group *a = left;
	const struct path_group *b = right;
	int order = (a->tally.weight < b->tally.weight) - (a->tally.weight > b->tally.weight);

	return order || !a->called ? order : strcmp(a->called->name, b->called->name);
}

struct hp_error *paths_view_groups(const struct report *report, struct path_groups *groups)
{
	struct hp_error *error = call_paths_each(report, add_to_group, groups);

	if (!error && groups->list.count)
		qsort(groups->list.at, groups->list.count, sizeof(*groups->list.at),
		      compare_groups);
	return error;
}

enum call_edges paths_view_edges(const struct report *report)
{
	if (report->options->view == HP_VIEW_CALLERS)
		return EDGES_OF_CALLEES;
	return report->options->view == HP_VIEW_CALLEES ? EDGES_OF_CALLERS : EDGES_NONE;
}

double paths_view_share(const struct report *report, const struct hp_tally *tally)
{
	return hp_profiles_share(report->profiles, report->profiles->sort_event, tally);
}

bool paths_view_is_small(const struct report *report, const struct hp_tally *tally,
			 double default_percent)
{
	double limit = report->options->percent_limit > 0 ? report->options->percent_limit
							  : default_percent;

	return 100 * paths_view_share(report, tally) < limit;
}
