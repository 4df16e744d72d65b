/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The books of one target: its threads, when its next window is due, where copies may run, and what
 * all that costs the target. The caller holds their lock (shadow.c).
 *
 * If no CPU is idle, a copy waits. Then it costs the target only the stop. It runs as soon as a CPU
 * is idle; or when all hands but one have waiting copies and the budget pays for it; or when the
 * recording ends, usually because the target has ended. So a busy program has windows in its first
 * seconds, too.
 */
#ifndef SHADOW_BOOKS_H
#define SHADOW_BOOKS_H

#include "budget/cpu_load.h"
#include "budget/price.h"
#include "budget/recordings.h"
#include "budget/schedule.h"
#include "budget/truncation.h"
#include "budget/waits.h"
#include "threads.h"
#include "window.h"

/* One window, from when it is due to its charge. */
struct job {
	struct window_order order;
	struct window_result result;
	uint64_t cpu_ns;     /* that our thread had used before */
	uint64_t stopped_ns; /* of the target's, meanwhile */
	double owed_ns;	     /* for its copy */
	double beside;	     /* share of the window, while another copy ran */
	bool has_copy;
	bool has_waited; /* the copy, for an idle CPU */
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
	bool is_urgent; /* copies do not wait */
	size_t copies;	/* that there are, but for those that wait */
	size_t waiting; /* copies that wait. Atomic, as it is read without the lock, too */
};

/* CPUs that are online. */
uint64_t books_cpus(void);
/* The target's CPU time. */
uint64_t books_now_ns(struct books *books);
/* When the first window is due. */
void books_open(struct books *books);

/* Orders a window of a thread that runs. False: none does. */
bool books_begin(struct books *books, struct job *job);
/* What came of that, and when the next window is due. What a copy that waits has cost so far is charged, and
 * all of it where there is no copy. */
void books_copied(struct books *books, struct job *job);
/* Whether a copy that waits may run now, and where: sets its order. `is_over`: the recording ends. */
bool books_admit(struct books *books, struct job *job, bool is_over);
/* Enters what a window with a copy took beside stops and samples, and says whether it is truncated. */
void books_charge(struct books *books, struct job *job);

#endif
