/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one window: stops and copies a thread of the target, replays the copy, returns the counts.
 *
 * There are two halves. window_copy() makes the copy, and returns when the target has run for the
 * length of the window; window_replay() lets the copy run the same way and ends it. Both calls of
 * one window come from the same thread, since ptrace belongs to threads. Several makers may work at
 * a time, each in a thread of its own: but only one of them in window_copy(), which uses the shared
 * ledger, and only one in window_replay(), which uses the shared replayer.
 */
#ifndef HPCPROF_SHADOW_MAKE_WINDOW_H
#define HPCPROF_SHADOW_MAKE_WINDOW_H

#include "call_pace.h"
#include "syscalls/descriptors.h"
#include "replay/engine.h"
#include "copy/hold.h"
#include "match/state_sampler.h"
#include "budget/price.h"
#include "copy/rebuild.h"
#include "copy/rights.h"
#include "end_state.h"
#include "simulate/simulation.h"
#include "syscalls/system_calls.h"
#include "syscalls/vdso_calls.h"

#include <pthread.h>

/* What all copies of one target go through, one after another. */
struct replayer {
	struct histories histories; /* of its processes' memory */
	struct hp_engine *engine;
	struct call_pace pace;
	struct simulation *simulation; /* NULL: windows are not simulated */
	bool simulates_always;	       /* not only in idle rooms, and all windows */
	uint64_t windows;	       /* replayed */
	uint64_t replay_ns;	       /* CPU time that they took */
};

/* The options are copied. */
struct hp_error *replayer_create(struct replayer *replayer,
				 const struct simulation_options *simulation);
void replayer_clear(struct replayer *replayer);

struct window_maker {
	struct snapshot snapshot;
	struct mapped_files files;
	struct descriptors descriptors;
	struct state_sampler sampler;
	struct held_state state;
	struct end_state end;
	/* Of a recorded window; and until when that may go on, CLOCK_MONOTONIC, 0 before it begins. */
	struct call_log log;
	uint64_t recorded_until_ns;
	bool is_recorded;
	struct sandbox sandbox;
	/* Of the sandbox, by the engine's: to read only, and to write. */
	int64_t engine_fds[HP_ENGINE_MEMORIES][2];
	struct rights rights; /* of the thread that is copied */
	struct rights own;
	bool is_descendant; /* of ours */
	struct shadow_calls calls;
	cpu_set_t cpus;		    /* of our thread, before it moved beside the copy */
	uint64_t longest_replay_ns; /* CPU time that the copy may take */
	size_t wanted;		    /* samples that make the window */
	struct replayer *replayer;  /* borrowed, as are the next two */
	struct ledger *ledger;
	int stop_fd; /* readable: make an end */
};

/* The order: a window of thread `tid` of process `pid`, in what is left of the slot. */
struct window_order {
	pid_t pid, tid;
	uint64_t slot_end_ns; /* of the target's CPU time */
	uint64_t window_ns;   /* 0: as long as pays best, and set */
	uint64_t longest_ns;  /* that it may be; 0: any */
	uint64_t wanted;      /* samples that make the window, set */
	uint64_t samples;     /* and with those behind it, at most, set */
	uint64_t areas;	      /* of the address space, and its bytes in memory, set */
	uint64_t resident_bytes;
	uint64_t threads;     /* of the process that run, `tid` among them; no more than CPUs */
	double runnable;      /* threads of the machine that want a CPU */
	enum spare_cpus room; /* of the copy, on `cpus`; while it is made, if it waits */
	bool is_recorded;     /* the thread's calls are: see window_record.h */
	bool is_later;	      /* it waits for an idle CPU */
	bool is_last;	      /* the target has ended, and no other copy waits */
	cpu_set_t cpus;
};

enum window_outcome {
	WINDOW_MADE,	/* what came of it is in the window; perhaps no counts */
	WINDOW_REFUSED, /* see refusal and error; the error may be NULL */
	WINDOW_NOT_NOW, /* not running in user mode: another moment will do */
};

struct window_result {
	enum window_outcome outcome;
	enum hp_shadow_refusal refusal;
	struct hp_error *error;	 /* owned */
	struct hp_window window; /* owned */
	uint64_t price_ns;	 /* predicted */
	uint64_t copied_bytes;
	uint64_t replay_ns;
	uint64_t samples, matched;
	/* A call cut the window short, one that may wait for others; of so much that was wanted. */
	uint64_t wanted_ns;
	uint64_t in_call_on; /* WINDOW_NOT_NOW: as in struct held_state; else UINT64_MAX */
	bool is_cut, may_wait;
	bool was_recorded;
	bool is_paced;	       /* how long its calls take is known: see call_pace.h */
	uint64_t recording_ns; /* lost by its stops */
};

void window_maker_init(struct window_maker *maker, struct replayer *replayer, struct ledger *ledger,
		       int stop_fd);
void window_maker_clear(struct window_maker *maker);

/* Sets `result`. True: there is a copy, of all of a window, and window_replay must follow. */
bool window_copy(struct window_maker *maker, struct window_order *order,
		 struct window_result *result);
/* Completes it. */
void window_replay(struct window_maker *maker, const struct window_order *order,
		   struct window_result *result);

#endif
