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
#include "copy/buffers.h"
#include "copy/rebuild.h"
#include "copy/rights.h"
#include "end_state.h"
#include "simulate/simulation.h"
#include "syscalls/system_calls.h"
#include "syscalls/vdso_calls.h"

#include <hpcprof/base/vector.h>

#include <pthread.h>

/* Replays all copies of one target, one after another. */
struct replayer {
	struct histories histories; /* of the memory of the target's processes */
	struct buffers buffers;	    /* those that no maker uses */
	struct hp_engine *engine;
	struct call_pace pace;
	struct simulation *simulation; /* NULL: windows are not simulated */
	bool simulates_always;	       /* simulate all windows, also without an idle CPU */
	uint64_t windows;	       /* replayed so far */
	uint64_t replay_ns;	       /* CPU time of all replays */
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
	HP_VECTOR(struct hp_uarch_huge) huge; /* what of the target is in huge pages */
	struct held_state state;
	struct end_state end;
	struct call_log log;	    /* of a recorded window */
	uint64_t recorded_until_ns; /* end of its recording, CLOCK_MONOTONIC; 0: not begun */
	bool is_recorded;
	struct sandbox sandbox;
	/* Descriptors in the sandbox of each memory of the engine: [0] read-only, [1] writable. */
	int64_t engine_fds[HP_ENGINE_MEMORIES][2];
	struct rights rights; /* of the thread that is copied */
	struct rights own;    /* of this process */
	bool is_descendant;   /* the target is a descendant of this process */
	struct shadow_calls calls;
	cpu_set_t cpus;		    /* affinity of our thread before it moved beside the copy */
	uint64_t longest_replay_ns; /* limit for the CPU time of the copy */
	size_t wanted;		    /* number of samples in the window */
	struct replayer *replayer;  /* borrowed, as are the next two */
	struct ledger *ledger;
	int stop_fd; /* readable: stop as soon as possible */
};

/* The order: a window of thread `tid` of process `pid`, paid by the rest of the slot. "Out" fields
 * are set by window_copy. */
struct window_order {
	pid_t pid, tid;
	uint64_t begin_ns;    /* of the target's CPU time */
	uint64_t slot_end_ns; /* of the target's CPU time */
	uint64_t window_ns;   /* length of the window. In: 0 for the best length. Out: the length */
	uint64_t longest_ns;  /* upper limit of that length; 0: none */
	uint64_t wanted;      /* out: number of samples in the window */
	uint64_t samples;     /* out: `wanted`, and at most so many after the window's end */
	uint64_t areas;	      /* out: areas of the address space */
	uint64_t resident_bytes; /* out: bytes of the address space in memory */
	uint64_t threads; /* running threads of the process, including `tid`; at most the CPUs */
	double runnable;  /* threads of the machine that want a CPU */
	enum spare_cpus room; /* where the copy runs, or where it is made, if it waits */
	bool is_recorded;     /* the thread's calls are recorded: see window_record.h */
	bool is_later;	      /* the copy waits for an idle CPU */
	bool is_written;      /* the copy's memory is written, not mapped */
	bool is_last;	      /* the target has ended, and no other copy waits */
	cpu_set_t cpus;	      /* the CPUs of `room` */
};

enum window_outcome {
	WINDOW_MADE,	/* the window is made; it may have no counts */
	WINDOW_REFUSED, /* see `refusal` and `error`, which may be NULL */
	WINDOW_NOT_NOW, /* not possible at this moment; another moment will do */
};

struct window_result {
	enum window_outcome outcome;
	enum hp_shadow_refusal refusal;
	struct hp_error *error;	 /* owned */
	struct hp_window window; /* owned */
	uint64_t price_ns;	 /* predicted */
	uint64_t copied_bytes;
	uint64_t replay_ns;	   /* CPU time of the copy */
	uint64_t samples, matched; /* in the window, and how many of them the replay matched */
	uint64_t wanted_ns;	   /* intended time of the window */
	bool was_in_call;    /* WINDOW_NOT_NOW: the thread was in a system call, or all were … */
	uint64_t in_call_on; /* … and as in struct held_state; else UINT64_MAX */
	/* The window ended early where the program came to something that no copy does; this was a call; and that
	 * call may wait for other threads. */
	bool is_cut, is_cut_by_call, may_wait;
	bool was_recorded;
	bool is_ahead;	       /* part of the memory was read before the stop */
	bool is_misled;	       /* as of window_is_misled */
	bool is_paced;	       /* the undisturbed time of its calls is known: see call_pace.h */
	uint64_t recording_ns; /* time that the target lost by being stopped */
};

void window_maker_init(struct window_maker *maker, struct replayer *replayer, struct ledger *ledger,
		       int stop_fd);
void window_maker_clear(struct window_maker *maker);

/* Makes the copy and sets `result`. True: the copy exists, the target has run to the end of the
 * window, and window_replay must follow. */
bool window_copy(struct window_maker *maker, struct window_order *order,
		 struct window_result *result);
/* Replays the copy, ends it, and completes `result`. */
void window_replay(struct window_maker *maker, const struct window_order *order,
		   struct window_result *result);

#endif
