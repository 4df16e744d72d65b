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

/* Fields that are 0 mean the default. */
struct hp_engine_options {
	size_t cache_bytes; /* of translated code, counters and constants in all; default 128 MiB */
	uint64_t near;	    /* the address where the cache is to be; default near the code */
	bool logs;	    /* paths can be logged */
};

struct hp_error *hp_engine_create(const struct hp_engine_options *options,
				  struct hp_engine **engine);
void hp_engine_destroy(struct hp_engine *engine);
HP_DEFINE_CLEANUP(struct hp_engine, hp_engine_destroy);

/* A piece of the cache, to be mapped in the shadow at exactly this address, MAP_SHARED. */
struct hp_engine_mapping {
	size_t memory; /* number of the engine's descriptor, see hp_engine_memory */
	uint64_t offset;
	uint64_t address;
	uint64_t bytes;
	/* PROT_*. Where it is not to be written, through a descriptor that is open for reading:
	 * then nothing that the shadow does makes it so. */
	int protection;
};

/* Of mappings: the parts of the cache, and each time that one goes on in the next file. */
enum { HP_ENGINE_MEMORIES = 64, HP_ENGINE_MAPPINGS = 6 + HP_ENGINE_MEMORIES };

/*
 * Looks at the shadow's address space (/proc/PID/maps) and says which mappings it needs, at most
 * HP_ENGINE_MAPPINGS. They are the same as for the shadow before unless that space is laid out
 * differently: then what was translated moves with the code it was made from, or is forgotten when
 * that is not there. The array is valid until the next call.
 *
 * `program`: the original's areas, by which code is told (valid until the replay is over): in a
 * shadow it should be there to be read only. NULL: the shadow's own areas tell.
 */
struct hp_error *hp_engine_prepare(struct hp_engine *engine, pid_t pid, const struct areas *program,
				   const struct hp_engine_mapping **mappings, size_t *count);
/* The memory that they are of: descriptors of the engine's by number, from 0 on; -1 behind the
 * last. There is one where files may be as large as the cache. */
int hp_engine_memory(const struct hp_engine *engine, size_t number);

/*
 * Takes the path of a copy from its start on (path_log.h), piece by piece; a piece may begin and
 * end within a block. False: it has enough, and the copy runs on without logging.
 */
struct hp_engine_log {
	bool (*take)(void *context, const uint64_t *words, size_t count);
	void *context;
};
/* Of a block in the log, until the replay is over; NULL: there is no such block. Any thread may ask
 * for what it has read in the log. */
const struct path_plan *hp_engine_plan(const struct hp_engine *engine, uint64_t block);

/* 0 means no limit; do give a time. */
struct hp_engine_limits {
	uint64_t time_ns; /* CPU time of the shadow; and wall time, 20 times that */
	uint64_t exits; /* times that the shadow comes out of the cache: a bound on the work here */
	/* Samples that the counts are of: see matches.h. Those behind them end them. 0: all. */
	size_t samples;
	/* The last sample is the window's own end, see matches.h; all samples are wanted then. */
	bool has_end;
	const struct hp_engine_log *log; /* NULL: the path is not logged */
};

/* What the handler of system calls says. */
struct hp_engine_call {
	bool is_handled; /* else the replay ends */
	int64_t result;	 /* to be in rax */
	/* Memory that now holds what is only about what the original got, such as a time: nothing
	 * to tell states by. */
	uint64_t guessed_at;
	uint64_t guessed_bytes;
	/* Not 0: in front of this call the copy was, for certain, where the original was at the sample
	 * of this number, counted from 1. */
	size_t moment;
};

/* The shadow is stopped in front of a `syscall`; `registers` are those of the program (rip at that
 * instruction, rax the number). The handler may run the call in the shadow, and leave its registers
 * as it likes: the engine sets them all before it goes on. */
struct hp_engine_calls {
	struct hp_engine_call (*handle)(void *context, pid_t pid,
					const struct user_regs_struct *registers);
	/* Protects a page of the program's memory in the shadow (PROT_*); false: it cannot. NULL:
	 * code that is written to ends the window. */
	bool (*protect)(void *context, uint64_t page, int protection);
	void *context;
};

/*
 * Lets the shadow go on from `registers` (a user-mode state, at an instruction). It must be
 * stopped, traced by this thread, and have the mappings. Afterwards it is stopped again or gone;
 * its registers mean nothing any more. An error is about hpcprof (memory, threads); whatever the
 * shadow does ends the replay with its name.
 */
struct hp_error *hp_engine_replay(struct hp_engine *engine, pid_t pid,
				  const struct user_regs_struct *registers,
				  const struct hp_engine_sample *samples, size_t sample_count,
				  const struct hp_engine_limits *limits,
				  const struct hp_engine_calls *calls, struct hp_replay *replay);

#endif
