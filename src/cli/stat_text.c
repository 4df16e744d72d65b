/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the results of hpcprof stat for people. */
#include "stat_history.h"
#include "stat_stalls.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL_BYTES = 64 };

/* --- cells ------------------------------------------------------------------------------------ */

/* 1,234,567 */
static void group_digits(double value, int decimals, char cell[CELL_BYTES])
{
	char digits[CELL_BYTES];
	size_t whole;
	size_t out = 0;

	snprintf(digits, sizeof(digits) - 20, "%.*f", decimals, value);
	whole = strcspn(digits, ".");
	for (size_t i = 0; digits[i] && out < CELL_BYTES - 2; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			cell[out++] = ',';
		cell[out++] = digits[i];
	}
	cell[out] = 0;
}

static void show_count(const struct hp_event *event, const struct hp_mux_estimate *estimate,
		       char cell[CELL_BYTES])
{
	if (estimate->verdict == HP_MUX_NOT_COUNTED || estimate->verdict == HP_MUX_INSUFFICIENT) {
		snprintf(cell, CELL_BYTES, "%s", hp_mux_verdict_name(estimate->verdict));
	} else if (event->unit == HP_UNIT_NS) {
		group_digits(estimate->count / 1e6, 2, cell);
		strcat(cell, " ms");
	} else {
		group_digits(estimate->count, 0, cell);
	}
}

/* Shows the width of the interval, as a share of the count. */
static void show_width(const struct hp_mux_estimate *estimate, char cell[CELL_BYTES])
{
	double percent = 100 * fmax(estimate->high / estimate->count - 1,
				    1 - estimate->low / estimate->count);

	if (estimate->verdict == HP_MUX_EXACT)
		snprintf(cell, CELL_BYTES, "exact");
	else if (estimate->verdict != HP_MUX_ESTIMATED)
		cell[0] = 0;
	else
		snprintf(cell, CELL_BYTES, "%.*f %%", percent < 10 ? 1 : 0, percent);
}

static void show_share(const struct hp_mux_estimate *estimate, char cell[CELL_BYTES])
{
	if (estimate->verdict == HP_MUX_NOT_COUNTED)
		cell[0] = 0;
	else
		snprintf(cell, CELL_BYTES, "%.0f %%", 100 * estimate->running);
}

static void print_safely(FILE *stream, const char *text)
{
	_cleanup_free_ char *printable = hp_text_printable(text);

	fputs(printable ? printable : "out of memory", stream);
}

/* Shows four digits, or all before the point. */
static void show_ratio(double value, char cell[CELL_BYTES])
{
	if (fabs(value) >= 9999.5)
		group_digits(value, 0, cell);
	else
		snprintf(cell, CELL_BYTES, "%.4g", value);
}

/* "1.23 ± 0.5 % instructions/cycle (IPC)" */
static void print_figure(FILE *stream, const struct hp_mux_metric *metric)
{
	const struct hp_mux_ratio *ratio = &metric->ratio;
	char cell[CELL_BYTES];

	switch (ratio->verdict) {
	case HP_MUX_EXACT:
		show_ratio(ratio->value, cell);
		fprintf(stream, "  %s %s (%s)", cell, metric->unit, metric->name);
		break;
	case HP_MUX_ESTIMATED:
		show_ratio(ratio->value, cell);
		fprintf(stream, "  %s ± %.1f %% %s (%s)", cell,
			100 * fmax(ratio->high / ratio->value - 1, 1 - ratio->low / ratio->value),
			metric->unit, metric->name);
		break;
	case HP_MUX_INSUFFICIENT:
	case HP_MUX_NOT_COUNTED:
		break;
	}
}

/* Prints a right-aligned cell; `±` and the like occupy one column but several bytes. */
static void print_cell(FILE *stream, const char *cell, int width)
{
	fprintf(stream, "%*s", width, cell);
}

/* --- one event -------------------------------------------------------------------------------- */

static bool any_adjusted(const struct hp_figures *figures, size_t count)
{
	for (size_t i = 0; figures && i < count; i++)
		if (figures->is_adjusted[i])
			return true;
	return false;
}

static void print_row(FILE *stream, const struct stat_view *view, size_t index, bool with_adjusted)
{
	const struct hp_event *event = &view->subject->events->events[index];
	const struct hp_mux_estimate *estimate = &view->report->estimates->events[index];
	char cell[CELL_BYTES];

	show_count(event, estimate, cell);
	print_cell(stream, cell, 18);
	show_width(estimate, cell);
	print_cell(stream, cell, 8);
	show_share(estimate, cell);
	print_cell(stream, cell, 7);
	if (with_adjusted) {
		cell[0] = 0;
		if (view->figures->is_adjusted[index])
			show_count(event, &view->figures->adjusted[index], cell);
		print_cell(stream, cell, 18);
		cell[0] = 0;
		if (view->figures->is_adjusted[index])
			show_width(&view->figures->adjusted[index], cell);
		print_cell(stream, cell, 8);
	}
	if (view->report->truth) {
		cell[0] = 0;
		if (view->report->truth[index] != UINT64_MAX)
			group_digits((double)view->report->truth[index] /
					     (event->unit == HP_UNIT_NS ? 1e6 : 1),
				     event->unit == HP_UNIT_NS ? 2 : 0, cell);
		print_cell(stream, cell, 16);
	}
	fputs("  ", stream);
	print_safely(stream, event->name);
	/* Too little was seen for an estimate, but what was counted is certain. */
	if (estimate->verdict == HP_MUX_INSUFFICIENT && estimate->raw) {
		struct hp_mux_estimate seen = { .count = (double)estimate->raw,
						.verdict = HP_MUX_EXACT };

		show_count(event, &seen, cell);
		fprintf(stream, "  (at least %s)", cell);
	}
	for (size_t i = 0; view->figures && i < view->figures->figure_count; i++)
		if (view->figures->figures[i].event == index)
			print_figure(stream, &view->figures->figures[i].metric);
	putc('\n', stream);
}

static void print_headings(FILE *stream, const struct stat_view *view, bool with_adjusted)
{
	if (view->subject->interval_ns && !view->report->whole)
		print_cell(stream, "time s", 10);
	/* "±" is two bytes and one column. */
	fprintf(stream, "%18s%9s%7s", "count", "±", "seen");
	if (with_adjusted)
		fprintf(stream, "%18s%9s", "adjusted", "±");
	if (view->report->truth)
		fprintf(stream, "%16s", "truth");
	fputs("  event\n", stream);
}

/* --- below the table -------------------------------------------------------------------------- */

/* Lists events that cannot be counted, together if the reason is the same. */
static void print_absent(FILE *stream, const struct stat_subject *subject)
{
	const struct hp_event_list *events = subject->events;

	for (size_t i = 0; i < events->count; i++) {
		const char *why = events->events[i].absent;
		bool told = false;

		for (size_t j = 0; why && j < i; j++)
			told |= events->events[j].absent &&
				strcmp(events->events[j].absent, why) == 0;
		if (!why || told)
			continue;
		fputs("not counted: ", stream);
		for (size_t j = i; j < events->count; j++) {
			if (!events->events[j].absent || strcmp(events->events[j].absent, why) != 0)
				continue;
			fputs(j > i ? ", " : "", stream);
			print_safely(stream, events->events[j].name);
		}
		fputs(": ", stream);
		print_safely(stream, why);
		fputs("; see hpcprof doctor\n", stream);
	}
}

/* Lists events that never had a turn. */
static void print_unseen(FILE *stream, const struct stat_view *view)
{
	const struct hp_event_list *events = view->subject->events;
	bool any = false;

	for (size_t i = 0; i < events->count; i++) {
		const struct hp_mux_estimate *estimate = &view->report->estimates->events[i];

		if (events->events[i].absent || estimate->verdict != HP_MUX_NOT_COUNTED)
			continue;
		fputs(any ? ", " : "not counted: ", stream);
		print_safely(stream, events->events[i].name);
		any = true;
	}
	if (any)
		fputs(": the target ended before they had a slice, or did not run in it\n", stream);
}

static void print_violations(FILE *stream, const struct hp_figures *figures)
{
	for (size_t i = 0; i < figures->class_count; i++) {
		const struct hp_figure_class *class = &figures->classes[i];

		for (size_t j = 0; class->reconciliation && j < class->invariant_count; j++) {
			const struct hp_mux_finding *finding = &class->reconciliation->findings[j];

			if (finding->kind == HP_MUX_VIOLATED)
				fprintf(stream,
					"%s is violated by %.1f standard errors: do not trust "
					"these counts\n",
					class->invariants[j].text, fabs(finding->z));
		}
	}
}

static void print_groups(FILE *stream, const struct stat_view *view)
{
	const struct hp_counting_result *result = view->report->whole;
	const struct hp_rotation_sets *rotation_sets = view->subject->rotation_sets;
	bool turned = false;

	for (size_t i = 0; i < rotation_sets->count; i++) {
		if (rotation_sets->at[i].group_count < 2)
			continue;
		turned = true;
		fprintf(stream, "%s: %u groups in turn (%s, %s)%s%s; ", rotation_sets->at[i].pmu,
			rotation_sets->at[i].group_count, view->subject->scheduler,
			view->subject->estimator,
			rotation_sets->at[i].has_reference ? ", reference event " : "",
			rotation_sets->at[i].has_reference ? rotation_sets->at[i].reference.name
							   : "");
	}
	if (turned)
		fprintf(stream,
			"%" PRIu64 " slice%s of %.2f ms on average; rotating took %.2f %% of the "
			"time (%.0f us each)\n",
			result->slices, result->slices == 1 ? "" : "s", result->slice_mean_ns / 1e6,
			result->rotation_percent, result->rotation_ns / 1e3);
	else
		fputs("all events fit at once: no rotation, counts are exact\n", stream);
}

static void print_times(FILE *stream, const struct hp_counting_result *result)
{
	fprintf(stream, "\n%.6f s elapsed", (double)result->elapsed_ns / 1e9);
	if (result->user_ns || result->system_ns)
		fprintf(stream, ", %.6f s user, %.6f s system", (double)result->user_ns / 1e9,
			(double)result->system_ns / 1e9);
	putc('\n', stream);
}

static void print_replayed(FILE *stream, const struct stat_view *view)
{
	const struct hp_rotation_set *set = &view->subject->rotation_sets->at[0];

	fprintf(stream, "\n# replayed: %" PRIu64 " slice%s of %u group%s, as the text has them\n",
		view->report->whole->slices, view->report->whole->slices == 1 ? "" : "s",
		set->group_count, set->group_count == 1 ? "" : "s");
}

/* Clocks count all the time that a task runs, whatever the event's modifiers are (Linux 6.18). */
static void print_left_out(FILE *stream, const struct stat_subject *subject, double cpu_ns,
			   double system_ns)
{
	char text[HP_USER_ONLY_BYTES];

	if (!subject->user_only)
		return;
	hp_user_only_say(cpu_ns, system_ns, 0, text);
	fprintf(stream, "%s; clocks count all the time\n", text);
}

static void print_target(FILE *stream, const struct stat_subject *subject)
{
	if (subject->target)
		print_safely(stream, subject->target);
	for (char *const *word = subject->command; word && *word; word++) {
		fputs(word == subject->command ? "" : " ", stream);
		print_safely(stream, *word);
	}
	fputs(subject->user_only ? " (user mode only)" : "", stream);
}

static void print_interval(FILE *stream, const struct stat_view *view)
{
	uint64_t end_ns = view->report->begin_ns + view->report->duration_ns;

	if (view->stack) {
		if (view->report->begin_ns / view->subject->interval_ns % HEADING_EVERY == 0)
			fprintf(stream, "%10s  %8s  the largest components\n", "time s", "CPI");
		stat_stalls_line(stream, (double)end_ns / 1e9, view->stack);
		fflush(stream);
		return;
	}
	if (view->report->begin_ns / view->subject->interval_ns % HEADING_EVERY == 0)
		print_headings(stream, view, false);
	for (size_t i = 0; i < view->subject->events->count; i++) {
		if (view->subject->events->events[i].absent)
			continue;
		fprintf(stream, "%10.4f", (double)end_ns / 1e9);
		print_row(stream, view, i, false);
	}
	fflush(stream);
}

/* Returns whether the count is printed beside the stack: events that the user added, and all events
 * of an unknown core. */
static bool is_other_event(const struct stat_subject *subject, size_t event)
{
	const struct hp_stack_table *table = subject->stalls->table;

	for (size_t i = 0; !hp_stack_table_is_generic(table) && i < table->event_count; i++)
		if (subject->stalls->numbers[i] == event)
			return false;
	return true;
}

static bool has_other_events(const struct stat_subject *subject)
{
	for (size_t i = 0; i < subject->events->count; i++)
		if (is_other_event(subject, i))
			return true;
	return false;
}

void stat_text_view(FILE *stream, const struct stat_view *view)
{
	bool with_adjusted = any_adjusted(view->figures, view->subject->events->count);

	if (!view->report->whole) {
		print_interval(stream, view);
		return;
	}
	if (view->subject->runs > 1)
		return;
	fputs(view->stack ? "\nStalls of " : "\nCounts of ", stream);
	print_target(stream, view->subject);
	fputs("\n\n", stream);
	if (view->stack) {
		stat_stalls_text(stream, view->subject->stalls, view->stack);
		stat_phases_text(stream, view->history);
	}
	if (!view->stack || has_other_events(view->subject)) {
		fputs(view->stack ? "\n" : "", stream);
		print_headings(stream, view, with_adjusted);
	}
	for (size_t i = 0; i < view->subject->events->count; i++)
		if (!view->stack || is_other_event(view->subject, i))
			print_row(stream, view, i, with_adjusted);
	if (view->subject->is_replayed) {
		print_replayed(stream, view);
		print_violations(stream, view->figures);
		fflush(stream);
		return;
	}
	print_times(stream, view->report->whole);
	print_left_out(stream, view->subject, (double)view->report->whole->target_cpu_ns,
		       (double)view->report->whole->target_system_ns);
	print_groups(stream, view);
	print_absent(stream, view->subject);
	print_unseen(stream, view);
	print_violations(stream, view->figures);
	fflush(stream);
}

/* Prints twice the standard error and the standard deviation, as shares of the mean. */
static void print_spread(FILE *stream, const struct stat_spread *spread)
{
	struct hp_mux_estimate mean = {
		.count = spread->mean,
		.low = spread->low,
		.high = spread->high,
		.verdict = isnan(spread->low) ? HP_MUX_INSUFFICIENT : HP_MUX_ESTIMATED,
	};
	char cell[CELL_BYTES] = "";

	if (mean.count > 0)
		show_width(&mean, cell);
	print_cell(stream, cell, 8);
	cell[0] = 0;
	if (spread->runs > 1 && spread->mean > 0)
		snprintf(cell, sizeof(cell), "%.2f %%", 100 * spread->deviation / spread->mean);
	print_cell(stream, cell, 10);
	fprintf(stream, "%6u  ", spread->runs);
}

static void print_mean(FILE *stream, const struct hp_event *event, const struct stat_spread *spread)
{
	/* The mean of one run is its count. */
	const struct hp_mux_estimate mean = {
		.count = spread->mean,
		.verdict = spread->runs ? HP_MUX_ESTIMATED : HP_MUX_NOT_COUNTED,
	};
	char cell[CELL_BYTES];

	show_count(event, &mean, cell);
	print_cell(stream, cell, 18);
	print_spread(stream, spread);
	print_safely(stream, event->name);
	putc('\n', stream);
}

static void print_mean_time(FILE *stream, const char *name, const struct stat_spread *spread)
{
	char cell[CELL_BYTES];

	if (!spread->runs)
		return;
	snprintf(cell, sizeof(cell), "%.6f s", spread->mean);
	print_cell(stream, cell, 18);
	print_spread(stream, spread);
	fprintf(stream, "%s\n", name);
}

void stat_text_spread(FILE *stream, const struct stat_subject *subject,
		      const struct stat_spread *spreads)
{
	static const char *const times[] = {
		[STAT_ELAPSED] = "elapsed time",
		[STAT_USER] = "user time",
		[STAT_SYSTEM] = "system time",
	};
	size_t events = subject->events->count;

	fprintf(stream, "\nMeans of %u run%s of ", subject->runs, subject->runs == 1 ? "" : "s");
	print_target(stream, subject);
	fprintf(stream, "\n\n%18s%9s%10s%6s  event\n", "mean", "±", "spread", "runs");
	for (size_t i = 0; i < events; i++)
		print_mean(stream, &subject->events->events[i], &spreads[i]);
	putc('\n', stream);
	for (size_t i = 0; i < STAT_TIMES; i++)
		print_mean_time(stream, times[i], &spreads[events + i]);
	print_left_out(stream, subject,
		       spreads[events + STAT_USER].mean + spreads[events + STAT_SYSTEM].mean,
		       spreads[events + STAT_SYSTEM].mean);
	fputs("\n± is the largest error of the mean in 95 of 100 cases;\nspread is the standard "
	      "deviation of the runs\n",
	      stream);
	print_absent(stream, subject);
	fflush(stream);
}
