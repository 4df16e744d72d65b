/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stalls/write_culprits.h"
#include "stalls/sampled_stack.h"
#include "stalls/write_stack.h"
#include "stalls/write_stalls.h"
#include "stalls/write_what_if.h"
#include "executions/write_executions.h"
#include "tables/table.h"
#include "annotate/listing.h"
#include "paths/write_paths.h"
#include "stalls/survey.h"
#include "write.h"

#include <inttypes.h>

static struct hp_error *write_listing(struct report *report, const struct columns *columns,
				      const struct hp_row *row, struct hp_buffer *record, FILE *out)
{
	_cleanup_(listing_clear) struct listing listing = { 0 };
	struct hp_error *error = listing_make(
		report, row, report->options->of.listed ? LISTING_ALL : LISTING_COSTLY, &listing);

	if (!error && listing_is_analysed(report, row))
		error = listing_add_blocks(report, row, &listing);
	if (!error && listing_is_analysed(report, row))
		error = listing_add_analysis(report, row, &listing);
	for (size_t i = 0; i < listing.rows.count && !error; i++)
		error = write_csv_row(report, columns, &listing.rows.at[i], record, out);
	return error;
}

static struct hp_error *write_rows(struct report *report, const struct columns *columns,
				   struct hp_buffer *record, FILE *out)
{
	struct hp_error *error = write_csv_titles(columns, record, out);

	for (size_t i = 0; i < report->profiles->rows.count && !error; i++) {
		const struct hp_row *row = report->profiles->rows.at[i];

		if (report->options->view == HP_VIEW_INSTRUCTIONS)
			error = write_listing(report, columns, row, record, out);
		else
			error = write_csv_row(report, columns, row, record, out);
	}
	return error;
}

static struct hp_error *write_event(const struct hp_loaded_event *event, struct hp_buffer *record,
				    FILE *out)
{
	const struct hp_event_info *info = event->info;

	text_csv(record, info->name);
	hp_buffer_printf(record, ",%s,%" PRIu64 ",", hp_unit_name(info->unit),
			 hp_profiles_period(event));
	text_csv(record, info->precision ? info->precision : "");
	hp_buffer_add(record, ",", 1);
	if (event->enabled_ns)
		hp_buffer_printf(record, "%.6f", hp_profiles_coverage(event));
	hp_buffer_add(record, ",", 1);
	text_csv(record, info->instead_of ? info->instead_of : "");
	hp_buffer_add(record, ",", 1);
	text_csv(record, info->reason ? info->reason : "");
	hp_buffer_printf(record, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			 event->all.samples, event->lost, event->unattributed, event->throttled);
	return write_csv_record(record, out);
}

/* The summary in CSV is its events: what else it says is no table. */
static struct hp_error *write_summary(const struct report *report, struct hp_buffer *record,
				      FILE *out)
{
	struct hp_error *error = NULL;

	fputs("event,unit,period,precision,coverage,instead_of,reason,samples,lost,unattributed,"
	      "throttled"
	      "\r\n",
	      out);
	for (size_t i = 0; i < report->profiles->events.count && !error; i++)
		error = write_event(&report->profiles->events.at[i], record, out);
	return error;
}

struct hp_error *write_csv(struct report *report, FILE *out)
{
	_cleanup_(columns_clear) struct columns columns = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer record = { 0 };
	struct hp_error *error;

	if (report->options->view == HP_VIEW_SUMMARY)
		return write_summary(report, &record, out);
	if (report->options->view == HP_VIEW_STALLS)
		return write_stalls_csv(report, out);
	if (report->options->view == HP_VIEW_STACK)
		return shows_sampled_stacks(report) ? write_sampled_stacks_csv(report, out)
						    : write_stack_csv(report, out);
	if (report->options->view == HP_VIEW_WHAT_IF)
		return write_what_if_csv(report, out);
	if (shows_culprits(report->options))
		return write_culprits_csv(report, out);
	if (report->options->view == HP_VIEW_CALLS)
		return write_calls_csv(report, out);
	if (report->options->view == HP_VIEW_EXECUTIONS)
		return write_executions_csv(report, out);
	if (shows_paths(report->options))
		return write_paths_csv(report, out);
	error = columns_for_csv(report, &columns);
	return error ? error : write_rows(report, &columns, &record, out);
}
