/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process.h"

#include "mapped.h"
#include "proc_files.h"
#include "proc_maps.h"
#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/hash.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct lane_key {
	uint32_t stream;
	uint32_t lane;
};

struct lane_context {
	UT_hash_handle hh;
	struct lane_key key;
	uint32_t number;
};

struct process {
	UT_hash_handle hh;
	uint32_t pid;
	uint32_t command;
	uint32_t threads;
	struct space *space;
	uint32_t *contexts; /* by stream, for lane 0; 0: none yet */
	size_t context_capacity;
	struct lane_context *lane_contexts; /* hash table of those for other lanes */
	uint64_t first_seen_ns;
	uint64_t samples;
	bool missing;	     /* it did not exist at the last reap */
	bool awaits_mapping; /* no mapping of its new program was seen yet */
	bool has_ended;	     /* and its times were added */
};

struct hp_error *processes_create(struct processes *processes, struct images *images,
				  bool per_thread, bool per_cpu)
{
	*processes = (struct processes){ .images = images, .context_count = 1 };
	if (names_create(&processes->commands) &&
	    lanes_create(&processes->lanes, &processes->commands, per_thread, per_cpu) &&
	    hp_grow((void **)&processes->contexts, &processes->context_capacity, 64,
		    sizeof(*processes->contexts)))
		return NULL;
	processes_clear(processes);
	return hp_error_create_no_memory();
}

/* --- contexts ----------------------------------------------------------------------------- */

static void free_context(struct processes *processes, uint32_t number)
{
	struct context *context = &processes->contexts[number];

	space_release(context->space);
	*context = (struct context){ 0 };
	/* The array has room since the slot was created. */
	processes->free_contexts[processes->free_count++] = number;
}

static void forget_lane_contexts(struct process *process)
{
	struct lane_context *context, *next;

	HASH_ITER(hh, process->lane_contexts, context, next)
	{
		HASH_DEL(process->lane_contexts, context);
		free(context);
	}
}

/* After a change that new samples must not share with old ones. */
static void retire_contexts(struct processes *processes, struct process *process)
{
	for (size_t i = 0; i < process->context_capacity; i++) {
		if (!process->contexts[i])
			continue;
		processes->contexts[process->contexts[i]].retired = true;
		processes->retired++;
		process->contexts[i] = 0;
	}
	for (const struct lane_context *context = process->lane_contexts; context;
	     context = context->hh.next) {
		processes->contexts[context->number].retired = true;
		processes->retired++;
	}
	forget_lane_contexts(process);
}

static uint32_t new_context_slot(struct processes *processes)
{
	if (processes->free_count)
		return processes->free_contexts[--processes->free_count];
	if (!hp_grow((void **)&processes->contexts, &processes->context_capacity,
		     processes->context_count + 1, sizeof(*processes->contexts)) ||
	    !hp_grow((void **)&processes->free_contexts, &processes->free_capacity,
		     processes->context_count + 1, sizeof(*processes->free_contexts)))
		return 0;
	return (uint32_t)processes->context_count++;
}

static uint32_t begin_context(struct processes *processes, const struct process *process,
			      uint32_t stream, uint32_t lane)
{
	uint32_t number = new_context_slot(processes);

	if (number)
		processes->contexts[number] = (struct context){
			.space = space_hold(process->space),
			.command = process->command,
			.pid = process->pid,
			.stream = stream,
			.lane = lane,
		};
	return number;
}

static uint32_t create_context(struct processes *processes, struct process *process,
			       uint32_t stream)
{
	size_t known = process->context_capacity;

	if (!hp_grow((void **)&process->contexts, &process->context_capacity, stream + 1,
		     sizeof(*process->contexts)))
		return 0;
	memset(process->contexts + known, 0,
	       (process->context_capacity - known) * sizeof(*process->contexts));
	process->contexts[stream] = begin_context(processes, process, stream, 0);
	return process->contexts[stream];
}

static uint32_t lane_context(struct processes *processes, struct process *process,
			     const struct lane_key *key)
{
	struct lane_context *context;

	HASH_FIND(hh, process->lane_contexts, key, sizeof(*key), context);
	if (context)
		return context->number;
	context = calloc(1, sizeof(*context));
	if (!context)
		return 0;
	context->key = *key;
	HASH_ADD(hh, process->lane_contexts, key, sizeof(context->key), context);
	if (!context->hh.tbl) {
		free(context);
		return 0;
	}
	context->number = begin_context(processes, process, key->stream, key->lane);
	if (context->number)
		return context->number;
	HASH_DEL(process->lane_contexts, context);
	free(context);
	return 0;
}

/* --- processes ---------------------------------------------------------------------------- */

static struct process *find(struct processes *processes, uint32_t pid)
{
	struct process *process = processes->latest;

	if (process && process->pid == pid)
		return process;
	HASH_FIND(hh, processes->by_pid, &pid, sizeof(pid), process);
	if (process)
		processes->latest = process;
	return process;
}

/* For news of the process. One that has ended does not count, since its number may be reused. */
static void drop(struct processes *processes, struct process *process);

static struct process *find_running(struct processes *processes, uint32_t pid)
{
	struct process *process = find(processes, pid);

	if (!process || !process->has_ended)
		return process;
	drop(processes, process);
	return NULL;
}

/* Keeps what the process is before it changes. */
static void remember(struct processes *processes, const struct process *process, uint64_t now_ns)
{
	struct past *past = &processes->past[processes->past_count % PAST_LIMIT];

	if (!processes->keeps_past)
		return;
	space_release(past->space);
	*past = (struct past){
		.space = space_hold(process->space),
		.command = process->command,
		.pid = process->pid,
		.until_ns = now_ns,
	};
	processes->past_count++;
}

static void process_free(struct processes *processes, struct process *process)
{
	if (processes->latest == process)
		processes->latest = NULL;
	if (process->space && !process->has_ended)
		process->space->processes--;
	space_release(process->space);
	forget_lane_contexts(process);
	free(process->contexts);
	free(process);
}

/* Creates a process with `space`, a reference that is taken over. */
static struct process *create(struct processes *processes, uint32_t pid, struct space *space,
			      uint32_t command, uint64_t now_ns)
{
	struct process *process = space ? calloc(1, sizeof(*process)) : NULL;

	if (!process) {
		space_release(space);
		return NULL;
	}
	process->pid = pid;
	process->space = space;
	process->command = command;
	process->threads = 1;
	process->first_seen_ns = now_ns;
	space->processes++;
	HASH_ADD(hh, processes->by_pid, pid, sizeof(process->pid), process);
	if (!process->hh.tbl) {
		process_free(processes, process);
		return NULL;
	}
	processes->count++;
	return process;
}

static struct command_times *times_of(struct processes *processes, uint32_t command)
{
	size_t known = processes->times_capacity;

	if (!hp_grow((void **)&processes->times, &processes->times_capacity, command + 1,
		     sizeof(*processes->times)))
		return NULL;
	memset(processes->times + known, 0,
	       (processes->times_capacity - known) * sizeof(*processes->times));
	return &processes->times[command];
}

static void add_times(struct command_times *times, const struct process *process, uint64_t now_ns)
{
	times->processes++;
	times->samples += process->samples;
	if (now_ns > process->first_seen_ns)
		times->elapsed_ns += now_ns - process->first_seen_ns;
}

/* The process has ended: adds its times, and leaves its contexts to the next reap. */
static void book_end(struct processes *processes, struct process *process, uint64_t now_ns)
{
	struct command_times *times = times_of(processes, process->command);

	if (times)
		add_times(times, process, now_ns);
	remember(processes, process, now_ns);
	retire_contexts(processes, process);
}

static void drop(struct processes *processes, struct process *process)
{
	for (size_t i = 0; process->has_ended && i < ENDED_LIMIT; i++)
		if (processes->ended[i] == process)
			processes->ended[i] = NULL;
	retire_contexts(processes, process);
	HASH_DEL(processes->by_pid, process);
	processes->count--;
	process_free(processes, process);
}

static void end(struct processes *processes, struct process *process, uint64_t now_ns)
{
	book_end(processes, process, now_ns);
	drop(processes, process);
}

/* The kernel reports an end before it dismantles the process, which is also sampled, so the process
 * is kept for a while. */
static void end_soon(struct processes *processes, struct process *process, uint64_t now_ns)
{
	struct process **place = &processes->ended[processes->ended_count++ % ENDED_LIMIT];

	book_end(processes, process, now_ns);
	if (*place)
		drop(processes, *place);
	process->space->processes--;
	process->has_ended = true;
	*place = process;
}

void processes_clear(struct processes *processes)
{
	struct process *process, *next;

	HASH_ITER(hh, processes->by_pid, process, next)
	{
		HASH_DEL(processes->by_pid, process);
		process_free(processes, process);
	}
	for (size_t i = 1; i < processes->context_count; i++)
		space_release(processes->contexts[i].space);
	for (size_t i = 0; i < PAST_LIMIT; i++)
		space_release(processes->past[i].space);
	free(processes->contexts);
	free(processes->free_contexts);
	free(processes->times);
	lanes_clear(&processes->lanes);
	names_clear(&processes->commands);
	*processes = (struct processes){ 0 };
}

/* --- looking a process up in /proc ------------------------------------------------------------ */

struct adoption {
	struct processes *processes;
	struct process *process;
	uint64_t now_ns;
};

static bool map(struct processes *processes, struct process *process,
		const struct hp_record_mmap *mapping, uint64_t now_ns);

static bool adopt_mapping(const struct hp_record_mmap *mapping, void *context)
{
	const struct adoption *adoption = context;

	return map(adoption->processes, adoption->process, mapping, adoption->now_ns);
}

static struct process *adopt(struct processes *processes, uint32_t pid, uint64_t now_ns)
{
	_cleanup_free_ char *comm = processes->are_past ? NULL : proc_read_text(pid, "comm");
	_cleanup_free_ char *maps = processes->are_past ? NULL : proc_read_text(pid, "maps");
	struct adoption adoption = { .processes = processes, .now_ns = now_ns };

	if (comm)
		comm[strcspn(comm, "\n")] = 0;
	adoption.process = create(processes, pid, space_create(),
				  comm ? names_number(&processes->commands, comm) : 0, now_ns);
	if (!adoption.process)
		return NULL;
	if (!processes->are_past)
		adoption.process->threads = proc_count_threads(pid);
	if (maps)
		proc_maps_parse(maps, adopt_mapping, &adoption);
	return adoption.process;
}

bool processes_adopt(struct processes *processes, uint32_t pid, uint64_t now_ns)
{
	return find_running(processes, pid) || adopt(processes, pid, now_ns);
}

static struct process *find_or_adopt(struct processes *processes, uint32_t pid, uint64_t now_ns)
{
	struct process *process = find_running(processes, pid);

	return process ? process : adopt(processes, pid, now_ns);
}

/* --- map changes ----------------------------------------------------------------------------- */

static bool map(struct processes *processes, struct process *process,
		const struct hp_record_mmap *mapping, uint64_t now_ns)
{
	struct mapping added = {
		.start = mapping->start,
		.end = mapping->start + mapping->size,
		.offset = mapping->file_offset,
	};
	const struct process before = *process;

	process->awaits_mapping = false;
	if (added.end <= added.start)
		return true;
	if (!mapped_image(processes->images, processes->are_past ? 0 : process->pid, mapping,
			  &added.image))
		return false;
	if (added.image && added.image->id.kind == HP_IMAGE_VDSO)
		added.offset = 0;
	space_hold(before.space);
	if (!space_map(&process->space, &added)) {
		space_release(before.space);
		return false;
	}
	if (process->space != before.space) {
		remember(processes, &before, now_ns);
		retire_contexts(processes, process);
	}
	space_release(before.space);
	return true;
}

bool processes_map(struct processes *processes, const struct hp_record *record)
{
	struct process *process;

	/* The kernel's text, announced as a mapping of no process. */
	if (record->pid == UINT32_MAX)
		return true;
	process = find_or_adopt(processes, record->pid, record->time_ns);
	return process && map(processes, process, &record->mmap, record->time_ns);
}

bool processes_comm(struct processes *processes, const struct hp_record *record)
{
	struct process *process = find_or_adopt(processes, record->pid, record->time_ns);
	struct space *fresh;

	if (!process)
		return false;
	lanes_name(&processes->lanes, record->tid, record->comm.name);
	/* The name of another thread is not that of the process. */
	if (record->tid != record->pid && !record->comm.exec)
		return true;
	remember(processes, process, record->time_ns);
	if (record->comm.exec) {
		struct command_times *times = times_of(processes, process->command);

		/* It counts as two processes: the copy of the parent, and the program that it
		 * became. */
		if (times && process->samples)
			add_times(times, process, record->time_ns);
		fresh = space_create();
		if (!fresh)
			return false;
		process->space->processes--;
		space_release(process->space);
		process->space = fresh;
		fresh->processes = 1;
		process->threads = 1;
		process->samples = 0;
		process->awaits_mapping = true;
		process->first_seen_ns = record->time_ns;
	}
	process->command = names_number(&processes->commands, record->comm.name);
	retire_contexts(processes, process);
	return true;
}

bool processes_fork(struct processes *processes, const struct hp_record *record)
{
	struct process *parent = find_or_adopt(processes, record->fork.parent_pid, record->time_ns);
	struct process *stale;

	if (!parent)
		return false;
	lanes_inherit(&processes->lanes, record->fork.parent_tid, record->tid);
	if (record->pid == record->fork.parent_pid) {
		parent->threads++;
		return true;
	}
	/* If the number is in use, the record of its last owner's end was lost. */
	stale = find_running(processes, record->pid);
	if (stale)
		end(processes, stale, record->time_ns);
	return create(processes, record->pid, space_hold(parent->space), parent->command,
		      record->time_ns);
}

void processes_exit(struct processes *processes, const struct hp_record *record)
{
	struct process *process = find_running(processes, record->pid);

	lanes_end(&processes->lanes, record->tid);
	if (!process)
		return;
	if (process->threads > 1) {
		process->threads--;
		return;
	}
	/* Each exec maps something at once. If that was not seen, the kernel has ended our
	 * events. */
	if (process->awaits_mapping && !process->samples) {
		processes->hidden.count++;
		processes->hidden.command = process->command;
	}
	end_soon(processes, process, record->time_ns);
}

/* Adds samples of a process that has ended to its command's times. */
static void add_samples(struct processes *processes, struct process *process, uint64_t samples)
{
	process->samples += samples;
	if (process->has_ended && times_of(processes, process->command))
		processes->times[process->command].samples += samples;
}

uint32_t processes_context(struct processes *processes, const struct hp_record *record, int cpu,
			   uint32_t stream, uint64_t samples)
{
	struct process *process = find(processes, record->pid);
	struct lane_key key = { .stream = stream };

	if (!process)
		process = adopt(processes, record->pid, record->time_ns);
	if (!process)
		return 0;
	add_samples(processes, process, samples);
	key.lane = lanes_number(&processes->lanes, record->pid, record->tid, cpu);
	if (key.lane)
		return lane_context(processes, process, &key);
	if (stream < process->context_capacity && process->contexts[stream])
		return process->contexts[stream];
	return create_context(processes, process, stream);
}

bool processes_at(struct processes *processes, uint32_t pid, uint64_t time_ns,
		  struct context *context)
{
	const struct past *found = NULL;
	const struct process *now;

	for (size_t i = 0; i < PAST_LIMIT; i++) {
		const struct past *past = &processes->past[i];

		if (past->space && past->pid == pid && past->until_ns > time_ns &&
		    (!found || past->until_ns < found->until_ns))
			found = past;
	}
	now = found ? NULL : find(processes, pid);
	if (!found && (!now || now->has_ended))
		return false;
	*context = (struct context){
		.space = space_hold(found ? found->space : now->space),
		.command = found ? found->command : now->command,
		.pid = pid,
	};
	return true;
}

/* --- reaping --------------------------------------------------------------------------------- */

static bool is_gone(const struct process *process)
{
	return process->pid && kill((pid_t)process->pid, 0) < 0 && errno == ESRCH;
}

void processes_reap(struct processes *processes)
{
	struct process *process, *next;

	/* A process must be missing twice: at the first time, its last samples may still be in a
	 * ring. */
	HASH_ITER(hh, processes->by_pid, process, next)
	{
		bool gone = !processes->are_past && !process->has_ended && is_gone(process);

		if (process->has_ended)
			retire_contexts(processes, process);
		if (gone && process->missing)
			end(processes, process, process->first_seen_ns);
		else
			process->missing = gone;
	}
	for (uint32_t i = 1; i < processes->context_count; i++) {
		if (processes->contexts[i].retired)
			free_context(processes, i);
	}
	processes->retired = 0;
}

struct command_times processes_times(const struct processes *processes, uint32_t command,
				     uint64_t now_ns)
{
	struct command_times times = { 0 };

	if (command < processes->times_capacity)
		times = processes->times[command];
	for (const struct process *process = processes->by_pid; process;
	     process = process->hh.next) {
		if (process->command != command || process->has_ended)
			continue;
		add_times(&times, process, now_ns);
		if (is_gone(process))
			continue;
		times.running++;
		times.running_pid = process->pid;
	}
	return times;
}
