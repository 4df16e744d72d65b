/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoint probes: exact counts of rarely executed code, during short periods spread over the
 * run.
 *
 * Time is divided into slots. At a random time in each slot, up to two places in one thread are
 * counted for some milliseconds. A breakpoint switches itself off after a number of hits
 * (PERF_EVENT_IOC_REFRESH, which works once per descriptor), which bounds its cost. A place that
 * reaches this number runs too often, or in bursts, and is not probed again. To tell the two apart,
 * each place uses two of the processor's four debug registers: the second one stops at half of the
 * hits and records when.
 *
 * The thread is that of the latest sample, so that probes are spread over CPU time. The places are
 * both targets of branches, and called procedures, near sampled code. The cost to the target stays
 * within a budget; where it cannot, there are no probes.
 */
#ifndef COLLECT_EVIDENCE_PROBES_H
#define COLLECT_EVIDENCE_PROBES_H

#include "../maps/process.h"

#include <hpcprof/db/db.h>

enum { PROBES_AT_ONCE = 2 };

struct probes;

/* `recording`: its start (CLOCK_REALTIME). `budget`: share of the target's time. */
struct hp_error *probes_create(uint64_t recording, double budget, struct probes **probes);
void probes_destroy(struct probes *probes);

/* Code near samples begins at this offset. */
void probes_notice(struct probes *probes, struct image *image, uint64_t offset);
/* A sample of the thread at this address, which stands for `time_ns` of its CPU time. */
void probes_sample(struct probes *probes, const struct context *context, uint32_t tid,
		   uint64_t address, double time_ns);

/* When counting is to begin or end next (CLOCK_MONOTONIC). */
uint64_t probes_due_ns(const struct probes *probes);
void probes_go(struct probes *probes, uint64_t now_ns);
/* Called when the target or the recording ends: ends the current moment. */
void probes_finish(struct probes *probes);

/* Adds everything to the epoch. If that fails, it is kept for the next try. */
struct hp_error *probes_write(struct probes *probes, const struct names *commands,
			      struct hp_epoch_writer *writer);

/* Figures so far. */
struct probes_figures {
	uint64_t moments; /* in which something was counted */
	uint64_t hits;	  /* in all */
	/* those in the epoch; the others are of places that are hit too often, or in bursts */
	uint64_t kept;
	double lost_ns;	     /* time that hits took from the target */
	double time_ns;	     /* the target's time, by its samples */
	const char *refusal; /* why there are none, or NULL */
};
struct probes_figures probes_figures(const struct probes *probes);

#endif
