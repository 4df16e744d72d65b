/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../common/load.h"
#include "export.h"

#include <hpcprof/base/number.h>
#include <hpcprof/report/export.h>

#include <string.h>

struct format {
	const char *name;
	struct hp_error *(*write)(struct report *report, FILE *out);
	bool is_of_counts; /* it uses counts of windows in one image instead of samples */
};

const char hp_export_formats[] = "folded|speedscope|firefox|pprof|callgrind|perf-script|bolt|"
				 "llvm-sample|llvm-profgen|autofdo";

static const struct format formats[] = {
	{ "folded", export_folded, false },
	{ "speedscope", export_speedscope, false },
	{ "firefox", export_firefox, false },
	{ "pprof", export_pprof, false },
	{ "callgrind", export_callgrind, false },
	{ "perf-script", export_perf_script, false },
	{ "bolt", export_bolt, true },
	{ "llvm-sample", export_llvm_sample, true },
	{ "llvm-profgen", export_llvm_profgen, true },
	{ "autofdo", export_autofdo, true },
};

/* --- loading ---------------------------------------------------------------------------------- */

/* If no paths were recorded, each sample is a path of one place. */
static struct hp_error *check_paths(struct report *report)
{
	struct hp_error *error = NULL;

	if (!report_path_samples(report) &&
	    report->paths->epochs_without == report->profiles->epochs.count)
		error = hp_paths_flatten(report->paths);
	if (error || report_path_samples(report))
		return error;
	return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
					       "there are no samples: the profile would be empty"),
			       "hpcprof report --summary shows how they were recorded");
}

/* Warns that samples of epochs without paths have no callers. */
static void tell_of_others(const struct report *report)
{
	const struct hp_call_paths *paths = report->paths;

	if (paths->epochs_without && !paths->are_flat)
		hp_profiles_warn(report->profiles, "export them on their own",
				 "%zu of %zu epochs %s no call paths: their samples are left out",
				 paths->epochs_without, report->profiles->epochs.count,
				 paths->epochs_without == 1 ? "has" : "have");
}

static struct hp_error *load(struct report *report, struct hp_db *db, char *const *epochs,
			     size_t epoch_count, bool has_paths)
{
	/* Code that was counted may have no samples. */
	const struct report_wants wants = { .counts = true, .paths = has_paths };
	struct hp_error *error = report_load(report, db, epochs, epoch_count, &wants);

	if (!error && has_paths)
		error = check_paths(report);
	if (error)
		return error;
	report->profiles->keeps_files = true;
	error = hp_profiles_attribute(report->profiles);
	if (!error && has_paths)
		error = hp_paths_name(report->paths);
	if (!error && has_paths)
		tell_of_others(report);
	return error;
}

struct hp_error *hp_export(struct hp_db *db, char *const *epochs, size_t epoch_count,
			   const struct hp_export_options *options,
			   const struct hp_notices *notices, FILE *out)
{
	/* a report of everything that was counted, without limits */
	const struct hp_report_options whole = { .view = HP_VIEW_EXECUTIONS,
						 .format = HP_FORMAT_JSON,
						 .how.frequencies_only = true };
	struct report report = { .options = &whole, .notices = notices, .of = options->of };
	const struct format *format = NULL;
	struct hp_error *error;

	for (size_t i = 0; i < HP_ARRAY_COUNT(formats); i++)
		if (strcmp(options->format, formats[i].name) == 0)
			format = &formats[i];
	if (!format)
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
						       "there is no export format '%s'",
						       options->format),
				       "the formats are %s", hp_export_formats);
	if (options->of.image && !format->is_of_counts)
		return hp_error_create(HP_ERROR_USAGE, "--image is for bolt, llvm-sample, "
						       "llvm-profgen and autofdo, which are of one "
						       "image");
	error = load(&report, db, epochs, epoch_count, !format->is_of_counts);
	if (!error)
		error = format->write(&report, out);
	report_clear(&report);
	return error;
}
