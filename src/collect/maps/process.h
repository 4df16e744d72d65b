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
	struct space *space; /* NULL: the slot is free */
	uint32_t command;    /* number of a name in processes.commands */
	uint32_t pid;
	uint32_t stream;
	uint32_t lane;
	bool retired;
};

struct process;

/* What a process was until a certain time. */
struct past {
	struct space *space; /* a reference */
	uint32_t command;
	uint32_t pid;
	uint64_t until_ns;
};

/* Sums over the ended processes of a command; with live ones on request. */
struct command_times {
	uint64_t processes;
	uint64_t samples;
	uint64_t elapsed_ns;
	/* only with live ones */
	uint64_t running;
	uint32_t running_pid; /* of one of them */
};

/* Processes whose programs we may not see: the kernel ends the events of a process that executes a
 * program with another user's rights, or one whose file it may not read. */
struct hidden {
	uint64_t count;
	uint32_t command; /* of the latest one */
};

struct processes {
	struct process *by_pid; /* hash table */
	size_t count;
	/* of the previous sample, since most samples come in runs */
	struct process *latest;
	struct process *ended[ENDED_LIMIT]; /* the latest ones, a ring; NULL: unused */
	size_t ended_count;		    /* number of all that have ended */
	struct images *images;		    /* borrowed */
	struct names commands;		    /* names of commands and of threads */
	struct lanes lanes;
	struct command_times *times; /* by command */
	size_t times_capacity;
	struct context *contexts; /* by number; element 0 is unused */
	size_t context_count;
	size_t context_capacity;
	uint32_t *free_contexts;
	size_t free_count;
	size_t free_capacity;
	size_t retired;
	/* They are from another time or machine, so /proc is not read. */
	bool are_past;
	/* The latest ones, a ring, if they are kept: see processes_at. */
	bool keeps_past;
	struct past past[PAST_LIMIT];
	size_t past_count; /* number of all that were kept */
	struct hidden hidden;
};

struct hp_error *processes_create(struct processes *processes, struct images *images,
				  bool per_thread, bool per_cpu);
void processes_clear(struct processes *processes);

/* Records of map changes. An unknown process is looked up in /proc first. False: out of memory; the
 * change is lost. */
bool processes_map(struct processes *processes, const struct hp_record *record);
bool processes_comm(struct processes *processes, const struct hp_record *record);
bool processes_fork(struct processes *processes, const struct hp_record *record);
void processes_exit(struct processes *processes, const struct hp_record *record);

/* Reads name, threads and maps of a running process from /proc, unless it is known. */
bool processes_adopt(struct processes *processes, uint32_t pid, uint64_t now_ns);

/* The context's number for a record taken on `cpu` that is worth so many samples of `stream`; 0:
 * out of memory. */
uint32_t processes_context(struct processes *processes, const struct hp_record *record, int cpu,
			   uint32_t stream, uint64_t samples);

/* What the process was at that time, according to map changes since keeps_past was set: its space
 * (a reference for the caller), command and process id. False when it did not exist or is
 * unknown. */
bool processes_at(struct processes *processes, uint32_t pid, uint64_t time_ns,
		  struct context *context);

/* Frees what was retired. Called when no sample waits to be attributed. Also finds processes whose
 * end was missed because records were lost. */
void processes_reap(struct processes *processes);

/* Times of a command (a number below commands.count), including live processes until `now_ns`. */
struct command_times processes_times(const struct processes *processes, uint32_t command,
				     uint64_t now_ns);

#endif
