/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the results of hpcprof stat for programs: JSON (hpcprof-stat/1) and CSV. */
#include "stat_history.h"
#include "stat_stalls.h"

#include <hpcprof/base/text.h>

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* NaN becomes null. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text(const char *string)
{
	json_t *made = json_string(string);

	return made ? made : json_string("?");
}

static json_t *estimate_object(const struct hp_mux_estimate *estimate)
{
	bool shown = estimate->verdict == HP_MUX_EXACT || estimate->verdict == HP_MUX_ESTIMATED;

	return json_pack("{s:o, s:o, s:o, s:s}", "count", number(shown ? estimate->count : NAN),
			 "low", number(shown ? estimate->low : NAN), "high",
			 number(shown ? estimate->high : NAN), "verdict",
			 hp_mux_verdict_name(estimate->verdict));
}

static json_t *event_object(const struct stat_view *view, size_t index)
{
	const struct hp_event *event = &view->subject->events->events[index];
	const struct hp_mux_estimate *estimate = &view->report->estimates->events[index];
	bool counted = estimate->verdict != HP_MUX_NOT_COUNTED;
	json_t *object = json_pack("{s:o, s:s}", "name", text(event->name), "unit",
				   hp_unit_name(event->unit));
	json_t *figures = estimate_object(estimate);

	json_object_update(object, figures);
	json_decref(figures);
	json_object_set_new(object, "running", json_real(counted ? estimate->running : 0));
	json_object_set_new(object, "raw",
			    counted ? json_integer((json_int_t)estimate->raw) : json_null());
	json_object_set_new(object, "slices", json_integer((json_int_t)estimate->slices));
	if (event->absent)
		json_object_set_new(object, "reason", text(event->absent));
	if (view->figures->is_adjusted[index]) {
		json_t *adjusted = estimate_object(&view->figures->adjusted[index]);

		json_object_set_new(adjusted, "width_change",
				    number(view->figures->width_change[index]));
		json_object_set_new(object, "adjusted", adjusted);
	}
	if (view->report->truth && view->report->truth[index] != UINT64_MAX)
		json_object_set_new(object, "truth",
				    json_integer((json_int_t)view->report->truth[index]));
	return object;
}

static json_t *metric_object(const struct stat_view *view, const struct hp_figure *figure)
{
	const struct hp_mux_ratio *ratio = &figure->metric.ratio;
	bool shown = ratio->verdict == HP_MUX_EXACT || ratio->verdict == HP_MUX_ESTIMATED;

	return json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:o, s:s}", "name", figure->metric.name, "unit",
		figure->metric.unit, "event",
		text(view->subject->events->events[figure->event].name), "value",
		number(shown ? ratio->value : NAN), "low", number(shown ? ratio->low : NAN), "high",
		number(shown ? ratio->high : NAN), "verdict", hp_mux_verdict_name(ratio->verdict));
}

static const char *finding_name(enum hp_mux_finding_kind kind)
{
	static const char *const names[] = {
		[HP_MUX_SATISFIED] = "satisfied",
		[HP_MUX_BINDING] = "binding",
		[HP_MUX_VIOLATED] = "violated",
		[HP_MUX_UNDECIDED] = "undecided",
	};

	return names[kind];
}

static json_t *invariants_of(const struct hp_figures *figures)
{
	json_t *list = json_array();

	for (size_t i = 0; i < figures->class_count; i++) {
		const struct hp_figure_class *class = &figures->classes[i];

		for (size_t j = 0; class->reconciliation && j < class->invariant_count; j++) {
			const struct hp_mux_finding *finding = &class->reconciliation->findings[j];

			json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "text",
							      class->invariants[j].text, "finding",
							      finding_name(finding->kind), "excess",
							      number(finding->excess), "z",
							      number(finding->z)));
		}
	}
	return list;
}

static json_t *rotation_object(const struct stat_view *view)
{
	const struct hp_counting_result *result = view->report->whole;
	const struct hp_rotation_sets *rotation_sets = view->subject->rotation_sets;
	json_t *list = json_array();

	for (size_t i = 0; i < rotation_sets->count; i++)
		json_array_append_new(list, json_pack("{s:o, s:i, s:s?}", "pmu",
						      text(rotation_sets->at[i].pmu), "groups",
						      (int)rotation_sets->at[i].group_count,
						      "reference_event",
						      rotation_sets->at[i].has_reference
							      ? rotation_sets->at[i].reference.name
							      : NULL));
	return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:o}", "scheduler",
			 view->subject->scheduler, "estimator", view->subject->estimator, "slices",
			 (json_int_t)result->slices, "slice_s", result->slice_mean_ns / 1e9,
			 "cost_s", result->rotation_ns / 1e9, "percent", result->rotation_percent,
			 "rotation_sets", list);
}

static bool put(FILE *stream, json_t *object)
{
	bool fine = object && json_dumpf(object, stream, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;

	if (fine)
		putc('\n', stream);
	fflush(stream);
	json_decref(object);
	return fine;
}

bool stat_json_view(FILE *stream, const struct stat_view *view)
{
	const struct hp_counting_report *report = view->report;
	json_t *events = json_array();
	json_t *metrics = json_array();
	json_t *object;

	for (size_t i = 0; i < view->subject->events->count; i++)
		json_array_append_new(events, event_object(view, i));
	for (size_t i = 0; i < view->figures->figure_count; i++)
		json_array_append_new(metrics, metric_object(view, &view->figures->figures[i]));
	object = json_pack("{s:s, s:f, s:f, s:b, s:i, s:o, s:o, s:o}", "schema", "hpcprof-stat/1",
			   "time_s", (double)report->begin_ns / 1e9, "duration_s",
			   (double)report->duration_ns / 1e9, "whole", report->whole != NULL, "run",
			   (int)view->run, "events", events, "metrics", metrics, "invariants",
			   invariants_of(view->figures));
	if (object && view->stack &&
	    !stat_stalls_json(object, view->subject->stalls, view->stack)) {
		json_decref(object);
		return false;
	}
	if (object && view->stack && report->whole)
		json_object_set_new(object, "phases", stat_phases_json(view->history));
	if (object && report->whole) {
		json_object_set_new(object, "rotation", rotation_object(view));
		json_object_set_new(object, "user_s",
				    json_real((double)report->whole->user_ns / 1e9));
		json_object_set_new(object, "system_s",
				    json_real((double)report->whole->system_ns / 1e9));
		json_object_set_new(object, "user_mode_only",
				    json_boolean(view->subject->user_only));
		json_object_set_new(object, "system_share",
				    number(report->whole->target_cpu_ns
						   ? (double)report->whole->target_system_ns /
							     (double)report->whole->target_cpu_ns
						   : NAN));
	}
	return put(stream, object);
}

static json_t *spread_object(const struct stat_spread *spread)
{
	return json_pack("{s:i, s:o, s:o, s:o, s:o}", "runs", (int)spread->runs, "mean",
			 number(spread->runs ? spread->mean : NAN), "low", number(spread->low),
			 "high", number(spread->high), "deviation", number(spread->deviation));
}

bool stat_json_spread(FILE *stream, const struct stat_subject *subject,
		      const struct stat_spread *spreads)
{
	static const char *const times[] = {
		[STAT_ELAPSED] = "elapsed_s",
		[STAT_USER] = "user_s",
		[STAT_SYSTEM] = "system_s",
	};
	size_t count = subject->events->count;
	json_t *events = json_array();
	json_t *object;

	for (size_t i = 0; i < count; i++) {
		json_t *event = json_pack("{s:o, s:s}", "name",
					  text(subject->events->events[i].name), "unit",
					  hp_unit_name(subject->events->events[i].unit));
		json_t *spread = spread_object(&spreads[i]);

		json_object_update(event, spread);
		json_decref(spread);
		json_array_append_new(events, event);
	}
	object = json_pack("{s:s, s:i, s:o}", "schema", "hpcprof-stat-runs/1", "runs",
			   (int)subject->runs, "events", events);
	for (size_t i = 0; object && i < STAT_TIMES; i++)
		json_object_set_new(object, times[i], spread_object(&spreads[count + i]));
	return put(stream, object);
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void csv_text(FILE *stream, const char *string)
{
	putc('"', stream);
	if (hp_text_is_formula(string))
		putc('\'', stream);
	for (; *string; string++) {
		if (*string == '"')
			putc('"', stream);
		putc(*string, stream);
	}
	putc('"', stream);
}

static void csv_number(FILE *stream, double value)
{
	if (isfinite(value))
		fprintf(stream, ",%.17g", value);
	else
		putc(',', stream);
}

void stat_csv_header(FILE *stream, const struct stat_subject *subject)
{
	(void)subject;
	fputs("run,whole,time_s,duration_s,event,unit,count,low,high,verdict,running,raw,adjusted,"
	      "adjusted_low,adjusted_high,truth\r\n",
	      stream);
}

static void csv_event(FILE *stream, const struct stat_view *view, size_t index)
{
	const struct hp_counting_report *report = view->report;
	const struct hp_event *event = &view->subject->events->events[index];
	const struct hp_mux_estimate *estimate = &report->estimates->events[index];
	const struct hp_mux_estimate *adjusted =
		view->figures->is_adjusted[index] ? &view->figures->adjusted[index] : NULL;
	bool shown = estimate->verdict == HP_MUX_EXACT || estimate->verdict == HP_MUX_ESTIMATED;
	bool counted = estimate->verdict != HP_MUX_NOT_COUNTED;

	fprintf(stream, "%u,%s,%.9f,%.9f,", view->run, report->whole ? "yes" : "no",
		(double)report->begin_ns / 1e9, (double)report->duration_ns / 1e9);
	csv_text(stream, event->name);
	fprintf(stream, ",%s", hp_unit_name(event->unit));
	csv_number(stream, shown ? estimate->count : NAN);
	csv_number(stream, shown ? estimate->low : NAN);
	csv_number(stream, shown ? estimate->high : NAN);
	putc(',', stream);
	csv_text(stream, hp_mux_verdict_name(estimate->verdict));
	fprintf(stream, ",%.6f", counted ? estimate->running : 0);
	csv_number(stream, counted ? (double)estimate->raw : NAN);
	csv_number(stream, adjusted ? adjusted->count : NAN);
	csv_number(stream, adjusted ? adjusted->low : NAN);
	csv_number(stream, adjusted ? adjusted->high : NAN);
	if (report->truth && report->truth[index] != UINT64_MAX)
		fprintf(stream, ",%" PRIu64 "\r\n", report->truth[index]);
	else
		fputs(",\r\n", stream);
}

void stat_csv_view(FILE *stream, const struct stat_view *view)
{
	for (size_t i = 0; i < view->subject->events->count; i++)
		csv_event(stream, view, i);
	fflush(stream);
}
