/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths for people: narrow enough for 80 columns, with what is small folded away. */
#include "../common/text.h"
#include "../common/quantity.h"
#include "../tuning.h"
#include "call_counts.h"
#include "paths_view.h"
#include "write_paths.h"

#include <inttypes.h>
#include <string.h>

struct writing {
	struct report *report;
	FILE *out;
	struct hp_buffer line;
	struct hp_buffer prefix; /* indentation of the following lines of a tree */
	size_t lines;		 /* number of lines of the tree so far */
	bool from_samples;	 /* its leaves are the roots of paths, without costs of their own */
	bool is_full;		 /* no more lines are shown */
	/* the last node on the way to the root that was shown last; 0: none */
	uint32_t way;
	double least_percent; /* what is smaller in a tree shares a line; of all samples */
};

static void add_escaped(struct writing *writing, const char *text)
{
	text_escape(&writing->line, text);
}

/* A place without a name is named after its image, as in libz.so.1+0x13190. */
static bool says_image(const struct hp_called *procedure)
{
	const char *image = procedure->image->short_name;
	size_t length = strlen(image);

	return strncmp(procedure->shown, image, length) == 0 &&
	       (!procedure->shown[length] || strncmp(procedure->shown + length, "+0x", 3) == 0);
}

static void add_name(struct writing *writing, const struct hp_called *procedure)
{
	add_escaped(writing, procedure->shown);
	if (procedure->inlined)
		hp_buffer_printf(&writing->line, " (inlined)");
}

static void add_procedure(struct writing *writing, const struct hp_called *procedure)
{
	bool has_own;

	add_name(writing, procedure);
	if (!procedure->image || says_image(procedure))
		return;
	/* An image that is no file has its own brackets, as in [kernel]. */
	has_own = procedure->image->short_name[0] == '[';
	hp_buffer_printf(&writing->line, has_own ? "  " : "  [");
	add_escaped(writing, procedure->image->short_name);
	hp_buffer_printf(&writing->line, has_own ? "" : "]");
}

static void end_line_in(struct writing *writing, size_t columns)
{
	struct hp_buffer cut = { 0 };

	text_cut(&cut, hp_buffer_text(&writing->line), columns);
	fprintf(writing->out, "%s\n", hp_buffer_text(&cut));
	hp_buffer_free(&cut);
	hp_buffer_clear(&writing->line);
}

static void end_line(struct writing *writing)
{
	end_line_in(writing, writing->report->options->terminal_columns);
}

static double percent(const struct writing *writing, const struct hp_tally *tally)
{
	return 100 * paths_view_share(writing->report, tally);
}

/* --- tables ----------------------------------------------------------------------------------- */

static size_t row_limit(const struct report *report, size_t usual)
{
	if (report->options->limit)
		return report->options->limit;
	return report->options->percent_limit > 0 ? SIZE_MAX : usual;
}

static void write_edges(struct writing *writing, const struct call_table *table,
			const struct called_cost *cost)
{
	bool of_callees = paths_view_edges(writing->report) == EDGES_OF_CALLEES;
	size_t shown = cost->edge_count < MOST_EDGES ? cost->edge_count : MOST_EDGES;
	struct hp_tally rest = { 0 };

	for (size_t i = 0; i < cost->edge_count; i++) {
		const struct call_edge *edge = &table->edges.at[cost->first_edge + i];
		const struct hp_called *other = of_callees ? edge->caller : edge->callee;

		if (i >= shown) {
			hp_tally_add(&rest, &edge->tally);
			continue;
		}
		hp_buffer_printf(&writing->line, "%8.2f         %8" PRIu64 "    %s ",
				 percent(writing, &edge->tally), edge->tally.samples,
				 of_callees ? "\xe2\x86\x90" : "\xe2\x86\x92");
		if (other == cost->procedure)
			hp_buffer_printf(&writing->line, "itself");
		else
			add_procedure(writing, other);
		end_line(writing);
	}
	if (cost->edge_count > shown) {
		hp_buffer_printf(&writing->line, "%8.2f         %8" PRIu64 "    %s %zu more",
				 percent(writing, &rest), rest.samples,
				 of_callees ? "\xe2\x86\x90" : "\xe2\x86\x92",
				 cost->edge_count - shown);
		end_line(writing);
	}
}

/* Adds the number of calls, and the inclusive cost of each. */
static void add_calls(struct writing *writing, const struct call_counts *counts,
		      const struct called_cost *cost)
{
	const struct hp_report_options *options = writing->report->options;
	const struct hp_counted_figure *calls = call_counts_of(counts, cost->procedure);
	size_t event = writing->report->profiles->sort_event;
	struct hp_buffer number = { 0 };
	struct hp_buffer each = { 0 };

	if (options->view != HP_VIEW_CHILDREN || !counts->procedures.at.count)
		return;
	/* With less than one call, no window saw it, as for a procedure that is called once. */
	if (calls && calls->value >= 1)
		quantity_add_interval(&number, calls->value, calls->low, calls->high);
	if (calls && calls->value >= 1)
		quantity_add(&each, cost->total.weight / calls->value);
	if (each.size)
		hp_buffer_printf(
			&each, " %s",
			hp_unit_name(writing->report->profiles->events.at[event].info->unit));
	hp_buffer_printf(&writing->line, "%16s  %12s  ", hp_buffer_text(&number),
			 hp_buffer_text(&each));
	hp_buffer_free(&number);
	hp_buffer_free(&each);
}

static void write_rows(struct writing *writing, const struct call_table *table,
		       const struct call_counts *counts)
{
	static const char *const headings[] = {
		[EDGES_NONE] = "",
		[EDGES_OF_CALLEES] = ", and who calls it (\xe2\x86\x90)",
		[EDGES_OF_CALLERS] = ", and whom it calls (\xe2\x86\x92)",
	};
	enum call_edges edges = paths_view_edges(writing->report);
	size_t limit =
		row_limit(writing->report, edges == EDGES_NONE ? DEFAULT_ROWS : DEFAULT_CALLED);
	size_t shown = 0;

	fprintf(writing->out, "\n  total%%   self%%   samples  %sprocedure%s\n",
		counts->procedures.at.count ? "           calls          each  " : "",
		headings[edges]);
	for (; shown < table->costs.count && shown < limit; shown++) {
		const struct called_cost *cost = &table->costs.at[shown];

		if (paths_view_is_small(writing->report, &cost->total, 0))
			break;
		hp_buffer_printf(&writing->line, "%8.2f%8.2f  %8" PRIu64 "  ",
				 percent(writing, &cost->total), percent(writing, &cost->own),
				 cost->total.samples);
		add_calls(writing, counts, cost);
		add_procedure(writing, cost->procedure);
		end_line(writing);
		if (edges != EDGES_NONE)
			write_edges(writing, table, cost);
	}
	if (shown < table->costs.count)
		fprintf(writing->out, "# not shown: %zu more; --limit N shows more\n",
			table->costs.count - shown);
	if (edges != EDGES_NONE)
		fprintf(writing->out,
			"# if a procedure is on a path several times, the sample counts for each "
			"%s there\n",
			edges == EDGES_OF_CALLEES ? "caller" : "callee");
}

static void write_heading(struct writing *writing, const struct path_group *group)
{
	if (!group->called)
		return;
	putc('\n', writing->out);
	add_escaped(writing, group->called->name);
	hp_buffer_printf(&writing->line, ": %.2f %% of the samples, %" PRIu64,
			 percent(writing, &group->tally), group->tally.samples);
	end_line(writing);
}

/* Calls were counted for all threads together, so they are not shown for a group. */
static struct hp_error *write_group(struct writing *writing, const struct path_group *group)
{
	struct report *report = writing->report;
	struct call_table table;
	struct call_counts counts = { 0 };
	struct hp_error *error =
		call_table_make(report, paths_view_edges(report), group->called, &table);

	if (!error && report->options->view == HP_VIEW_CHILDREN && !group->called)
		error = call_counts_make(report, &counts);
	if (!error) {
		write_heading(writing, group);
		write_rows(writing, &table, &counts);
		if (counts.procedures.at.count)
			fputs("# calls: counted by shadow windows; each: the cost of a call with "
			      "all it calls\n",
			      writing->out);
	}
	call_table_clear(&table);
	call_counts_clear(&counts);
	return error;
}

static struct hp_error *write_table(struct writing *writing)
{
	struct path_groups groups = { 0 };
	struct hp_error *error = paths_view_groups(writing->report, &groups);
	size_t shown = 0;

	for (; shown < groups.list.count && !error; shown++) {
		if (shown && paths_view_is_small(writing->report, &groups.list.at[shown].tally,
						 tree_fold_percent))
			break;
		error = write_group(writing, &groups.list.at[shown]);
	}
	if (!error && shown < groups.list.count)
		fprintf(writing->out,
			"# not shown: %zu of %zu that --by tells apart; --percent-limit sets the "
			"share\n",
			groups.list.count - shown, groups.list.count);
	hp_vector_free(&groups.list);
	return error;
}

/* --- trees ------------------------------------------------------------------------------------ */

static const char branch[] = "\xe2\x94\x9c ";	   /* ├ */
static const char last_branch[] = "\xe2\x94\x94 "; /* └ */
static const char beside[] = "\xe2\x94\x82 ";	   /* │ */

static void put_numbers(struct writing *writing, const struct hp_tally *total,
			const struct hp_tally *own)
{
	hp_buffer_printf(&writing->line, "%8.2f", percent(writing, total));
	if (own && own->samples)
		hp_buffer_printf(&writing->line, "%8.2f", percent(writing, own));
	else
		hp_buffer_printf(&writing->line, "        ");
	hp_buffer_printf(&writing->line, "  %8" PRIu64 "  %s", total->samples,
			 hp_buffer_text(&writing->prefix));
}

static bool begin_line(struct writing *writing)
{
	size_t limit = writing->report->options->limit;

	writing->is_full = writing->is_full || (limit && writing->lines >= limit);
	writing->lines += !writing->is_full;
	return !writing->is_full;
}

/* A tree is read by its shape, also in a file, so its width is limited there, too. 0 only if full
 * names were asked for. */
static size_t tree_columns(const struct writing *writing)
{
	const struct hp_report_options *options = writing->report->options;

	if (options->terminal_columns)
		return options->terminal_columns;
	return options->of.full_names ? 0 : TREE_COLUMNS;
}

/* If the line is too long, first the image is left out, then the name is cut. */
static void end_node(struct writing *writing, const struct hp_called *procedure, const char *after)
{
	size_t columns = tree_columns(writing);
	size_t begin = writing->line.size;

	add_procedure(writing, procedure);
	hp_buffer_printf(&writing->line, "%s", after);
	if (columns && hp_text_columns(hp_buffer_text(&writing->line)) > columns) {
		writing->line.size = begin;
		add_name(writing, procedure);
		hp_buffer_printf(&writing->line, "%s", after);
	}
	end_line_in(writing, columns);
}

static void write_node(struct writing *writing, const struct call_node *node, const char *mark)
{
	if (!begin_line(writing))
		return;
	put_numbers(writing, &node->total, writing->from_samples ? NULL : &node->own);
	hp_buffer_printf(&writing->line, "%s", mark);
	end_node(writing, node->procedure, node->is_recursive ? " (recursive)" : "");
}

static void write_rest(struct writing *writing, const struct hp_tally *rest, size_t count,
		       const char *mark, const char *what)
{
	if (!count || !begin_line(writing))
		return;
	put_numbers(writing, rest, NULL);
	hp_buffer_printf(&writing->line, "%s%zu more%s", mark, count, what);
	end_line(writing);
}

/* The children that are shown come first; the others share one line. */
struct children {
	size_t shown;
	size_t hidden;
	struct hp_tally rest;
};

static struct children look_at(const struct writing *writing, const struct call_tree *tree,
			       const struct call_node *node)
{
	struct children children = { 0 };

	for (uint32_t i = node->first; i != HP_PATH_NO_NODE; i = tree->nodes.at[i].next) {
		const struct call_node *child = &tree->nodes.at[i];

		if (percent(writing, &child->total) < writing->least_percent) {
			children.hidden++;
			hp_tally_add(&children.rest, &child->total);
		} else {
			children.shown++;
		}
	}
	return children;
}

static bool is_one(const struct children *children)
{
	return children->shown == 1 && !children->hidden;
}

/* In a tree from samples: the number of nodes below this one that lead to the root in the same way
 * as shown last, and the first of them. 0 if the way branches. */
static size_t find_repeated(struct writing *writing, const struct call_tree *tree,
			    const struct call_node *node, uint32_t *first)
{
	uint32_t begin = (uint32_t)(node - tree->nodes.at);
	struct children children = look_at(writing, tree, node);
	uint32_t at = begin;
	uint32_t shown = writing->way;
	uint32_t above = 0;
	size_t repeated = 0;

	while (is_one(&children)) {
		at = tree->nodes.at[at].first;
		children = look_at(writing, tree, &tree->nodes.at[at]);
	}
	if (children.shown || children.hidden)
		return 0;
	writing->way = at;
	while (at != begin && shown &&
	       tree->nodes.at[at].procedure == tree->nodes.at[shown].procedure) {
		repeated++;
		*first = above;
		above = at;
		at = tree->nodes.at[at].parent;
		shown = tree->nodes.at[shown].parent;
	}
	/* The first one is shown, so that it can be found above. */
	return repeated > LEAST_REPEATED ? repeated - 1 : 0;
}

static void write_repeated(struct writing *writing, const struct call_tree *tree,
			   const struct call_node *node, size_t count)
{
	const struct call_node *last = node;

	if (!begin_line(writing))
		return;
	while (last->first != HP_PATH_NO_NODE)
		last = &tree->nodes.at[last->first];
	put_numbers(writing, &node->total, NULL);
	hp_buffer_printf(&writing->line, "\xe2\x80\xa6 %zu more as above, to ", count);
	end_node(writing, last->procedure, "");
}

static void shorten_prefix(struct writing *writing, size_t size)
{
	writing->prefix.size = size;
	if (writing->prefix.text)
		writing->prefix.text[size] = 0;
}

/*
 * Writes what is below a node. A chain of single calls keeps its indentation. So the depth of the
 * text, and of this recursion, is the number of branches, which is at most MOST_BRANCHES.
 */
static void write_below(struct writing *writing, const struct call_tree *tree,
			const struct call_node *node, unsigned branches)
{
	struct children children = look_at(writing, tree, node);
	size_t indentation = writing->prefix.size;
	uint32_t child = node->first;
	uint32_t first = 0;
	size_t repeated = writing->from_samples ? find_repeated(writing, tree, node, &first) : 0;

	while (is_one(&children) && (writing->from_samples || !node->own.samples)) {
		node = &tree->nodes.at[child];
		if (repeated && child == first) {
			write_repeated(writing, tree, node, repeated);
			return;
		}
		write_node(writing, node, "");
		children = look_at(writing, tree, node);
		child = node->first;
	}
	if (branches == MOST_BRANCHES) {
		struct hp_tally rest = { 0 };

		for (; child != HP_PATH_NO_NODE; child = tree->nodes.at[child].next)
			hp_tally_add(&rest, &tree->nodes.at[child].total);
		write_rest(writing, &rest, children.shown + children.hidden, last_branch,
			   ", too deep");
		return;
	}
	for (size_t i = 0; i < children.shown; i++, child = tree->nodes.at[child].next) {
		bool is_last = i + 1 == children.shown && !children.hidden;
		const struct call_node *below = &tree->nodes.at[child];

		write_node(writing, below, is_last ? last_branch : branch);
		hp_buffer_add(&writing->prefix, is_last ? "  " : beside,
			      strlen(is_last ? "  " : beside));
		write_below(writing, tree, below, branches + 1);
		shorten_prefix(writing, indentation);
	}
	if (children.shown)
		write_rest(writing, &children.rest, children.hidden, last_branch, "");
}

static const char *title_of(const struct report *report)
{
	if (report->options->view == HP_VIEW_CALLERS)
		return "procedure, and who called it";
	if (report->options->view == HP_VIEW_CALLEES)
		return "procedure, and what it called";
	return report->options->bottom_up ? "procedure, and who called it"
					  : "call tree, from the root";
}

/* Of what the tree shows: a filter or one procedure may leave it little of all samples. */
static double least_shown(const struct writing *writing, const struct call_tree *tree)
{
	double limit = writing->report->options->percent_limit;

	return limit > 0 ? limit
			 : tree_fold_percent / 100 * percent(writing, &tree->nodes.at[0].total);
}

static struct hp_error *write_tree(struct writing *writing)
{
	struct report *report = writing->report;
	struct call_tree tree;
	struct hp_error *error = paths_view_tree(report, true, &tree);

	if (!error) {
		struct children top;
		uint32_t child = tree.nodes.at[0].first;

		writing->least_percent = least_shown(writing, &tree);
		top = look_at(writing, &tree, &tree.nodes.at[0]);

		writing->from_samples = report->options->view == HP_VIEW_CALLERS ||
					report->options->bottom_up;
		fprintf(writing->out, "\n  total%%   self%%   samples  %s\n", title_of(report));
		for (size_t i = 0; i < top.shown; i++, child = tree.nodes.at[child].next) {
			write_node(writing, &tree.nodes.at[child], "");
			write_below(writing, &tree, &tree.nodes.at[child], 0);
		}
		write_rest(writing, &top.rest, top.hidden, "", "");
		if (tree.nodes.at[0].own.samples) {
			hp_buffer_printf(&writing->line, "%8.2f          %8" PRIu64 "  [no path]",
					 percent(writing, &tree.nodes.at[0].own),
					 tree.nodes.at[0].own.samples);
			end_line(writing);
		}
		if (writing->is_full)
			fputs("# not shown: lines beyond --limit\n", writing->out);
		fputs("# an unmarked line is the only call of the line above; shares are of all "
		      "samples\n",
		      writing->out);
		if (report->options->view == HP_VIEW_TREE || report->options->path_procedure)
			fprintf(writing->out,
				"# \"more\": below %.2g %% each; --percent-limit sets the share\n",
				writing->least_percent);
	}
	call_tree_clear(&tree);
	return error;
}

/* --- how good they are ------------------------------------------------------------------------ */

static void put_part(const struct writing *writing, const struct hp_tally *part, const char *what)
{
	const struct hp_tally *all =
		&writing->report->paths->all[writing->report->profiles->sort_event];

	if (part->samples && all->weight > 0)
		fprintf(writing->out, "# %.2f %% of the paths %s\n",
			100 * part->weight / all->weight, what);
}

static void put_event(const struct writing *writing)
{
	const struct report *report = writing->report;
	_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };

	if (report->profiles->events.count < 2)
		return;
	text_escape(&name, report->profiles->events.at[report->profiles->sort_event].info->name);
	fprintf(writing->out, "# paths of %s; --event selects another event\n",
		hp_buffer_text(&name));
}

static void put_quality(const struct writing *writing)
{
	const struct hp_call_paths *paths = writing->report->paths;
	size_t event = writing->report->profiles->sort_event;
	double share = paths_view_share(writing->report, &paths->all[event]);

	put_event(writing);
	if (paths->epochs_without)
		fprintf(writing->out, "# %zu of %zu epochs %s no call paths (hpcprof record -g)\n",
			paths->epochs_without, writing->report->profiles->epochs.count,
			paths->epochs_without == 1 ? "has" : "have");
	if (share < noticeable_paths && !writing->report->options->of.comm &&
	    !writing->report->options->of.pid)
		fprintf(writing->out, "# call paths are known of %.2f %% of the samples\n",
			100 * share);
	put_part(writing, &paths->truncated[event],
		 "do not reach the root: the callers are [truncated]");
	put_part(writing, &paths->unknown[event], "lead over code in no known image: [unknown]");
	put_part(writing, &paths->guessed[event],
		 "have a guessed caller: unwind rules were missing");
	put_part(writing, &paths->grafted[event],
		 "were continued with an earlier path of the thread");
	put_part(writing, &paths->folded[event],
		 "went on to calls dropped to save memory: [folded]");
}

struct hp_error *write_paths_text(struct report *report, FILE *out)
{
	struct writing writing = { .report = report, .out = out };
	struct hp_error *error = paths_view_is_tree(report) ? write_tree(&writing)
							    : write_table(&writing);

	if (!error)
		put_quality(&writing);
	if (!error && (writing.line.failed || writing.prefix.failed))
		error = hp_error_create_no_memory();
	hp_buffer_free(&writing.line);
	hp_buffer_free(&writing.prefix);
	return error;
}
