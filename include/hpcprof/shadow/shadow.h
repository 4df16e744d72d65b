/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shadow windows of a running target: exact execution counts without a PMU.
 *
 * From time to time a thread of hpcprof stops the target's threads for a moment, makes a copy, and
 * lets the target continue. The copy replays the same path on another CPU while its blocks are
 * counted. The loss of the target is measured and kept within a budget. The target can observe only
 * the time.
 *
 *	hp_shadow_create	finds out what works here; starts nothing
 *	hp_shadow_start		starts the windows
 *	hp_shadow_fd		readable (poll) when a window is ready to be taken
 *	hp_shadow_take		takes the next one
 *	hp_shadow_finish	begins no further window, and returns at once
 *	hp_shadow_stop		waits for the current window; those that are ready can still be taken
 *
 * While it runs, no other code in this process may wait*() for the target, because that would
 * consume its stops. Detect its end with a pidfd, stop the shadows, and then wait for it.
 *
 * All functions are called from one thread, which need not be the one that started the target.
 */
#ifndef HPCPROF_SHADOW_SHADOW_H
#define HPCPROF_SHADOW_SHADOW_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/model/window.h>
#include <hpcprof/pmu/machine.h>
#include <hpcprof/uarch/resize.h>

#include <sched.h>
#include <sys/types.h>

enum { HP_SHADOW_DEFAULT_PERCENT = 1 };

struct hp_shadow_options {
	/* Processes with their threads and descendants. */
	const pid_t *pids;
	size_t pid_count;
	const pid_t *tids; /* single threads, without what they start */
	size_t tid_count;

	double percent;	    /* of the target's CPU time that windows may take; 0: 1 % */
	uint64_t window_ns; /* length of a window; 0: 100 ms, longer if copies are expensive */
	double sample_ns;   /* cost of a sample to the target; 0: unknown */
	uint64_t seed;	    /* seed of the moments; 0: a different one each time */
	/* The core that windows are simulated on while a CPU is idle, to find the causes of
	 * stalls; NULL: windows only count. */
	const struct hp_uarch_geometry *geometry;
	const struct hp_core *core; /* the core whose cycles are reported; with a geometry */
	/* Replaces sizes and latencies by those measured on this machine. Called in a thread of
	 * its own before the first window is simulated. */
	void (*measure)(struct hp_uarch_geometry *geometry, struct hp_core *core);
	/* Whether another hardware thread of the target's core is busy at this time; changed by another
	 * thread. NULL: unknown. Borrowed. */
	const bool *core_is_shared;
	/* Paths are timed a second time, with these sizes; NULL: they are not. Copied. */
	const struct hp_resizes *resizes;
	bool simulates_always; /* simulates even if no CPU is idle */
	bool is_urgent;	       /* copies run even if no CPU is idle */
	/* If more than 0, a descriptor that simulated paths are written to (uarch/trace.h), up
	 * to `trace_bytes`. Borrowed until hp_shadow_destroy. */
	int trace_fd;
	uint64_t trace_bytes;
};

/* A system call that ended windows. */
struct hp_shadow_system_call {
	char name[48]; /* as hp_window's end_call */
	uint64_t count;
};

enum { HP_SHADOW_SYSTEM_CALLS = 16 };

/* Figures so far. */
struct hp_shadow_statistics {
	uint64_t windows; /* taken, with any result */
	uint64_t crowded; /* short because no CPU was idle */
	uint64_t late;	  /* replayed when the target had ended, as no CPU was idle before */
	uint64_t useful;  /* with counts */
	uint64_t paced;	  /* of these, with recorded calls; their time excludes that cost */
	uint64_t ends[HP_WINDOW_ENDS];
	/* The first kinds of system calls that ended windows; count 0 after the last. */
	struct hp_shadow_system_call calls[HP_SHADOW_SYSTEM_CALLS];
	uint64_t refusals[HP_SHADOW_REFUSALS];
	uint64_t samples;    /* taken of the target, to be matched in its copies */
	uint64_t matched;    /* matched samples */
	uint64_t target_ns;  /* CPU time of the target while there were windows */
	uint64_t covered_ns; /* the part of it that is user CPU time within counted stretches */
	uint64_t beside_ns;  /* the part of that in which the copy of another window ran */
	uint64_t aside_ns;   /* the part of the loss that is certainly not in the time of windows */
	uint64_t longest_stop_ns;
	uint64_t lost_ns;   /* measured: stops and samples of windows */
	uint64_t replay_ns; /* CPU time that copies took, on other CPUs */
	uint64_t copied_bytes;
	uint64_t trace_instructions, trace_bytes; /* of the trace, once it is over */
	int trace_errno;			  /* why it could not be written; 0 */
	uint64_t price_ns; /* of the window that was due last, as predicted; 0: none was due */
	/* For each kind of refusal, the message of the last one, which names a remedy; "": there
	 * was none. */
	char reasons[HP_SHADOW_REFUSALS][256];
};

struct hp_shadow;

/* Fails, with the reason and a way out, if windows are impossible here. */
struct hp_error *hp_shadow_create(const struct hp_shadow_options *options,
				  struct hp_shadow **shadow);
/* Call it after the target has been started: it limits core files of this process. */
struct hp_error *hp_shadow_start(struct hp_shadow *shadow);
/* Borrowed. */
int hp_shadow_fd(const struct hp_shadow *shadow);
/* Takes the next window; false if none is ready. The caller owns `window` and clears it with
 * hp_window_clear. */
bool hp_shadow_take(struct hp_shadow *shadow, struct hp_window *window);
/* Moves the calling thread to CPUs beside that of thread `tid` of the target, so that what it does
 * does not keep this thread waiting; where there are none, it stays. `before`: for
 * hp_shadow_step_back. */
void hp_shadow_step_aside(pid_t tid, cpu_set_t *before);
void hp_shadow_step_back(const cpu_set_t *before);
void hp_shadow_statistics(struct hp_shadow *shadow, struct hp_shadow_statistics *statistics);
/* Begins no further window and returns at once. The current window may continue for a moment;
 * the caller can do other work before hp_shadow_stop. */
void hp_shadow_finish(struct hp_shadow *shadow);
/* Calls hp_shadow_finish if that was not done, and ends the current window: its copy has been
 * killed when this returns. On a busy machine the copy may take too long to die; then
 * hp_shadow_destroy() does not free what its thread needs until the process ends. */
void hp_shadow_stop(struct hp_shadow *shadow);
void hp_shadow_destroy(struct hp_shadow *shadow);
/* Tests what works here by copying a child process: some tenths of a second, 3 s at most. Adds to
 * `findings`; not for programs with several threads. */
struct hp_error *hp_shadow_examine(struct hp_findings *findings);
HP_DEFINE_CLEANUP(struct hp_shadow, hp_shadow_destroy);

#endif
