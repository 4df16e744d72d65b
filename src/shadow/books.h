/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The books of one target: its threads, when its next window is due, where copies may run, and what
 * all that costs the target. The caller holds their lock (shadow.c).
 *
 * If no CPU is idle, a copy waits. Then it costs the target only the stop. It runs as soon as a CPU
 * is idle; or when all makers but one have waiting copies and the budget pays for it; or when the
 * recording ends, usually because the target has ended. So a busy program has windows in its first
 * seconds, too.
 *
 * A copy that runs when all CPUs become busy starves, as it has the lowest priority. Copies are made
 * nevertheless, and wait. When all makers have one, the budget may pay for the priority of the one that
 * starves; when the target has ended, it costs nothing.
 */
#ifndef SHADOW_BOOKS_H
#define SHADOW_BOOKS_H

#include "budget/cpu_load.h"
#include "budget/price.h"
#include "budget/recordings.h"
#include "budget/schedule.h"
#include "budget/truncation.h"
#include "budget/waits.h"
#include "running.h"
#include "threads.h"
#include "window.h"

/* One window, from when it is due to its charge. */
struct job {
	struct window_order order;
	struct window_result result;
	uint64_t begun_ns;   /* when the work began, or went on after waiting (CLOCK_MONOTONIC) */
	uint64_t cpu_ns;     /* CPU time of the calling thread then, … */
	uint64_t delayed_ns; /* … and how long it had waited for CPUs; UINT64_MAX: unknown */
	uint64_t stopped_ns; /* how long the target was stopped meanwhile */
	double owed_ns;	     /* the expected cost of its copy: see ledger_owe */
	double beside;	     /* share of the window's time in which another copy ran */
	bool has_copy;
	bool has_waited; /* the copy has waited for an idle CPU */
};

struct books {
	struct target target;
	struct schedule schedule;
	struct ledger ledger;
	struct waits waits;
	struct cpu_load load;
	struct truncation
		truncation[2]; /* of windows that are not recorded, and of those that are */
	struct recordings recordings;
	bool is_urgent;	   /* copies do not wait for an idle CPU */
	size_t copies;	   /* that are made or run; not those that wait */
	size_t waiting;	   /* copies that wait. Atomic, because it is also read without the lock */
	uint64_t admit_ns; /* when a waiting copy last looked for an idle CPU (CLOCK_MONOTONIC) */
	uint64_t over_ns;  /* when the recording ended (CLOCK_MONOTONIC); 0: it goes on. Atomic */
	struct running running;
	bool is_starved; /* the copy that runs hardly gets a CPU. Atomic, like `waiting` */
};

/* The number of CPUs that are online. */
uint64_t books_cpus(void);
/* The target's CPU time. */
uint64_t books_now_ns(struct books *books);
/* Sets when the first window is due. */
void books_open(struct books *books);

/* Chooses a running thread and orders a window of it. False: no thread runs. */
bool books_begin(struct books *books, struct job *job);
/* Notes the result of window_copy, and sets when the next window is due. Charges what a copy that
 * waits has cost so far. If there is no copy, charges the whole window. */
void books_copied(struct books *books, struct job *job);
/* Measures the load of the CPUs, and minds a copy that starves: may change its priority, and the room in its
 * order. To be called often. */
void books_look(struct books *books);
/* A copy is about to run: notes in its order if the target has ended. */
void books_note_end(struct books *books, struct job *job);
/* Whether a copy that waits may run now. If so, sets in its order where. `is_over`: the recording
 * ends. */
bool books_admit(struct books *books, struct job *job, bool is_over);
/* The share of the time from `begun_ns` to `now_ns` that is after `over_ns` (0: not over). */
double books_share_after(uint64_t begun_ns, uint64_t over_ns, uint64_t now_ns);
/* Charges what a window took, except stops and samples, and except what its copy took when the target
 * had ended. Sets whether the window is truncated. */
void books_charge(struct books *books, struct job *job);

#endif
