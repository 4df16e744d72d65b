/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampled processes, and the contexts that their samples are counted under.
 *
 * A context is everything but the pc that distinguishes samples: process, its address space at that
 * time, command name, stream (event and period) and, where these are kept apart, thread and CPU.
 * Contexts have small numbers, for the sample table. When a process calls exec, maps over existing
 * code, or is renamed, it gets new contexts. The old ones are retired; they exist until the samples
 * under them have been attributed (processes_reap), and so do the address spaces of ended
 * processes.
 *
 * A process is remembered for a while after its end, because the kernel still samples its exit.
 *
 * Memory: live processes, and what was retired since the last processes_reap.
 */
#ifndef COLLECT_MAPS_PROCESS_H
#define COLLECT_MAPS_PROCESS_H

#include "lanes.h"
#include "names.h"
#include "space.h"
#include "../tuning.h"

#include <hpcprof/sample/record.h>

struct context {
	struct space *space; /* NULL: this slot is free */
	uint32_t command;    /* a name in processes.commands */
	uint32_t pid;
	uint32_t stream;
	uint32_t lane;
	bool retired;
};

struct process;

/* What a process was, up to a moment. */
struct past {
	struct space *space; /* a reference */
	uint32_t command;
	uint32_t pid;
	uint64_t until_ns;
};

/* Sums over the ended processes of one command, and the live ones when asked for. */
struct command_times {
	uint64_t processes;
	uint64_t samples;
	uint64_t elapsed_ns;
};

/* Processes whose programs the kernel does not show us: it ends the events of a process that
 * becomes a program of another user's rights, or one whose file it may not read. */
struct hidden {
	uint64_t count;
	uint32_t command; /* of the latest */
};

struct processes {
	struct process *by_pid; /* hash */
	size_t count;
	struct process *latest;		    /* of the sample before: most samples come in runs */
	struct process *ended[ENDED_LIMIT]; /* the latest of these, a ring; NULL: none */
	size_t ended_count;		    /* ever */
	struct images *images;		    /* borrowed */
	struct names commands;		    /* of threads too */
	struct lanes lanes;
	struct command_times *times; /* by command */
	size_t times_capacity;
	struct context *contexts; /* by number; 0 is never used */
	size_t context_count;
	size_t context_capacity;
	uint32_t *free_contexts;
	size_t free_count;
	size_t free_capacity;
	size_t retired;
	/* Of another time or machine: /proc is not read. */
	bool are_past;
	/* The latest of these, in a ring, if asked for: see processes_at. */
	bool keeps_past;
	struct past past[PAST_LIMIT];
	size_t past_count; /* ever */
	struct hidden hidden;
};

struct hp_error *processes_create(struct processes *processes, struct images *images,
				  bool per_thread, bool per_cpu);
void processes_clear(struct processes *processes);

/* The map changes. Each is total: a process not known yet is looked up in /proc. False when memory
 * is short; the change is then lost. */
bool processes_map(struct processes *processes, const struct hp_record *record);
bool processes_comm(struct processes *processes, const struct hp_record *record);
bool processes_fork(struct processes *processes, const struct hp_record *record);
void processes_exit(struct processes *processes, const struct hp_record *record);

/* Reads a running process's name, threads and maps from /proc, unless it is known already. */
bool processes_adopt(struct processes *processes, uint32_t pid, uint64_t now_ns);

/* The context number for a record that was taken on `cpu` and is worth so many samples in `stream`,
 * 0 when memory is short. */
uint32_t processes_context(struct processes *processes, const struct hp_record *record, int cpu,
			   uint32_t stream, uint64_t samples);

/* What the process was at that moment, as far as map changes since keeps_past was set tell: space
 * (a reference for the caller), command and pid. False when it was not there, or nobody knows it.
 */
bool processes_at(struct processes *processes, uint32_t pid, uint64_t time_ns,
		  struct context *context);

/* Frees what was retired; call when no sample is waiting to be attributed. Processes whose end went
 * unnoticed (lost records) are found and dropped too. */
void processes_reap(struct processes *processes);

/* Times of a command (a number below commands.count), live processes up to `now_ns` included. */
struct command_times processes_times(const struct processes *processes, uint32_t command,
				     uint64_t now_ns);

#endif
