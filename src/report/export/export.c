/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export.h"

#include <hpcprof/base/number.h>
#include <hpcprof/report/export.h>

#include <string.h>

struct format {
	const char *name;
	struct hp_error *(*write)(struct report *report, FILE *out);
	bool is_of_counts; /* of windows, in one image, rather than of samples */
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

static struct hp_error *load_paths(struct report *report)
{
	struct hp_error *error = hp_paths_create(report->profiles, &report->paths);
	uint64_t samples = 0;

	if (!error)
		error = hp_paths_load(report->paths);
	for (size_t i = 0; !error && i < report->profiles->events.count; i++)
		samples += report->paths->all[i].samples;
	if (error || samples)
		return error;
	/* Nobody recorded any: each sample is a path of its own place. */
	if (report->paths->epochs_without == report->profiles->epochs.count)
		error = hp_paths_flatten(report->paths);
	for (size_t i = 0; !error && i < report->profiles->events.count; i++)
		samples += report->paths->all[i].samples;
	if (error || samples)
		return error;
	return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
					       "there are no samples: the profile would be empty"),
			       "hpcprof report --summary shows how they were recorded");
}

/* Those of epochs without paths would be called by nobody. */
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
	struct hp_error *error =
		hp_profiles_create(&report->of, report->notices, &report->profiles);
	const struct hp_window_evidence *counted;

	if (!error)
		error = hp_profiles_open(report->profiles, db, epochs, epoch_count);
	if (!error)
		error = hp_inference_create(report->profiles, &report->options->how,
					    &report->inference);
	if (error)
		return error;
	/* Code that was counted need not have been sampled. */
	counted = &report->inference->windows.sum;
	error = hp_profiles_load(report->profiles, counted->images, counted->image_count);
	report->profiles->keeps_files = true;
	if (!error && has_paths)
		error = load_paths(report);
	if (!error)
		error = hp_inference_weigh(report->inference);
	if (!error)
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
	/* As a report of all that was counted, without limits. */
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
	if (report.paths)
		hp_paths_destroy(report.paths);
	if (report.inference)
		hp_inference_destroy(report.inference);
	if (report.profiles)
		hp_profiles_destroy(report.profiles);
	return error;
}
