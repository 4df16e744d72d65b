/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder.h"

#include "images/sampled_names.h"
#include "images/trim.h"
#include "tuning.h"

#include <hpcprof/base/text.h>
#include <hpcprof/base/vector.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Drains rings, so that none overflows while files are written. */
static void drain_meanwhile(void *context)
{
	recorder_drain(context, hp_clock_monotonic_ns() - ARRIVAL_NS);
}

struct hp_error *recorder_create(struct recorder *recorder,
				 const struct hp_session_options *options,
				 const struct hp_machine *machine, const struct hp_event *events,
				 const struct hp_rate *rates, struct hp_sampler *sampler)
{
	size_t count = options->events->count;
	struct hp_error *error;

	*recorder = (struct recorder){
		.options = options,
		.machine = machine,
		.events = events,
		.event_count = count,
		.rates = rates,
		.sampler = sampler,
		.start_ns = hp_clock_realtime_ns(),
		.busy_cpu = -1,
	};
	recorder->images = images_create();
	recorder->totals = calloc(count, sizeof(*recorder->totals));
	recorder->event_names = calloc(count, sizeof(*recorder->event_names));
	if (!recorder->images || !recorder->totals || !recorder->event_names ||
	    !sample_table_create(&recorder->table))
		return hp_error_create_no_memory();
	error = processes_create(&recorder->processes, recorder->images, options->per_thread,
				 options->per_cpu);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		uint64_t period = rates[i].period ? rates[i].period : 1;

		recorder->event_names[i] = events[i].name;
		recorder->totals[i].stream =
			streams_number(&recorder->streams, (uint32_t)i, period);
		if (recorder->totals[i].stream == UINT32_MAX)
			return hp_error_create_no_memory();
	}
	error = attributor_create(&recorder->attributor, &recorder->processes, recorder->images,
				  &recorder->streams, recorder->event_names, count);
	if (error)
		return error;
	recorder->attributor.per_process = options->per_process || options->per_thread;
	recorder->attributor.meanwhile = drain_meanwhile;
	recorder->attributor.meanwhile_context = recorder;
	if (options->call_paths != HP_CALL_PATHS_NONE)
		error = call_paths_create(options->call_paths, &recorder->attributor,
					  &recorder->call_paths);
	if (!error && recorder->call_paths && sampler->stack_count > 1)
		call_paths_offer_stacks(recorder->call_paths, sampler->stack_bytes,
					sampler->stack_count, sampler->stack);
	/* Records of calls only do not tell what was executed between them. */
	if (!error && !options->no_registers && options->call_paths != HP_CALL_PATHS_LBR &&
	    (sampler->rings.layout.registers || sampler->rings.layout.branches))
		error = outcomes_create(recorder->start_ns, &recorder->outcomes);
	if (!error && sampler->rings.layout.branches && options->call_paths != HP_CALL_PATHS_LBR)
		error = ranges_create(recorder->start_ns, &recorder->ranges);
	return error;
}

void recorder_clear(struct recorder *recorder)
{
	windows_clear(&recorder->windows);
	call_paths_destroy(recorder->call_paths);
	attributor_clear(&recorder->attributor);
	processes_clear(&recorder->processes);
	sample_table_clear(&recorder->table);
	hp_vector_free(&recorder->streams);
	probes_destroy(recorder->probes);
	outcomes_destroy(recorder->outcomes);
	ranges_destroy(recorder->ranges);
	images_destroy(recorder->images);
	free(recorder->totals);
	free(recorder->event_names);
	for (size_t i = 0; i < recorder->warning_count; i++)
		free(recorder->warnings[i]);
	hp_skid_entries_clear(&recorder->skids);
	hp_clock_meter_destroy(recorder->meter);
	hp_clock_clear(&recorder->clock);
	hp_epoch_meta_clear(&recorder->meta);
	*recorder = (struct recorder){ 0 };
}

void recorder_warn(struct recorder *recorder, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (text && recorder->warning_count < HP_ARRAY_COUNT(recorder->warnings))
		recorder->warnings[recorder->warning_count++] = text;
	else
		free(text);
}

/* The event that measures CPU time without interruption. */
static size_t find_time_event(const struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->event_count; i++) {
		enum hp_unit unit = recorder->events[i].unit;

		if ((unit == HP_UNIT_NS || unit == HP_UNIT_CYCLES) &&
		    !recorder->events[i].exclude_user)
			return i;
	}
	return recorder->event_count;
}

void recorder_expect_windows(struct recorder *recorder)
{
	if (recorder->windows.is_on)
		return;
	windows_create(&recorder->windows, &recorder->attributor, recorder->start_ns);
	recorder->time_event = find_time_event(recorder);
}

/* --- taking records --------------------------------------------------------------------------- */

static void attribute_overflow(struct recorder *recorder)
{
	attribute(&recorder->attributor, recorder->table.overflow, recorder->table.overflow_count);
	recorder->table.overflow_count = 0;
}

/* No sample waits in any context now, so retired contexts can be freed. */
void recorder_attribute(struct recorder *recorder)
{
	while (!sample_table_drain(&recorder->table))
		attribute_overflow(recorder);
	attribute_overflow(recorder);
	processes_reap(&recorder->processes);
	if (recorder->call_paths)
		call_paths_forget_contexts(recorder->call_paths);
	/* Retired spaces held images. Those with samples are still referenced by placed samples. */
	images_sweep(recorder->images);
}

void recorder_prepare(struct recorder *recorder)
{
	if (recorder->has_kernel)
		kernel_prepare(&recorder->attributor.kernel);
}

static void notice_beginning(void *context, struct image *image, uint64_t offset)
{
	probes_notice(context, image, offset);
}

struct hp_error *recorder_begin_probes(struct recorder *recorder, double budget)
{
	struct hp_error *error;

	if (!recorder->outcomes)
		return hp_error_advise(
			hp_error_create(HP_ERROR_NOT_PERMITTED,
					"probes need samples of time with registers"),
			"leave out --no-registers; with -e, also name cpu-clock");
	error = probes_create(recorder->start_ns, budget, &recorder->probes);
	if (error)
		return error;
	outcomes_tell(recorder->outcomes, notice_beginning, recorder->probes);
	/* Probes count within known times; scaling them to the whole needs the time of all
	 * commands. */
	recorder_expect_windows(recorder);
	return NULL;
}

/* Nanoseconds per unit of the event that measures time; 0: unknown. */
static double unit_ns(const struct recorder *recorder)
{
	double hz;

	if (recorder->time_event == recorder->event_count)
		return 0;
	if (recorder->events[recorder->time_event].unit == HP_UNIT_NS)
		return 1;
	hz = hp_clock_percentile(&recorder->clock, 50);
	return hz > 0 ? 1e9 / hz : 0;
}

/* Adds CPU time in user code by command, which windows are a share of. */
static void take_time(struct recorder *recorder, const struct hp_record *record, size_t event,
		      uint32_t context, double units, uint64_t count)
{
	const struct window_tick tick = {
		.time_ns = record->time_ns,
		.address = record->sample.address,
		.tid = record->tid,
		.count = (uint32_t)count,
	};

	if (event != recorder->time_event || !context || record->sample.address >> 63)
		return;
	windows_add_time(&recorder->windows, recorder->processes.contexts[context].command, units);
	windows_add_tick(&recorder->windows, &tick);
	if (recorder->probes)
		probes_sample(recorder->probes, &recorder->processes.contexts[context], record->tid,
			      record->sample.address, units * unit_ns(recorder));
}

/* Whether samples are distributed like time or instructions. Samples of other events lie where
 * branches behave differently. */
bool recorder_is_of_time(const struct hp_event *event)
{
	return event->unit == HP_UNIT_NS || event->unit == HP_UNIT_CYCLES ||
	       event->unit == HP_UNIT_INSTRUCTIONS;
}

/* The sample does not count; its stack tells how paths of other samples continue. */
static void take_deep(struct recorder *recorder, const struct hp_record *record)
{
	uint32_t context = processes_context(&recorder->processes, record, recorder->busy_cpu,
					     recorder->totals[0].stream, 0);

	if (context && recorder->call_paths)
		call_paths_learn(recorder->call_paths, record, context);
}

static void take_sample(struct recorder *recorder, const struct hp_record *record)
{
	size_t event = hp_sampler_event_of(recorder->sampler, record);
	struct recorder_event *totals = &recorder->totals[event];
	const struct hp_rate *rate = &recorder->rates[event];
	uint32_t stream = totals->stream;
	uint64_t period = rate->period;
	uint64_t count = 1;
	uint32_t context;

	recorder->busy_cpu = hp_sampler_cpu(recorder->sampler);
	if (hp_sampler_is_deep(recorder->sampler, record)) {
		take_deep(recorder, record);
		return;
	}
	recorder->has_kernel |= record->sample.address >> 63;
	if (rate->kernel_frequency) {
		period = record->sample.period;
		stream = streams_number(&recorder->streams, (uint32_t)event,
					hp_rate_period_class(period));
	} else if (recorder->sampler->rings.layout.period) {
		count = hp_rate_count(rate, record->sample.period, &recorder->sampler->random);
	}
	context = stream == UINT32_MAX ? 0
				       : processes_context(&recorder->processes, record,
							   recorder->busy_cpu, stream, count);
	if (context && recorder->outcomes && recorder_is_of_time(&recorder->events[event]))
		outcomes_follow(recorder->outcomes, record, &recorder->processes.contexts[context]);
	if (context && recorder->call_paths)
		call_paths_take(recorder->call_paths, record, context, count);
	/* Frequencies come from samples that are distributed evenly in time. */
	if (context && recorder->ranges && recorder->events[event].unit == HP_UNIT_CYCLES &&
	    record->cpu_mode == PERF_RECORD_MISC_USER)
		ranges_take(recorder->ranges, record, count * period,
			    &recorder->processes.contexts[context]);
	totals->samples += count;
	totals->period_total += count * period;
	take_time(recorder, record, event, context, (double)count * (double)period, count);
	if (!context)
		recorder->attributor.dropped[event] += count;
	for (; context && count; count--) {
		if (sample_table_add(&recorder->table, context, record->sample.address))
			attribute_overflow(recorder);
	}
}

void recorder_take(struct recorder *recorder, const struct hp_record *record)
{
	/* If memory is short for a map change, its samples get an unknown image, and are reported
	 * so. */
	switch (record->kind) {
	case HP_RECORD_SAMPLE:
		take_sample(recorder, record);
		break;
	case HP_RECORD_MMAP:
		(void)processes_map(&recorder->processes, record);
		break;
	case HP_RECORD_COMM:
		(void)processes_comm(&recorder->processes, record);
		break;
	case HP_RECORD_FORK:
		(void)processes_fork(&recorder->processes, record);
		break;
	case HP_RECORD_EXIT:
		processes_exit(&recorder->processes, record);
		break;
	case HP_RECORD_LOST:
		recorder->totals[hp_sampler_event_of(recorder->sampler, record)].lost +=
			record->lost;
		break;
	case HP_RECORD_THROTTLE:
		recorder->totals[hp_sampler_event_of(recorder->sampler, record)].throttled++;
		break;
	case HP_RECORD_OTHER:
		break;
	}
}

void recorder_drain(struct recorder *recorder, uint64_t horizon_ns)
{
	struct hp_ring_set *rings = &recorder->sampler->rings;
	struct hp_record record;

	hp_ring_set_begin(rings, horizon_ns);
	while (hp_ring_set_next(rings, &record))
		recorder_take(recorder, &record);
	hp_ring_set_end(rings);
	if (recorder->call_paths && recorder->sampler->stack_count > 1)
		hp_sampler_copy_stack(recorder->sampler,
				      call_paths_choose_stack(recorder->call_paths, horizon_ns));
	windows_place(&recorder->windows, horizon_ns);
	if (recorder->processes.retired > RETIRED_LIMIT)
		recorder_attribute(recorder);
}

static void note_reading(struct recorder *recorder, const struct hp_clock_reading *reading)
{
	hp_clock_note(&recorder->clock, reading->hz);
	if (reading->sharing == HP_SHARING_UNKNOWN)
		return;
	__atomic_store_n(&recorder->core_is_shared, reading->sharing == HP_CORE_SHARED,
			 __ATOMIC_RELAXED);
	hp_clock_note_sharing(&recorder->clock, reading->sharing == HP_CORE_SHARED);
}

void recorder_meter_clock(struct recorder *recorder, bool at_end)
{
	bool at_start = !recorder->clock.class_count;
	struct hp_clock_reading reading = hp_clock_meter_take(recorder->meter);

	note_reading(recorder, &reading);
	if (recorder->busy_cpu >= 0)
		hp_clock_meter_ask(recorder->meter, recorder->busy_cpu);
	reading = at_end ? hp_clock_meter_wait(recorder->meter) : (struct hp_clock_reading){ 0 };
	if (reading.hz <= 0 &&
	    (at_start || at_end || (!recorder->meter && recorder->busy_cpu >= 0)))
		reading.hz = hp_clock_measure();
	note_reading(recorder, &reading);
	recorder->busy_cpu = -1;
}

static bool are_branches_full(const struct recorder *recorder)
{
	return (recorder->outcomes && outcomes_is_full(recorder->outcomes)) ||
	       (recorder->ranges && ranges_is_full(recorder->ranges));
}

bool recorder_is_full(struct recorder *recorder)
{
	return attributor_is_full(&recorder->attributor) || windows_are_full(&recorder->windows) ||
	       are_branches_full(recorder);
}

/* --- writing ---------------------------------------------------------------------------------- */

static struct hp_error *keep_sampled(struct recorder *recorder)
{
	const struct sampled_source source = {
		.writer = recorder->writer,
		.events = recorder->event_names,
		.event_count = recorder->event_count,
		.held = images_held_files(recorder->images),
		.no_code = recorder->options->no_code,
	};

	return sampled_names_keep(&source);
}

/* Each write reads, extends and writes all that the epoch has, so the longer that takes, the less
 * often it is done. */
static uint64_t due_after(uint64_t begin_ns)
{
	return begin_ns + SUMS_PART * (hp_clock_monotonic_ns() - begin_ns);
}

static struct hp_error *write_paths_if_due(struct recorder *recorder, bool complete)
{
	uint64_t begin_ns = hp_clock_monotonic_ns();
	struct hp_error *error;

	if (!recorder->call_paths || (!complete && begin_ns < recorder->paths_due_ns))
		return NULL;
	error = call_paths_write(recorder->call_paths, recorder->writer);
	recorder->paths_due_ns = due_after(begin_ns);
	return error;
}

static struct hp_error *write_branches_if_due(struct recorder *recorder, bool complete)
{
	const struct names *commands = &recorder->processes.commands;
	uint64_t begin_ns = hp_clock_monotonic_ns();
	struct hp_error *error = NULL;

	if (!complete && begin_ns < recorder->branches_due_ns && !are_branches_full(recorder))
		return NULL;
	if (recorder->outcomes)
		error = outcomes_write(recorder->outcomes, commands, recorder->writer);
	if (!error && recorder->ranges)
		error = ranges_write(recorder->ranges, commands, recorder->writer);
	recorder->branches_due_ns = due_after(begin_ns);
	return error;
}

/* Files are read as a whole next. Memory that only samples need is freed, so that both are not
 * needed at the same time. */
static void make_room(struct recorder *recorder)
{
	if (recorder->call_paths)
		call_paths_end(recorder->call_paths);
	kernel_clear(&recorder->attributor.kernel);
	outcomes_destroy(recorder->outcomes);
	recorder->outcomes = NULL;
	trim_memory();
}

static struct hp_error *write_evidence(struct recorder *recorder, bool complete)
{
	struct hp_error *error = NULL;

	if (recorder->windows.is_on)
		error = windows_write(&recorder->windows, recorder->writer, unit_ns(recorder));
	drain_meanwhile(recorder);
	if (!error)
		error = write_paths_if_due(recorder, complete);
	drain_meanwhile(recorder);
	if (!error)
		error = write_branches_if_due(recorder, complete);
	if (!error && recorder->probes) {
		if (complete)
			probes_finish(recorder->probes);
		error = probes_write(recorder->probes, &recorder->processes.commands,
				     recorder->writer);
	}
	return error;
}

static struct hp_error *write_all(struct recorder *recorder, bool complete)
{
	struct hp_error *error = attributor_write(&recorder->attributor, recorder->writer);

	if (!error)
		error = write_evidence(recorder, complete);
	if (!error)
		error = attributor_write_names(&recorder->attributor, recorder->writer);
	return error;
}

/* If names cannot be kept, the samples are still worth finishing. */
static struct hp_error *try_to_keep_sampled(struct recorder *recorder, struct hp_epoch_meta *meta)
{
	const struct hp_session_options *options = recorder->options;
	struct hp_error *refusal = keep_sampled(recorder);
	_cleanup_free_ char *text = NULL;

	if (!refusal)
		return NULL;
	if (asprintf(&text,
		     "some names and code are not in the epoch, so reports need the programs' "
		     "files: %s",
		     refusal->message) < 0)
		text = NULL;
	hp_error_destroy(refusal);
	if (!text)
		return hp_error_create_no_memory();
	if (options->notify)
		options->notify(text, options->notify_context);
	return hp_epoch_meta_warn(meta, text);
}

/* Samples taken while files are written belong to the next flush. */
struct hp_error *recorder_flush(struct recorder *recorder, bool complete)
{
	struct hp_epoch_meta meta = { 0 };
	struct hp_error *error;

	recorder_attribute(recorder);
	error = recorder_describe(recorder, complete, &meta);
	if (!error)
		error = write_all(recorder, complete);
	if (!error && complete) {
		make_room(recorder);
		error = try_to_keep_sampled(recorder, &meta);
	}
	if (!error)
		error = hp_epoch_writer_commit(recorder->writer, &meta);
	if (error) {
		hp_epoch_meta_clear(&meta);
		return error;
	}
	hp_epoch_meta_clear(&recorder->meta);
	recorder->meta = meta;
	images_sweep(recorder->images);
	return NULL;
}
