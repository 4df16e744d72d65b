/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shadow windows of a running target: exact execution counts without a PMU.
 *
 * A thread of this process stops the target's threads now and then for a moment, takes a copy, and
 * lets the target run on; the copy replays the same path on another CPU while its blocks are
 * counted. What the target loses by that is measured and kept within a budget. The target notices
 * nothing but time.
 *
 *	hp_shadow_create	finds out what can be had here; starts nothing
 *	hp_shadow_start		from now on there are windows
 *	hp_shadow_fd		readable (poll) when a window is ready to be taken
 *	hp_shadow_take		the next one
 *	hp_shadow_stop		no more; those that are ready can still be taken
 *
 * While it runs, nobody else in this process may wait*() for the target: that would take its stops
 * away. Learn of its end by a pidfd, stop the shadows, and then wait for it.
 *
 * Everything here is called from one thread, which need not be the one that started the target.
 */
#ifndef HPCPROF_SHADOW_SHADOW_H
#define HPCPROF_SHADOW_SHADOW_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/model/window.h>
#include <hpcprof/pmu/machine.h>

#include <sys/types.h>

enum { HP_SHADOW_DEFAULT_PERCENT = 1 };

struct hp_shadow_options {
	/* Processes, whose threads and descendants are meant too. */
	const pid_t *pids;
	size_t pid_count;
	const pid_t *tids; /* single threads, without what they start */
	size_t tid_count;

	double percent; /* of the target's CPU time that windows may take; 0: 1 % */
	uint64_t
		window_ns; /* how long a window is to be; 0: 100 ms, longer where copies are dear */
	double sample_ns;  /* what a sample takes of the target's time; 0: unknown */
	uint64_t seed;	   /* of the moments; 0: another one each time */
};

/* A system call that ended windows. */
struct hp_shadow_system_call {
	char name[48]; /* as hp_window's end_call */
	uint64_t count;
};

enum { HP_SHADOW_SYSTEM_CALLS = 16 };

/* What has happened so far. */
struct hp_shadow_statistics {
	uint64_t windows; /* taken, whatever came of them */
	uint64_t crowded; /* of them, short since no CPU was to spare for replaying */
	uint64_t useful;  /* with counts */
	uint64_t ends[HP_WINDOW_ENDS];
	/* Of the ends that were system calls, the first so many kinds; count 0 behind the last. */
	struct hp_shadow_system_call calls[HP_SHADOW_SYSTEM_CALLS];
	uint64_t refusals[HP_SHADOW_REFUSALS];
	uint64_t samples;    /* taken of the target, to be found in its copies */
	uint64_t matched;    /* that were */
	uint64_t target_ns;  /* CPU time of the target while there were windows */
	uint64_t covered_ns; /* of it, user CPU time within counted stretches */
	uint64_t beside_ns;  /* of that: while the copy of another window ran */
	uint64_t longest_stop_ns;
	uint64_t lost_ns;   /* measured: stops and samples of windows */
	uint64_t replay_ns; /* CPU time that copies took, on other CPUs */
	uint64_t copied_bytes;
	/* The last refusal that was not for a moment only, as a sentence with a way out; "": none.
	 */
	char reason[256];
};

struct hp_shadow;

/* Fails, with the reason and the way out, when nothing can be had here at all. */
struct hp_error *hp_shadow_create(const struct hp_shadow_options *options,
				  struct hp_shadow **shadow);
/* After what the target is has been started: it limits images of this process's memory (core). */
struct hp_error *hp_shadow_start(struct hp_shadow *shadow);
/* Borrowed. */
int hp_shadow_fd(const struct hp_shadow *shadow);
/* False when none is ready. `window` is the caller's, to hp_window_clear. */
bool hp_shadow_take(struct hp_shadow *shadow, struct hp_window *window);
void hp_shadow_statistics(struct hp_shadow *shadow, struct hp_shadow_statistics *statistics);
/* Ends the window that is under way; its copy is gone when this returns. */
void hp_shadow_stop(struct hp_shadow *shadow);
void hp_shadow_destroy(struct hp_shadow *shadow);
/* What of all this works here, by copying a child of ours: some tenths of a second, 3 s at most. Adds
 * to `findings`; not for programs with several threads. */
struct hp_error *hp_shadow_examine(struct hp_findings *findings);
HP_DEFINE_CLEANUP(struct hp_shadow, hp_shadow_destroy);

#endif
