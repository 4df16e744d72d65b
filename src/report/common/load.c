/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "load.h"

struct hp_error *report_load(struct report *report, struct hp_db *db, char *const *epochs,
			     size_t epoch_count, const struct report_wants *wants)
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
	counted = &report->inference->windows.sum;
	error = hp_profiles_load(report->profiles, counted->images,
				 wants->counts ? counted->image_count : 0);
	if (!error && wants->paths)
		error = hp_paths_create(report->profiles, &report->paths);
	if (!error && wants->paths)
		error = hp_paths_load(report->paths);
	return error ? error : hp_inference_prepare(report->inference);
}

uint64_t report_path_samples(const struct report *report)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < report->profiles->events.count; i++)
		samples += report->paths->all[i].samples;
	return samples;
}

static bool has_stalls(const struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->epochs.count; i++) {
		const struct hp_epoch_meta *meta = profiles->epochs.at[i].meta;

		for (size_t j = 0; j < meta->event_count; j++)
			if (hp_event_is_of_stalls(meta->events[j].info.name))
				return true;
	}
	return false;
}

struct hp_error *report_load_stalls(struct report *report, struct hp_db *db, char *const *epochs,
				    size_t epoch_count)
{
	struct hp_error *error;

	if (!has_stalls(report->profiles))
		return NULL;
	report->of_stalls = (struct hp_profiles_options){
		.stalls = true,
		.comm = report->of.comm,
		.pid = report->of.pid,
		.no_debuginfo = report->of.no_debuginfo,
		.symfs = report->of.symfs,
	};
	/* Warnings come from the report's own profiles. */
	error = hp_profiles_create(&report->of_stalls, NULL, &report->stall_profiles);
	if (!error)
		error = hp_profiles_open(report->stall_profiles, db, epochs, epoch_count);
	if (!error)
		error = hp_profiles_load(report->stall_profiles, NULL, 0);
	if (!error)
		error = hp_profiles_attribute(report->stall_profiles);
	if (!error)
		error = hp_stalled_create(report->stall_profiles, &report->stalled);
	if (!error)
		report->inference->stalled = report->stalled;
	return error;
}

void report_clear(struct report *report)
{
	if (report->stalled)
		hp_stalled_destroy(report->stalled);
	if (report->stall_profiles)
		hp_profiles_destroy(report->stall_profiles);
	if (report->paths)
		hp_paths_destroy(report->paths);
	if (report->inference)
		hp_inference_destroy(report->inference);
	if (report->profiles)
		hp_profiles_destroy(report->profiles);
}
