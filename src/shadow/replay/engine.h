/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: lets a shadow (a stopped copy of the target, see shadow.h) continue in translated
 * code, which counts every block and edge, until the states that the original's samples recorded
 * have come by.
 *
 * It owns the translator and its cache of translated code. The cache is in memory that hpcprof and
 * each shadow map (memfd). It is kept from window to window, and for the next process of the same
 * program, so that code is translated once. The engine does not own the shadow: its caller maps the
 * cache into it, answers its system calls, and kills it. The engine never touches the original.
 *
 * The order of calls of one window:
 *
 *	hp_engine_prepare(engine, pid, program, &mappings, &count)	where the cache must be
 *	... map them in the shadow (fixed addresses, shared) ...
 *	hp_engine_replay(engine, pid, &registers, samples, n, &limits, &calls, &replay)
 *
 * One shadow at a time: the next begins when nobody runs the one before any more.
 *
 * Threads: the calls of one window come from the thread that traces the shadow, those of another
 * window may come from another; replay blocks it. One short-lived thread of the engine's own watches
 * the limit of time.
 *
 * x86-64 only; elsewhere hp_engine_create fails with a sentence.
 */
#ifndef SHADOW_REPLAY_ENGINE_H
#define SHADOW_REPLAY_ENGINE_H

#include "../match/sample.h"
#include "../translate/path_log.h"
#include "../translate/replay.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct hp_engine;
struct areas;

/* A field that is 0 means the default. */
struct hp_engine_options {
	/* size of translated code, counters and constants together; default 128 MiB */
	size_t cache_bytes;
	uint64_t near; /* preferred address of the cache; default: near the code */
	bool logs;     /* paths may be logged */
};

struct hp_error *hp_engine_create(const struct hp_engine_options *options,
				  struct hp_engine **engine);
void hp_engine_destroy(struct hp_engine *engine);
HP_DEFINE_CLEANUP(struct hp_engine, hp_engine_destroy);

/* A part of the cache, to be mapped into the shadow at exactly this address, with MAP_SHARED. */
struct hp_engine_mapping {
	size_t memory; /* number of the engine's descriptor: see hp_engine_memory */
	uint64_t offset;
	uint64_t address;
	uint64_t bytes;
	/* PROT_*. Without PROT_WRITE, it is to be mapped through a descriptor opened for reading,
	 * so that the shadow can never make it writable. */
	int protection;
};

/* Number of mappings: the parts of the cache, and one more whenever a part continues in the next
 * file. */
enum { HP_ENGINE_MEMORIES = 64, HP_ENGINE_MAPPINGS = 6 + HP_ENGINE_MEMORIES };

/*
 * Reads the shadow's address space (/proc/PID/maps) and returns the mappings that it needs, at most
 * HP_ENGINE_MAPPINGS. They are the same as for the previous shadow, unless the address space is
 * laid out differently: then translations move with the code that they were made from, or are
 * dropped when that code is gone. The array is valid until the next call. `program`: the original's
 * areas, which tell what is code (used until the replay is over), since code is only readable in a
 * shadow. NULL: the shadow's own areas tell.
 */
struct hp_error *hp_engine_prepare(struct hp_engine *engine, pid_t pid, const struct areas *program,
				   const struct hp_engine_mapping **mappings, size_t *count);
/* Descriptors of the memory of these mappings, by number from 0 on; -1 after the last. There is one
 * if files may be as large as the cache. */
int hp_engine_memory(const struct hp_engine *engine, size_t number);

/*
 * Receives stretches of a copy's path (path_log.h), the first one from its start on, in pieces that
 * may begin and end within a block. False: it wants no more of this stretch, and the copy continues
 * without logging.
 */
struct hp_engine_log {
	bool (*take)(void *context, const uint64_t *words, size_t count);
	void *context;
	/* Called while the path is not logged, whenever a sample has matched: number `sample` of
	 * those that make up the window. True: another stretch begins now, at the start of a block.
	 * NULL: there is only one. */
	bool (*resume)(void *context, size_t sample, size_t samples);
};
/* The plan of a block in the log, valid until the replay is over; NULL: there is no such block.
 * Threads may ask for blocks that they have read in the log. */
const struct path_plan *hp_engine_plan(const struct hp_engine *engine, uint64_t block);

/* 0 means no limit; a time should be given. */
struct hp_engine_limits {
	uint64_t time_ns; /* CPU time of the shadow; the limit of wall time is 20 times as long */
	uint64_t exits;	  /* number of exits from the cache, which limits the work done here */
	/* Samples that make up the window: see matches.h; those after them end it. 0: all. */
	size_t samples;
	/* The last sample is the window's own end: see matches.h. Then all samples make up the
	 * window. */
	bool has_end;
	const struct hp_engine_log *log; /* NULL: the path is not logged */
};

/* The answer of the handler of system calls. */
struct hp_engine_call {
	bool is_handled; /* otherwise the replay ends */
	int64_t result;	 /* goes into rax */
	/* Memory that now holds something that only resembles what the original got, such as a
	 * time: it does not tell states apart. */
	uint64_t guessed_at;
	uint64_t guessed_bytes;
	/* The same below the stack pointer: the original's call was a function's, which had a frame.
	 */
	uint64_t frame_bytes;
	/* If not 0: before this call, the copy was certainly at the moment of the sample with this
	 * number, counted from 1. */
	size_t moment;
	bool is_end; /* the window's own end (has_end) is before this call */
};

/* The shadow is stopped before a `syscall` instruction. `registers` are the program's (rip at that
 * instruction, the number in rax). The handler may make the call in the shadow and change the
 * shadow's registers: the engine sets all of them before it continues. */
struct hp_engine_calls {
	struct hp_engine_call (*handle)(void *context, pid_t pid,
					const struct user_regs_struct *registers);
	/* Protects pages of the program's memory in the shadow (PROT_*); false: not possible. NULL: the
	 * window ends at code that the program may write. */
	bool (*protect)(void *context, uint64_t address, uint64_t bytes, int protection);
	void *context;
};

/*
 * Runs the shadow from `registers` (a state in user mode, at an instruction). It must be stopped,
 * traced by this thread, and have the mappings. Afterwards it is stopped again or gone, and its
 * registers are meaningless. Errors are hpcprof's (memory, threads); anything the shadow does ends
 * the replay with a named reason.
 */
struct hp_error *hp_engine_replay(struct hp_engine *engine, pid_t pid,
				  const struct user_regs_struct *registers,
				  const struct hp_engine_sample *samples, size_t sample_count,
				  const struct hp_engine_limits *limits,
				  const struct hp_engine_calls *calls, struct hp_replay *replay);

#endif
