/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder.h"

#include "tuning.h"

#include <hpcprof/base/file.h>
#include <hpcprof/collect/import.h>
#include <hpcprof/pmu/registers.h>
#include <hpcprof/sample/perf_file.h>
#include <hpcprof/unwind/table.h>

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct import {
	const struct hp_import_options *options;
	uint8_t *bytes; /* of the file */
	size_t size;
	struct hp_perf_file file;
	/* by event of the file: its number here; SIZE_MAX for events without samples */
	size_t *event_of;
	struct hp_event_list events;
	struct hp_rate *rates;
	struct hp_session_options session;
	struct hp_machine *machine;
	struct hp_sampler sampler;
	struct recorder recorder;
	struct hp_epoch_writer *writer;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t damaged;
};

/* --- what the file says ----------------------------------------------------------------------- */

static struct hp_error *read_all(struct import *import)
{
	struct hp_error *error = hp_file_read_fd(import->options->fd, IMPORT_MOST_BYTES,
						 &import->bytes, &import->size);

	return error ? error : hp_perf_file_read(import->bytes, import->size, &import->file);
}

static enum hp_unit unit_of(const struct hp_perf_event *event)
{
	if (event->type == PERF_TYPE_SOFTWARE &&
	    (event->config == PERF_COUNT_SW_CPU_CLOCK || event->config == PERF_COUNT_SW_TASK_CLOCK))
		return HP_UNIT_NS;
	if (event->type == PERF_TYPE_HARDWARE && event->config == PERF_COUNT_HW_CPU_CYCLES)
		return HP_UNIT_CYCLES;
	if (event->type == PERF_TYPE_HARDWARE && event->config == PERF_COUNT_HW_INSTRUCTIONS)
		return HP_UNIT_INSTRUCTIONS;
	return HP_UNIT_EVENTS;
}

static struct hp_error *add_event(struct import *import, const struct hp_perf_event *from)
{
	size_t number = import->events.count;

	import->events.events[number] = (struct hp_event){
		.name = strdup(from->name),
		.type = from->type,
		.config = from->config,
		.exclude_user = from->exclude_user,
		.exclude_kernel = from->exclude_kernel,
		.precise = from->precise,
		.unit = unit_of(from),
		.group = -1,
	};
	import->rates[number] = (struct hp_rate){
		.kernel_frequency = !from->period,
		.frequency_hz = from->frequency_hz,
		.period = from->period,
	};
	import->events.count++;
	return import->events.events[number].name ? NULL : hp_error_create_no_memory();
}

/* Finds which events have samples, and the time of the last one. */
static uint64_t look_at_samples(struct import *import)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < import->file.records.count; i++) {
		struct hp_record record;
		size_t event;

		if (!hp_perf_file_record(&import->file, i, &record, &event) ||
		    record.kind != HP_RECORD_SAMPLE)
			continue;
		import->event_of[event] = 0;
		if (!samples++)
			import->first_ns = record.time_ns;
		import->last_ns = record.time_ns;
	}
	return samples;
}

static struct hp_error *choose_events(struct import *import)
{
	size_t count = import->file.events.count;
	struct hp_error *error = NULL;

	import->event_of = calloc(count, sizeof(*import->event_of));
	import->events.events = calloc(count, sizeof(*import->events.events));
	import->rates = calloc(count, sizeof(*import->rates));
	if (!import->event_of || !import->events.events || !import->rates)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		import->event_of[i] = SIZE_MAX;
	if (!look_at_samples(import))
		return hp_error_create(HP_ERROR_INSUFFICIENT, "the file has no samples");
	for (size_t i = 0; i < count && !error; i++) {
		if (import->event_of[i] == SIZE_MAX)
			continue;
		import->event_of[i] = import->events.count;
		error = add_event(import, &import->file.events.at[i]);
	}
	return error;
}

/* --- as a recording --------------------------------------------------------------------------- */

static void replace(char **text, char **with)
{
	if (!*with)
		return;
	free(*text);
	*text = *with;
	*with = NULL;
}

/* Describes the machine that recorded, as far as the file tells. */
static struct hp_error *describe_machine(struct import *import)
{
	struct hp_error *error = hp_machine_create(&import->machine);

	if (error)
		return error;
	replace(&import->machine->host, &import->file.host);
	replace(&import->machine->kernel, &import->file.kernel);
	replace(&import->machine->architecture, &import->file.architecture);
	if (import->file.cpu_model && import->machine->cpu_model &&
	    strcmp(import->file.cpu_model, import->machine->cpu_model) != 0)
		hp_cpu_clear(&import->machine->cpu);
	replace(&import->machine->cpu_model, &import->file.cpu_model);
	if (import->file.cpus)
		import->machine->cpus = import->file.cpus;
	return NULL;
}

static bool has_our_registers(const struct hp_record_layout *layout)
{
	uint64_t ours = hp_sampled_registers();

	return ours && (layout->registers & ours) == ours && layout->stack_bytes;
}

static enum hp_call_paths choose_paths(const struct hp_record_layout *layout)
{
	if (has_our_registers(layout) && hp_unwind_is_offered())
		return HP_CALL_PATHS_CFI;
	return layout->callchain ? HP_CALL_PATHS_FP : HP_CALL_PATHS_NONE;
}

/* The layout of the first event with samples; perf gives all events the same. */
static const struct hp_record_layout *layout_of(const struct import *import)
{
	for (size_t i = 0; i < import->file.events.count; i++)
		if (import->event_of[i] != SIZE_MAX)
			return &import->file.events.at[i].layout;
	return &import->file.events.at[0].layout;
}

static struct hp_error *begin(struct import *import)
{
	const struct hp_import_options *options = import->options;
	const struct hp_record_layout *layout = layout_of(import);
	struct hp_error *error = describe_machine(import);

	import->session = (struct hp_session_options){
		.events = &import->events,
		.imported = true,
		.command = import->file.command_line,
		.per_process = options->per_process,
		.no_code = options->no_code,
		.no_registers = true,
		.db = options->db,
		.label = options->label,
		.call_paths = choose_paths(layout),
	};
	if (!error)
		error = hp_sampler_replay(
			&import->sampler, &import->events, import->rates,
			(struct hp_record_layout){ .period = !import->rates[0].period });
	if (!error)
		error = hp_epoch_create(options->db, options->label, &import->writer);
	if (!error)
		error = recorder_create(&import->recorder, &import->session, import->machine,
					import->events.events, import->rates, &import->sampler);
	if (error)
		return error;
	import->recorder.writer = import->writer;
	import->recorder.processes.are_past = true;
	import->recorder.attributor.kernel.is_elsewhere = true;
	return NULL;
}

/* --- its records ------------------------------------------------------------------------------ */

/* Picks the registers that hpcprof itself records, in its order. */
static void pick_registers(uint64_t have, struct hp_record *record)
{
	uint64_t wanted = hp_sampled_registers();
	uint64_t picked[HP_RECORD_REGISTERS];
	unsigned count = 0;
	unsigned at = 0;

	if (!record->sample.register_count)
		return;
	for (unsigned i = 0; i < 64; i++) {
		if (!(have >> i & 1))
			continue;
		if (wanted >> i & 1)
			picked[count++] = record->sample.registers[at];
		at++;
	}
	memcpy(record->sample.registers, picked, count * sizeof(*picked));
	record->sample.register_count = count;
}

/* Either the kernel sent build-ids with mappings, or perf has added them afterwards. */
static void add_build_id(const struct import *import, struct hp_record_mmap *mapping)
{
	if (mapping->build_id.kind != HP_IDENTITY_NONE)
		return;
	for (size_t i = 0; i < import->file.build_ids.count; i++)
		if (strcmp(import->file.build_ids.at[i].path, mapping->path) == 0)
			mapping->build_id = import->file.build_ids.at[i].identity;
}

static bool is_guests(const struct hp_record *record)
{
	return record->cpu_mode == PERF_RECORD_MISC_HYPERVISOR ||
	       record->cpu_mode == PERF_RECORD_MISC_GUEST_KERNEL ||
	       record->cpu_mode == PERF_RECORD_MISC_GUEST_USER;
}

static void take(struct import *import, size_t number)
{
	struct hp_record record;
	size_t event;

	if (!hp_perf_file_record(&import->file, number, &record, &event)) {
		import->damaged++;
		return;
	}
	if (record.kind == HP_RECORD_SAMPLE) {
		if (is_guests(&record))
			return;
		pick_registers(import->file.events.at[event].layout.registers, &record);
	}
	if (record.kind == HP_RECORD_MMAP)
		add_build_id(import, &record.mmap);
	record.id = import->event_of[event] == SIZE_MAX ? 0 : import->event_of[event];
	hp_sampler_set_cpu(&import->sampler, (int)(record.cpu & INT32_MAX));
	recorder_take(&import->recorder, &record);
	if (import->recorder.processes.retired > RETIRED_LIMIT)
		recorder_attribute(&import->recorder);
}

/* perf's clock starts when the machine boots. The file was finished with its last record, so real
 * times are counted back from there. */
static void set_times(struct import *import)
{
	uint64_t taken_ns = import->last_ns - import->first_ns;
	uint64_t end_ns = hp_clock_realtime_ns();
	struct stat status;

	if (fstat(import->options->fd, &status) == 0 && S_ISREG(status.st_mode))
		end_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
			 (uint64_t)status.st_mtim.tv_nsec;
	import->recorder.end_ns = end_ns;
	import->recorder.start_ns = end_ns - (taken_ns < end_ns ? taken_ns : end_ns);
	import->recorder.last_ns = import->last_ns;
	for (size_t i = 0; i < import->events.count; i++)
		import->recorder.totals[i].enabled_ns = import->recorder.totals[i].running_ns =
			taken_ns;
}

static struct hp_error *take_all(struct import *import)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < import->file.records.count && !error; i++) {
		take(import, i);
		if (recorder_is_full(&import->recorder))
			error = recorder_flush(&import->recorder, false);
	}
	set_times(import);
	import->damaged += import->file.damaged;
	import->sampler.rings.damaged = import->damaged;
	if (import->file.is_truncated)
		recorder_warn(&import->recorder,
			      "perf record did not end properly: the rest of its file is missing");
	if (import->session.call_paths == HP_CALL_PATHS_FP)
		recorder_warn(
			&import->recorder,
			"call paths are the kernel's, by frame pointers: code without these is "
			"missing from them");
	return error ? error : recorder_flush(&import->recorder, true);
}

/* --- all -------------------------------------------------------------------------------------- */

static struct hp_error *give_out(const struct import *import, struct hp_import_result *result)
{
	const struct recorder *recorder = &import->recorder;

	*result = (struct hp_import_result){
		.damaged = import->damaged,
		.is_truncated = import->file.is_truncated,
		.are_chains = import->session.call_paths == HP_CALL_PATHS_FP,
		.images = recorder->attributor.images_written,
		.stamp = strdup(hp_epoch_writer_stamp(import->writer)),
	};
	for (size_t i = 0; i < import->events.count; i++) {
		result->samples += recorder->totals[i].samples;
		result->lost += recorder->totals[i].lost;
		result->unattributed += recorder->attributor.unattributed[i];
	}
	if (recorder->call_paths) {
		struct call_path_figures figures = call_paths_figures(recorder->call_paths);

		result->path_samples = figures.samples;
		result->path_whole = figures.whole;
	}
	return result->stamp ? NULL : hp_error_create_no_memory();
}

static void clear(struct import *import)
{
	recorder_clear(&import->recorder);
	hp_sampler_close(&import->sampler);
	hp_epoch_writer_destroy(import->writer);
	hp_machine_destroy(import->machine);
	for (size_t i = 0; i < import->events.count; i++)
		free(import->events.events[i].name);
	free(import->events.events);
	free(import->rates);
	free(import->event_of);
	hp_perf_file_clear(&import->file);
	free(import->bytes);
}

struct hp_error *hp_import_perf_data(const struct hp_import_options *options,
				     struct hp_import_result *result)
{
	struct import import = { .options = options };
	struct hp_error *error = read_all(&import);

	if (!error)
		error = choose_events(&import);
	if (!error)
		error = begin(&import);
	if (!error)
		error = take_all(&import);
	if (!error)
		error = give_out(&import, result);
	clear(&import);
	return error;
}
