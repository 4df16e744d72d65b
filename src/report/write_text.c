/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report for people. */
#include "tables/table.h"
#include "stalls/write_culprits.h"
#include "stalls/sampled_stack.h"
#include "stalls/write_stack.h"
#include "stalls/write_stalls.h"
#include "stalls/write_what_if.h"
#include "header/text_header.h"
#include "executions/write_executions.h"
#include "annotate/write_annotate.h"
#include "annotate/listing.h"
#include "common/state.h"
#include "paths/write_paths.h"
#include "write.h"

#include <hpcprof/base/wrapped.h>
#include <hpcprof/infer/inference.h>

#include <inttypes.h>
#include <string.h>

static void put_escaped(FILE *out, const char *text)
{
	_cleanup_(hp_buffer_free) struct hp_buffer safe = { 0 };

	text_escape(&safe, text);
	fputs(hp_buffer_text(&safe), out);
}

/* `NAME (IMAGE): N samples, P %`, for the procedure whose instructions follow. */
static void put_heading(const struct report *report, const struct hp_row *row, FILE *out)
{
	putc('\n', out);
	put_escaped(out, row->shown ? row->shown : row->name);
	fputs("  in ", out);
	put_escaped(out, row->image->short_name);
	for (size_t i = 0; i < report->profiles->events.count; i++) {
		fprintf(out, "%s%" PRIu64 " sample%s, %.2f %%", i ? "; " : ": ",
			row->tallies[i].samples, row->tallies[i].samples == 1 ? "" : "s",
			100 * hp_profiles_share(report->profiles, i, &row->tallies[i]));
		if (report->profiles->events.count > 1) {
			fputs(" of ", out);
			put_escaped(out, report->profiles->events.at[i].info->name);
		}
	}
	putc('\n', out);
}

static void put_caveats(const struct listing *listing, FILE *out)
{
	for (size_t i = 0; i < listing->caveats.count; i++) {
		fputs("# ", out);
		put_escaped(out, listing->caveats.at[i]);
		putc('\n', out);
	}
}

static struct hp_error *write_listing(struct report *report, const struct columns *columns,
				      const struct hp_row *row, FILE *out)
{
	_cleanup_(listing_clear) struct listing listing = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = listing_make(
		report, row, report->options->of.listed ? LISTING_ALL : LISTING_SAMPLED, &listing);

	if (!error)
		error = listing_add_blocks(report, row, &listing);
	if (!error)
		error = listing_add_caveats(report, row, &listing);
	if (error)
		return error;
	rows = calloc(listing.rows.count + 1, sizeof(*rows));
	if (!rows)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < listing.rows.count; i++)
		rows[i] = &listing.rows.at[i];
	put_heading(report, row, out);
	put_caveats(&listing, out);
	return write_text_table(report, columns, rows, listing.rows.count, out);
}

static struct hp_error *annotate(struct report *report, const struct hp_row *row, FILE *out)
{
	_cleanup_(listing_clear) struct listing listing = { 0 };
	const struct hp_analysis *analysis = NULL;
	struct hp_error *error = listing_make(report, row, LISTING_ALL, &listing);

	if (!error)
		error = listing_add_blocks(report, row, &listing);
	if (!error && listing.cfg) /* why there is no graph is told with what else there is not */
		error = listing_add_caveats(report, row, &listing);
	if (!error)
		error = hp_inference_row(report->inference, row, &analysis);
	if (error)
		return error;
	put_heading(report, row, out);
	put_caveats(&listing, out);
	return write_annotation(report, row, &listing, analysis, out);
}

static void put_footer(const struct report *report, size_t left_out, FILE *out)
{
	if (left_out)
		fprintf(out, "# %zu more line%s of the header: hpcprof report --summary\n",
			left_out, left_out == 1 ? "" : "s");
	if (!report->hidden_rows)
		return;
	fprintf(out, "# not shown: %zu row%s, %" PRIu64 " samples (%.2f %%)\n", report->hidden_rows,
		report->hidden_rows == 1 ? "" : "s", report->hidden.samples,
		100 * hp_profiles_share(report->profiles, report->profiles->sort_event,
					&report->hidden));
}

static struct hp_error *write_body(struct report *report, const struct columns *columns, FILE *out)
{
	/* Those of procedures whose instructions are shown; tables see to theirs. */
	struct hp_error *error = hp_profiles_show_names(report->profiles, report->profiles->rows.at,
							report->profiles->rows.count);

	if (error)
		return error;
	if (report->options->view == HP_VIEW_SUMMARY)
		return write_text_summary(report, out);
	if (report->options->view == HP_VIEW_STALLS)
		return write_stalls_text(report, out);
	if (report->options->view == HP_VIEW_STACK)
		return shows_sampled_stacks(report) ? write_sampled_stacks_text(report, out)
						    : write_stack_text(report, out);
	if (report->options->view == HP_VIEW_WHAT_IF)
		return write_what_if_text(report, out);
	if (shows_culprits(report->options))
		return write_culprits_text(report, out);
	if (report->options->view == HP_VIEW_CALLS)
		return write_calls_text(report, out);
	if (report->options->view == HP_VIEW_EXECUTIONS)
		return write_executions_text(report, out);
	if (report->options->view == HP_VIEW_ANNOTATE)
		return annotate(report, report->profiles->rows.at[0], out);
	if (shows_paths(report->options))
		return write_paths_text(report, out);
	if (report->options->view != HP_VIEW_INSTRUCTIONS) {
		putc('\n', out);
		return write_text_table(report, columns, report->profiles->rows.at,
					report->profiles->rows.count, out);
	}
	for (size_t i = 0; i < report->profiles->rows.count && !error; i++)
		error = write_listing(report, columns, report->profiles->rows.at[i], out);
	return error;
}

static struct hp_error *write_all(struct report *report, FILE *out)
{
	_cleanup_(columns_clear) struct columns columns = { 0 };
	size_t left_out = 0;
	struct hp_error *error = shows_paths(report->options) ? NULL
							      : columns_for_text(report, &columns);

	if (!error)
		error = write_text_header(report, out, &left_out);
	if (!error)
		error = write_body(report, &columns, out);
	if (!error)
		put_footer(report, left_out, out);
	return error;
}

/* On a terminal, remarks are broken between words where it ends. Tables see to their columns. */
struct hp_error *write_text(struct report *report, FILE *out)
{
	size_t columns = report->options->terminal_columns;
	FILE *wrapped = columns ? hp_wrapped_open(out, columns, HP_WRAP_COMMENTS) : NULL;
	struct hp_error *error;

	if (columns && !wrapped)
		return hp_error_create_no_memory();
	error = write_all(report, wrapped ? wrapped : out);
	/* That `out` failed is its owner's to find. */
	if (wrapped && fclose(wrapped) != 0 && !error && !ferror(out))
		error = hp_error_create_no_memory();
	return error;
}
