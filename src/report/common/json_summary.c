/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is common to documents of JSON: their header, and the summary of what was recorded. */
#include "json.h"
#include "machine.h"

#include <math.h>

static json_t *event_object(const struct hp_loaded_event *event)
{
	const struct hp_event_info *info = event->info;
	uint64_t period = hp_profiles_period(event);
	double coverage = hp_profiles_coverage(event);

	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "name",
			 json_text(info->name), "unit", hp_unit_name(info->unit), "period",
			 period ? json_count(period) : json_null(), "samples",
			 json_count(event->all.samples), "lost", json_count(event->lost),
			 "precision", json_text(info->precision), "coverage",
			 isnan(coverage) ? json_null() : json_real(coverage), "user_mode_only",
			 !hp_event_modes(info->name).has_kernel, "system_share",
			 event->cpu_ns > 0 ? json_real(event->system_ns / event->cpu_ns)
					   : json_null());
}

json_t *json_header(const struct report *report, const char *schema)
{
	json_t *epochs = json_array();
	json_t *events = json_array();

	for (size_t i = 0; i < report->profiles->epochs.count; i++)
		json_array_append_new(epochs, json_text(report->profiles->epochs.at[i].stamp));
	for (size_t i = 0; i < report->profiles->events.count; i++)
		json_array_append_new(events, event_object(&report->profiles->events.at[i]));
	return json_pack("{s:s, s:o, s:o, s:{s:o, s:o}}", "schema", schema, "epochs", epochs,
			 "events", events, "samples", "total",
			 json_count(hp_profiles_samples(report->profiles)), "unattributed",
			 json_count(hp_profiles_unattributed(report->profiles)));
}

static json_t *text_array(char *const *texts)
{
	json_t *array = texts ? json_array() : json_null();

	for (; texts && *texts; texts++)
		json_array_append_new(array, json_text(*texts));
	return array;
}

static json_t *event_details(const struct hp_loaded_event *event)
{
	json_t *details = event_object(event);
	json_t *more = json_pack(
		"{s:o, s:o, s:o, s:o}", "instead_of", json_text(event->info->instead_of), "reason",
		json_text(event->info->reason), "unattributed", json_count(event->unattributed),
		"throttled", json_count(event->throttled));

	json_object_update(details, more);
	json_decref(more);
	return details;
}

static json_t *commands_of(const struct report *report, const struct hp_loaded_epoch *epoch)
{
	const struct hp_epoch_meta *meta = epoch->meta;
	json_t *commands = json_array();

	for (size_t i = 0; i < meta->command_count; i++) {
		const struct hp_command_times *times = &meta->commands[i];
		json_t *by_event = json_array();
		uint64_t all = 0;

		for (size_t event = 0; event < report->profiles->events.count; event++) {
			uint64_t samples =
				hp_profiles_command_samples(report->profiles, epoch, i, event);

			json_array_append_new(by_event, json_count(samples));
			all += samples;
		}
		json_array_append_new(commands,
				      json_pack("{s:o, s:o, s:o, s:o, s:f}", "command",
						json_text(times->command), "processes",
						json_count(times->processes), "samples",
						json_count(all), "samples_by_event", by_event,
						"elapsed_s", (double)times->elapsed_ns / 1e9));
	}
	return commands;
}

static json_t *runs_of(const struct hp_epoch_meta *meta)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < meta->run_count; i++) {
		const struct hp_run *run = &meta->runs[i];

		json_array_append_new(
			runs, json_pack("{s:f, s:f, s:f, s:o, s:i, s:o}", "elapsed_s",
					(double)run->elapsed_ns / 1e9, "user_s",
					(double)run->user_ns / 1e9, "system_s",
					(double)run->system_ns / 1e9, "max_rss_bytes",
					json_count(run->max_rss_bytes), "exit_status",
					(int)run->exit_status, "work",
					run->work > 0 ? json_real(run->work) : json_null()));
	}
	return runs;
}

static json_t *recording(const struct report *report, const struct hp_loaded_epoch *epoch)
{
	const struct hp_epoch_meta *meta = epoch->meta;
	json_t *object = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "epoch", json_text(epoch->stamp),
		"label", json_text(meta->label), "host", json_text(meta->host), "cpu",
		json_text(meta->cpu_model), "cpus", json_count(meta->cpus), "architecture",
		json_text(meta->architecture), "kernel", json_text(meta->kernel), "command",
		text_array(meta->command_line), "target", json_text(meta->target));
	json_t *machine = json_pack("{s:o, s:o, s:o, s:o}", "cpu_identity",
				    machine_cpu_json(&meta->cpu), "core", machine_core_json(meta),
				    "clock", machine_clock_json(&meta->clock), "skid",
				    machine_skid_json(meta));
	json_t *more = json_pack("{s:b, s:b, s:f, s:f, s:o, s:f, s:o, s:o, s:o, s:o}", "complete",
				 meta->complete, "recording", epoch->recording, "start_s",
				 (double)meta->start_ns / 1e9, "end_s", (double)meta->end_ns / 1e9,
				 "sample_cost_ns", json_count(meta->sample_cost_ns), "own_cpu_s",
				 (double)meta->own_cpu_ns / 1e9, "damaged_records",
				 json_count(meta->damaged_records), "commands",
				 commands_of(report, epoch), "runs", runs_of(meta), "warnings",
				 meta->warnings ? text_array(meta->warnings) : json_array());

	json_object_update(object, machine);
	json_decref(machine);
	json_object_update(object, more);
	json_decref(more);
	return object;
}

static json_t *image_state(const struct report *report, const struct hp_row *row)
{
	const struct hp_loaded_image *image = row->image;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "path",
			 json_text(image->id.path), "build_id", json_text(image->build_id),
			 "samples", json_samples(report, row->tallies), "share",
			 json_shares(report, row->tallies), "names", json_text(image->origin),
			 "lines", image->has_lines, "problem", json_text(image->problem), "kept",
			 json_text(image->kept));
}

static json_t *attribution_object(const struct report *report)
{
	static const char *const names[HP_ATTRIBUTION_COUNT] = {
		[HP_NAMED_BY_SYMBOL] = "symbol", [HP_NAMED_BY_PLT] = "plt",
		[HP_NAMED_BY_EXTENT] = "extent", [HP_NAMED_NOT] = "none",
		[HP_NAMED_REFUSED] = "refused",
	};
	json_t *object = json_object();

	for (size_t i = 0; i < HP_ATTRIBUTION_COUNT; i++)
		json_object_set_new(
			object, names[i],
			json_samples(report,
				     &report->profiles
					      ->attribution[i * report->profiles->events.count]));
	return object;
}

static json_t *reasons_object(const struct hp_window_evidence *sum, bool is_refusal)
{
	json_t *object = json_object();

	for (size_t i = 0; i < sum->reason_count; i++)
		if (sum->reasons[i].is_refusal == is_refusal)
			json_object_set_new(object, sum->reasons[i].what,
					    json_count(sum->reasons[i].count));
	return object;
}

/* What shadow windows counted; null if there were none. */
static json_t *windows_object(const struct report *report)
{
	const struct hp_window_evidence *sum = &report->inference->windows.sum;
	struct hp_window_group counted = hp_window_evidence_counted(sum);
	struct hp_window_group relative = hp_window_evidence_relative(sum);

	if (!hp_windows_tried(report->inference))
		return json_null();
	return json_pack("{s:o, s:o, s:f, s:b, s:o, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o}",
			 "count", json_count(counted.windows + relative.windows), "truncated",
			 json_count(report->inference->windows.truncated_windows), "counted_s",
			 (double)(counted.time_ns + relative.time_ns) / 1e9, "absolute",
			 report->inference->windows.is_absolute, "why_relative",
			 json_text(report->inference->windows.why_relative), "lost_s",
			 (double)sum->price.lost_ns / 1e9, "target_s",
			 (double)sum->price.target_ns / 1e9, "replay_s",
			 (double)sum->price.replay_ns / 1e9, "beside_s",
			 (double)sum->price.beside_ns / 1e9, "budget_percent",
			 (double)sum->price.budget_ppm / 1e4, "samples", json_count(sum->samples),
			 "matched", json_count(sum->matched), "ended", reasons_object(sum, false),
			 "refused", reasons_object(sum, true));
}

/* Other evidence of how often code was executed. */
static json_t *evidence_object(const struct report *report)
{
	const struct hp_window_evidence *sum = &report->inference->windows.sum;
	uint64_t followed = 0;
	uint64_t outcomes = 0;
	uint64_t places = 0;
	uint64_t hits = 0;
	uint64_t runs = 0;
	uint64_t cycles = 0;

	for (size_t i = 0; i < sum->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &sum->strata[i];

		followed += stratum->followed;
		outcomes += hp_sum_of_items(stratum->outcomes, stratum->outcome_count, 0);
		hits += hp_sum_of_items(stratum->probes, stratum->probe_count, HP_COUNTED_PROBE);
		for (size_t k = 0; k < stratum->probe_count; k++)
			places += stratum->probes[k].kind == HP_COUNTED_PROBE_TIME;
		runs += hp_sum_of_items(stratum->ranges, stratum->range_count, HP_COUNTED_RANGE);
		cycles += hp_sum_of_items(stratum->ranges, stratum->range_count,
					  HP_COUNTED_RANGE_CYCLES);
	}
	return json_pack("{s:{s:o, s:o}, s:{s:o, s:o}, s:{s:o, s:o}}", "branches", "samples",
			 json_count(followed), "outcomes", json_count(outcomes), "probes", "places",
			 json_count(places), "hits", json_count(hits), "ranges", "runs",
			 json_count(runs), "cycles", json_count(cycles));
}

json_t *json_summary(const struct report *report)
{
	json_t *summary = json_header(report, "hpcprof-summary/1");
	json_t *recordings = json_array();
	json_t *events = json_array();
	json_t *images = json_array();

	for (size_t i = 0; i < report->profiles->epochs.count; i++)
		json_array_append_new(recordings,
				      recording(report, &report->profiles->epochs.at[i]));
	for (size_t i = 0; i < report->profiles->events.count; i++)
		json_array_append_new(events, event_details(&report->profiles->events.at[i]));
	for (size_t i = 0; i < report->profiles->rows.count; i++)
		json_array_append_new(images, image_state(report, report->profiles->rows.at[i]));
	json_object_set_new(summary, "events", events);
	json_object_set_new(summary, "recordings", recordings);
	json_object_set_new(summary, "windows", windows_object(report));
	json_object_set_new(summary, "evidence", evidence_object(report));
	json_object_set_new(summary, "named_by", attribution_object(report));
	json_object_set_new(summary, "images", images);
	return summary;
}
