/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "annotate/write_annotate.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/infer/inference.h>
#include "common/load.h"
#include "common/sort.h"
#include "stalls/sampled_stack.h"
#include <hpcprof/analyze/what_if.h>
#include "stalls/write_stack.h"
#include "paths/write_paths.h"
#include "write.h"

#include <hpcprof/report/report.h>

#include <stdio.h>
#include <string.h>

static struct hp_error *check_options(const struct hp_report_options *options)
{
	if (!(options->percent_limit >= 0 && options->percent_limit <= 100))
		return hp_error_create(HP_ERROR_USAGE, "--percent-limit must be from 0 to 100");
	if (options->of.inlines && options->view != HP_VIEW_PROCEDURES &&
	    options->view != HP_VIEW_LINES)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "--inlines is not possible with this view"),
			"use it with --procedures or --lines");
	if (shows_paths(options) && (options->of.image || options->of.procedure))
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE,
					"call paths cannot be filtered by image or procedure"),
			"--callers=PROC and --callees=PROC show the paths over a procedure");
	return NULL;
}

/* Every program takes time; other events may never happen. */
static const char *why_none(const struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->events.count; i++)
		if (profiles->events.at[i].info->unit != HP_UNIT_EVENTS)
			return "the program may have run for less than one sampling period, or "
			       "slept: record it for longer or at a higher rate (hpcprof record -F "
			       "4000)";
	return "what was sampled never happened, or more rarely than one sample needs: record it "
	       "for longer or with a smaller period (hpcprof record -c 1)";
}

static struct hp_error *nothing_recorded(const struct report *report)
{
	const struct hp_loaded_epoch *epoch = &report->profiles->epochs.at[0];
	char **warnings = epoch->meta->warnings;

	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT, "%s%s no samples",
				report->profiles->epochs.count == 1 ? epoch->stamp : "these epochs",
				report->profiles->epochs.count == 1 ? " has" : " have"),
		"%s\nhpcprof report --summary shows how it was recorded",
		warnings && warnings[0] ? warnings[0] : why_none(report->profiles));
}

/* The summary tells how it was recorded, even without samples. */
static struct hp_error *check_samples(const struct report *report)
{
	uint64_t kept = 0;

	if (!report->profiles->epochs.count || !hp_profiles_samples(report->profiles))
		return report->profiles->epochs.count ? nothing_recorded(report) : NULL;
	for (size_t i = 0; i < report->profiles->events.count; i++)
		kept += report->profiles->events.at[i].kept.samples;
	if (kept || report->profiles->rows.count)
		return NULL;
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT, "the filters select no samples"),
		"hpcprof report --summary lists the images and commands");
}

/* Tells readers of costs about views of executions. */
static void hint_at_counts(const struct report *report)
{
	const struct hp_report_options *options = report->options;

	if (!report->notices || !report->notices->hint || options->format != HP_FORMAT_TEXT ||
	    (options->view != HP_VIEW_ANNOTATE && options->view != HP_VIEW_STALLS) ||
	    options->how.exact_counts || hp_windows_tried(report->inference))
		return;
	report->notices->hint(
		"hpcprof record --shadow also counts executions, for about 1 % of the time: CPI "
		"and cycles of stalls are then known instead of limited",
		report->notices->context);
}

static struct hp_error *no_picture(void)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "--format=svg draws stacks of shadow windows only"),
		"--format=json and --format=csv have those of counters");
}

static struct hp_error *write_report(struct report *report, FILE *out)
{
	if (report->options->view == HP_VIEW_FLAME_GRAPH)
		return write_flame_graph(report, out);
	switch (report->options->format) {
	case HP_FORMAT_JSON:
		return write_json(report, out);
	case HP_FORMAT_CSV:
		return write_csv(report, out);
	case HP_FORMAT_DOT:
		return write_dot(report, out);
	case HP_FORMAT_SVG:
		return shows_sampled_stacks(report) ? no_picture() : draw_stack(report, out);
	case HP_FORMAT_TEXT:
		break;
	}
	return write_text(report, out);
}

static struct hp_error *run(struct report *report, FILE *out)
{
	enum sort_key key = SORT_SAMPLES;
	struct hp_error *empty = NULL;
	struct hp_error *error = rows_parse_sort(report, &key);

	if (!error)
		error = hp_profiles_attribute(report->profiles);
	if (error)
		return error;
	empty = check_samples(report);
	if (empty && shows_counts(report->options)) {
		hp_error_destroy(empty);
		empty = NULL;
	}
	report->is_refused = empty && report->options->view != HP_VIEW_SUMMARY;
	if (report->is_refused)
		return empty;
	if (report->options->of.listed)
		error = hp_profiles_resolve(report->profiles);
	if (!error) {
		rows_select(report, key);
		error = hp_profiles_name_files(report->profiles);
	}
	if (!error && report->paths)
		error = hp_paths_name(report->paths);
	if (!error && report->paths)
		error = paths_find_called(report);
	if (!error && (report->options->view == HP_VIEW_PROCEDURES ||
		       report->options->view == HP_VIEW_INSTRUCTIONS))
		error = hp_inference_fill_rows(report->inference);
	if (!error)
		error = write_report(report, out);
	if (!error)
		hint_at_counts(report);
	if (error && empty)
		hp_error_destroy(empty);
	return error ? error : empty;
}

/* Sets which parts of the profiles the view needs. */
static void ask_profiles(struct report *report)
{
	const struct hp_report_options *options = report->options;
	struct hp_profiles_options *of = &report->of;

	*of = options->of;
	of->rows = options->view == HP_VIEW_LINES		      ? HP_ROWS_OF_LINES
		   : options->view == HP_VIEW_BREAKDOWN		      ? HP_ROWS_OF_GROUPS
		   : options->view == HP_VIEW_STACK && options->of.by ? HP_ROWS_OF_GROUPS
		   : options->view == HP_VIEW_IMAGES || options->view == HP_VIEW_SUMMARY
			   ? HP_ROWS_OF_IMAGES
			   : HP_ROWS_OF_PROCEDURES;
	of->needs_code = options->view == HP_VIEW_INSTRUCTIONS ||
			 options->view == HP_VIEW_ANNOTATE || shows_survey(options) ||
			 options->view == HP_VIEW_SUMMARY || shows_counts(options);
	of->stalls = options->view == HP_VIEW_STACK || options->view == HP_VIEW_SUMMARY;
	of->lists_many = options->view == HP_VIEW_INSTRUCTIONS && options->format != HP_FORMAT_DOT;
	of->describes_images = options->view == HP_VIEW_SUMMARY;
}

static struct hp_error *no_paths(const struct report *report)
{
	const struct hp_profiles *profiles = report->profiles;

	if (report->options->of.comm || report->options->of.pid)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "the filters select no call paths");
	return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT, "%s no call paths",
					       profiles->epochs.count == 1 ? "the epoch has"
									   : "these epochs have"),
			       "record with: hpcprof record -g -- COMMAND");
}

/* Call paths have keys other than places in the code. */
static struct hp_error *check_keys(const struct hp_profiles *profiles)
{
	const bool *has = profiles->by.has;

	if (!has[HP_BY_IMAGE] && !has[HP_BY_PROCEDURE] && !has[HP_BY_LINE])
		return NULL;
	return hp_error_create(HP_ERROR_USAGE,
			       "--by tells call paths apart by comm, pid, tid and cpu only");
}

static struct hp_error *load(struct report *report, struct hp_db *db, char *const *epochs,
			     size_t epoch_count)
{
	const struct hp_report_options *options = report->options;
	/* Code that was counted may have no samples. */
	const struct report_wants wants = {
		.counts = shows_counts(options) || shows_paths(options),
		.paths = shows_paths(options),
	};
	struct hp_error *error = report_load(report, db, epochs, epoch_count, &wants);

	if (!error && report->of.needs_code && options->view != HP_VIEW_STACK)
		error = report_load_stalls(report, db, epochs, epoch_count);
	if (!error && options->view == HP_VIEW_STACK && options->of.by &&
	    !shows_sampled_stacks(report))
		error = hp_error_advise(
			hp_error_create(
				HP_ERROR_USAGE,
				"--by tells stacks by counters apart, not those of windows"),
			"record with: hpcprof record --stalls -- COMMAND");
	if (!error && wants.paths)
		error = check_keys(report->profiles);
	if (!error && wants.paths && !report_path_samples(report))
		error = no_paths(report);
	if (!error)
		report->profiles->keeps_files = report->of.needs_code || wants.paths ||
						(options->view == HP_VIEW_PROCEDURES &&
						 hp_windows_exist(report->inference));
	return error;
}

static struct hp_error *make(struct hp_db *db, char *const *epochs, size_t epoch_count,
			     const struct hp_report_options *options,
			     const struct hp_notices *notices, FILE *out, bool *is_refused)
{
	struct hp_report_options resized = *options;
	struct report report = { .options = &resized, .notices = notices };
	struct hp_error *error = check_options(options);
	struct hp_what_if what_if;

	if (!error && options->view == HP_VIEW_WHAT_IF) {
		error = hp_what_if_parse(options->what_if, &what_if);
		resized.how.resizes = hp_resizes_code(&what_if.sizes);
	}

	ask_profiles(&report);
	if (!error)
		error = load(&report, db, epochs, epoch_count);
	if (error && error->class == HP_ERROR_DAMAGED && !error->advice)
		error = hp_error_advise(error,
					"report another epoch (@-1 is the one before), or record "
					"again; hpcprof epochs verify finds all damage, and "
					"hpcprof epochs rm removes an epoch");
	if (!error && report.of.needs_code)
		hp_profiles_check_mixture(report.profiles);
	if (!error)
		error = run(&report, out);
	*is_refused = report.is_refused;
	report_clear(&report);
	return error;
}

/* Whether the name may be a part of procedures' names; a pattern is not. */
static bool may_be_part(const struct hp_report_options *options)
{
	return options->of.procedure && !strpbrk(options->of.procedure, "*?");
}

struct hp_error *hp_report(struct hp_db *db, char *const *epochs, size_t epoch_count,
			   const struct hp_report_options *options,
			   const struct hp_notices *notices, FILE *out)
{
	bool is_refused;
	struct hp_error *error = make(db, epochs, epoch_count, options, notices, out, &is_refused);
	struct hp_report_options parts = *options;
	const struct hp_notices quiet = { .hint = notices ? notices->hint : NULL,
					  .context = notices ? notices->context : NULL };
	struct hp_error *again;

	if (!is_refused || !may_be_part(options))
		return error;
	parts.of.by_part = true;
	/* Warnings were already shown. */
	again = make(db, epochs, epoch_count, &parts, notices ? &quiet : NULL, out, &is_refused);
	if (again) {
		hp_error_destroy(again);
		return error;
	}
	hp_error_destroy(error);
	if (notices && notices->warn) {
		_cleanup_free_ char *message = NULL;

		if (asprintf(&message,
			     "no procedure is called '%s': procedures with this text in their "
			     "names are shown",
			     options->of.procedure) >= 0)
			notices->warn(message, NULL, notices->context);
	}
	return NULL;
}
