/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header as text: what was recorded, how, and how much of it is missing. */
#include "text_header.h"
#include "header.h"
#include "header_parts.h"
#include "../common/quantity.h"
#include "../common/text.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Adds an argument, quoted for a shell if necessary. */
static void add_argument(struct hp_buffer *text, const char *argument)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_-+=./:,@%^";

	if (*argument && strspn(argument, harmless) == strlen(argument)) {
		hp_buffer_add(text, argument, strlen(argument));
		return;
	}
	hp_buffer_add(text, "'", 1);
	for (; *argument; argument++) {
		if (*argument == '\'')
			hp_buffer_add(text, "'\\''", 4);
		else
			hp_buffer_add(text, argument, 1);
	}
	hp_buffer_add(text, "'", 1);
}

static void add_target(const struct hp_epoch_meta *meta, struct hp_buffer *text)
{
	bool any = false;

	for (char **argument = meta->command_line; argument && *argument; argument++) {
		if (any)
			hp_buffer_add(text, " ", 1);
		add_argument(text, *argument);
		any = true;
	}
	if (!any && meta->target)
		hp_buffer_add(text, meta->target, strlen(meta->target));
}

static void add_label(const struct hp_epoch_meta *meta, struct hp_buffer *text)
{
	if (meta->label)
		hp_buffer_printf(text, " \"%s\"", meta->label);
}

static double elapsed_s(const struct hp_epoch_meta *meta)
{
	return meta->end_ns > meta->start_ns ? (double)(meta->end_ns - meta->start_ns) / 1e9 : 0;
}

static void put_epoch(const struct hp_loaded_epoch *epoch, struct header *header)
{
	const struct hp_epoch_meta *meta = epoch->meta;
	time_t seconds = (time_t)(meta->start_ns / 1000000000);
	_cleanup_(hp_buffer_free) struct hp_buffer label = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer target = { 0 };
	char when[64] = "";
	struct tm utc;

	if (meta->start_ns && gmtime_r(&seconds, &utc))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &utc);
	add_label(meta, &label);
	header_put(header, HEADER_ALWAYS, "epoch", "%s%s%s%s, %.2f s", epoch->stamp,
		   hp_buffer_text(&label), *when ? ", " : "", when, elapsed_s(meta));
	add_target(meta, &target);
	if (target.size)
		header_put(header, HEADER_ALWAYS, meta->command_line ? "command" : "target", "%s",
			   hp_buffer_text(&target));
}

/* --summary has all of it. */
static void add_target_in_short(const struct hp_epoch_meta *meta, struct hp_buffer *text)
{
	_cleanup_(hp_buffer_free) struct hp_buffer target = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer safe = { 0 };

	add_target(meta, &target);
	text_escape(&safe, hp_buffer_text(&target));
	text_cut(text, hp_buffer_text(&safe), COMMAND_COLUMNS);
}

/* Adds all epochs on one line. */
static void put_epochs_in_short(const struct report *report, struct header *header)
{
	size_t count = report->profiles->epochs.count;
	const struct hp_loaded_epoch *first = &report->profiles->epochs.at[0];
	const struct hp_loaded_epoch *last = &report->profiles->epochs.at[count - 1];
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	double elapsed = 0;

	for (size_t i = 0; i < count; i++)
		elapsed += elapsed_s(report->profiles->epochs.at[i].meta);
	if (count > 1)
		hp_buffer_printf(&text, "%zu from ", count);
	hp_buffer_printf(&text, "%s", first->stamp);
	add_label(first->meta, &text);
	if (count > 1) {
		hp_buffer_printf(&text, " to %s", last->stamp);
		add_label(last->meta, &text);
	}
	hp_buffer_printf(&text, ", %.2f s: ", elapsed);
	add_target_in_short(first->meta, &text);
	header_put(header, HEADER_ALWAYS, count > 1 ? "epochs" : "epoch", "%s",
		   hp_buffer_text(&text));
}

static const char *or_unknown(const char *text)
{
	return text ? text : "unknown";
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(or_unknown(a), or_unknown(b)) == 0;
}

static bool same_machine(const struct hp_epoch_meta *a, const struct hp_epoch_meta *b)
{
	return same_text(a->host, b->host) && same_text(a->cpu_model, b->cpu_model) &&
	       same_text(a->kernel, b->kernel) && a->cpus == b->cpus;
}

static void put_epochs(const struct report *report, struct header *header)
{
	const struct hp_epoch_meta *before = NULL;

	for (size_t i = 0; i < report->profiles->epochs.count; i++) {
		const struct hp_epoch_meta *meta = report->profiles->epochs.at[i].meta;

		put_epoch(&report->profiles->epochs.at[i], header);
		if (!before || !same_machine(before, meta))
			header_put(header, HEADER_DETAILS, "machine",
				   "%s: %s, %" PRIu32 " CPU%s, %s, Linux %s",
				   or_unknown(meta->host), or_unknown(meta->cpu_model), meta->cpus,
				   meta->cpus == 1 ? "" : "s", or_unknown(meta->architecture),
				   or_unknown(meta->kernel));
		before = meta;
	}
}

static void add_samples(const struct hp_loaded_event *event, struct hp_buffer *text)
{
	hp_buffer_printf(text, "%" PRIu64 " sample%s", event->all.samples,
			 event->all.samples == 1 ? "" : "s");
}

static void add_periods(const struct hp_loaded_event *event, struct hp_buffer *text)
{
	enum hp_unit unit = event->info->unit;

	if (!event->all.samples)
		return;
	/* Each one is a sample, such as page faults or context switches. */
	if (event->greatest_period == 1 && unit == HP_UNIT_EVENTS) {
		hp_buffer_printf(text, ", one per event");
		return;
	}
	hp_buffer_printf(text, ", one every ");
	if (event->greatest_period != event->least_period && unit != HP_UNIT_NS)
		hp_buffer_printf(text, "%" PRIu64 " to ", event->least_period);
	else if (event->greatest_period != event->least_period) {
		quantity_add_period(text, unit, event->least_period);
		hp_buffer_printf(text, " to ");
	}
	quantity_add_period(text, unit, event->greatest_period);
}

/* Adds what is missing of the event. `name` is put before it if there are several events. */
static void put_limits(const struct hp_loaded_event *event, const char *name, bool tells_turns,
		       struct header *header)
{
	const char *colon = *name ? ": " : "";

	if (hp_profiles_is_user_only(event)) {
		bool is_missed = !(event->cpu_ns > 0 &&
				   event->system_ns < little_system_time * event->cpu_ns &&
				   !hp_system_time_is_least(event->cpu_ns, event->processes));
		char left_out[HP_USER_ONLY_BYTES];

		hp_user_only_say(event->cpu_ns, event->system_ns, event->processes, left_out);
		header_put(header, is_missed ? HEADER_ALWAYS : HEADER_DETAILS, "", "%s%s%s", name,
			   colon, left_out);
	}
	if (!tells_turns)
		return;
	if (event->enabled_ns && !event->running_ns)
		header_put(header, HEADER_LIMITS, "",
			   "%s%snever had a counter, so its count is not known", name, colon);
	else if ((double)event->running_ns < full_coverage * (double)event->enabled_ns)
		header_put(header, HEADER_LIMITS, "",
			   "%s%shad a counter for %.1f %% of the time: each sample stands for %.3g "
			   "periods, assuming a constant rate",
			   name, colon,
			   percent((double)event->running_ns, (double)event->enabled_ns),
			   event->units > 0 ? event->all.weight / event->units : 1.0);
}

static void put_lost(const struct hp_loaded_event *event, enum header_rank rank, const char *name,
		     struct header *header)
{
	double seen = (double)event->all.samples;

	header_put(header, rank, "",
		   "%s%slost %" PRIu64 " (%.2f %%), unattributed %" PRIu64 " (%.2f %%), "
		   "throttled %" PRIu64 " time%s",
		   name, *name ? ": " : "", event->lost,
		   percent((double)event->lost, seen + (double)event->lost), event->unattributed,
		   percent((double)event->unattributed, seen), event->throttled,
		   event->throttled == 1 ? "" : "s");
}

static void put_event(const struct hp_loaded_event *event, struct header *header)
{
	const struct hp_event_info *info = event->info;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	hp_buffer_printf(&text, "%s: ", info->name);
	add_samples(event, &text);
	add_periods(event, &text);
	if (info->precision)
		hp_buffer_printf(&text, ", precision: %s", info->precision);
	header_put(header, HEADER_ALWAYS, "event", "%s", hp_buffer_text(&text));
	if (info->instead_of)
		header_put(header, HEADER_LIMITS, "", "instead of %s%s%s", info->instead_of,
			   info->reason ? ": " : "", info->reason ? info->reason : "");
	put_limits(event, "", true, header);
	put_lost(event, HEADER_DETAILS, "", header);
}

/* Adds several events that took turns, on one line. */
static void put_turns(const struct report *report, struct header *header)
{
	double least = 1;
	double most = 0;
	size_t count = 0;

	for (size_t i = 0; i < report->profiles->events.count; i++) {
		double coverage = hp_profiles_coverage(&report->profiles->events.at[i]);

		if (!(coverage < full_coverage))
			continue;
		least = fmin(least, coverage);
		most = fmax(most, coverage);
		count++;
	}
	if (count)
		header_put(header, HEADER_LIMITS, "",
			   "%zu events had a counter for %.0f to %.0f %% of the time: their rates "
			   "are assumed to be constant",
			   count, 100 * least, 100 * most);
}

/* On one line; what is missing of any comes after it. */
/* The extra profile of record --stalls has one line for all its events if stacks are made of it. */
static bool is_extra(const struct report *report, const struct hp_loaded_event *event)
{
	return report->options->view == HP_VIEW_STACK && hp_event_is_of_stalls(event->info->name);
}

static void put_stalls(const struct report *report, struct header *header)
{
	uint64_t samples = 0;
	size_t count = 0;

	for (size_t i = 0; i < report->profiles->events.count; i++) {
		const struct hp_loaded_event *event = &report->profiles->events.at[i];

		if (!is_extra(report, event))
			continue;
		samples += event->all.samples;
		count++;
	}
	if (count)
		header_put(header, HEADER_ALWAYS, "stalls", "%zu events: %" PRIu64 " samples",
			   count, samples);
}

static void put_events_in_short(const struct report *report, struct header *header)
{
	size_t count = report->profiles->events.count;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct hp_loaded_event *event = &report->profiles->events.at[i];

		if (is_extra(report, event))
			continue;
		hp_buffer_printf(&text, "%s%s", text.size ? "; " : "", event->info->name);
		if (event->info->instead_of)
			hp_buffer_printf(&text, " instead of %s", event->info->instead_of);
		hp_buffer_printf(&text, ": ");
		add_samples(event, &text);
		if (count == 1)
			add_periods(event, &text);
	}
	header_put(header, HEADER_ALWAYS, count == 1 ? "event" : "events", "%s",
		   hp_buffer_text(&text));
	put_stalls(report, header);
	if (count > 1)
		put_turns(report, header);
	for (size_t i = 0; i < count; i++) {
		const struct hp_loaded_event *event = &report->profiles->events.at[i];
		const char *name = count == 1 ? "" : event->info->name;
		double seen = (double)event->all.samples;
		double lost = percent((double)event->lost, seen + (double)event->lost);

		put_limits(event, name, count == 1, header);
		if (lost >= noticeable_loss ||
		    percent((double)event->unattributed, seen) >= noticeable_loss)
			put_lost(event, HEADER_LIMITS, name, header);
	}
}

static void put_warnings(const struct report *report, struct header *header)
{
	for (size_t i = 0; i < report->profiles->epochs.count; i++) {
		const struct hp_loaded_epoch *epoch = &report->profiles->epochs.at[i];
		const struct hp_epoch_meta *meta = epoch->meta;

		if (epoch->recording)
			header_put(
				header, HEADER_WARNINGS, "warning",
				"%s is still being recorded: the report shows its present contents",
				epoch->stamp);
		else if (!meta->complete)
			header_put(header, HEADER_WARNINGS, "warning",
				   "the recording of %s was interrupted: it contains what was "
				   "saved before",
				   epoch->stamp);
		if (meta->damaged_records)
			header_put(header, HEADER_WARNINGS, "warning",
				   "%" PRIu64 " records from the kernel were malformed",
				   meta->damaged_records);
		for (char **warning = meta->warnings; warning && *warning; warning++)
			header_put(header, HEADER_WARNINGS, "warning", "%s", *warning);
	}
}

static void put_filters(const struct report *report, struct header *header)
{
	const struct hp_report_options *options = report->options;
	const struct {
		const char *name;
		const char *value;
	} filters[] = {
		{ "image", options->of.image },
		{ "procedure", options->of.procedure },
		{ "comm", options->of.comm },
		{ "pid", options->of.pid },
		{ options->view == HP_VIEW_ANNOTATE ? "annotate" : "instructions",
		  report->of.needs_code ? options->of.listed : NULL },
	};
	const struct hp_loaded_event *event;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(filters); i++)
		if (filters[i].value)
			hp_buffer_printf(&text, "--%s=%s ", filters[i].name, filters[i].value);
	if (!text.size || !report->profiles->events.count)
		return;
	event = &report->profiles->events.at[report->profiles->sort_event];
	hp_buffer_printf(&text, "select %" PRIu64 " of %" PRIu64 " samples (%.2f %%)",
			 event->kept.samples, event->all.samples,
			 100 * hp_profiles_share(report->profiles, report->profiles->sort_event,
						 &event->kept));
	header_put(header, HEADER_LIMITS, "filters", "%s", hp_buffer_text(&text));
}

static void put_all(const struct report *report, bool is_short, struct header *header)
{
	if (is_short && report->profiles->epochs.count)
		put_epochs_in_short(report, header);
	else
		put_epochs(report, header);
	if (is_short && report->profiles->events.count)
		put_events_in_short(report, header);
	for (size_t i = 0; i < report->profiles->events.count && !is_short; i++)
		put_event(&report->profiles->events.at[i], header);
	header_put_counted(report, header);
	put_warnings(report, header);
	header_put_names(report, header);
	put_filters(report, header);
}

struct hp_error *write_text_header(const struct report *report, FILE *out, size_t *left_out)
{
	bool is_short = report->options->view != HP_VIEW_SUMMARY;
	struct header header = { 0 };

	put_all(report, is_short, &header);
	*left_out = header_write(&header, is_short ? MOST_HEADER_LINES : 0,
				 is_short ? report->options->terminal_columns : 0, out);
	header_clear(&header);
	return header.failed ? hp_error_create_no_memory() : NULL;
}
