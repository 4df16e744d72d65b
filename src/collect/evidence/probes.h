/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoint probes: how often code that runs seldom is run, counted exactly for moments spread
 * over the time.
 *
 * At a random time of each slot, up to two places of one thread are counted for some milliseconds.
 * Each stops by itself after a number of hits (PERF_EVENT_IOC_REFRESH, which works once for each
 * descriptor), so that a place that runs too often costs no more than that; it is then left alone,
 * and so is one that runs in bursts longer than that number. To know these each place takes two of
 * the processor's four debug registers: one stops at half of the hits, and tells when that was. The
 * thread is that of the latest sample, so that moments are spread over CPU time; the places are
 * both ways of branches, and what is called, near where samples are. What probes take from the
 * target stays within a budget, or there are none.
 */
#ifndef COLLECT_EVIDENCE_PROBES_H
#define COLLECT_EVIDENCE_PROBES_H

#include "../maps/process.h"

#include <hpcprof/db/db.h>

enum { PROBES_AT_ONCE = 2 };

struct probes;

/* `recording`: when it began, CLOCK_REALTIME; `budget`: of the target's time, a share. */
struct hp_error *probes_create(uint64_t recording, double budget, struct probes **probes);
void probes_destroy(struct probes *probes);

/* Code that samples are near to begins at the offset. */
void probes_notice(struct probes *probes, struct image *image, uint64_t offset);
/* A sample of the thread at the address, which stands for `time_ns` of its CPU time. */
void probes_sample(struct probes *probes, const struct context *context, uint32_t tid,
		   uint64_t address, double time_ns);

/* When there is something to do next: begin counting, or end it; CLOCK_MONOTONIC. */
uint64_t probes_due_ns(const struct probes *probes);
void probes_go(struct probes *probes, uint64_t now_ns);
/* The target has ended, or the recording does: what is counting is taken as it is. */
void probes_finish(struct probes *probes);

/* Adds what there is to the epoch; kept for the next try when that fails. */
struct hp_error *probes_write(struct probes *probes, const struct names *commands,
			      struct hp_epoch_writer *writer);

/* So far. */
struct probes_figures {
	uint64_t moments; /* that something was counted in */
	uint64_t hits;	  /* all */
	uint64_t kept; /* of these, that the epoch has: the others are of what runs too often, or in
			     bursts */
	double lost_ns;	     /* of the target's time */
	double time_ns;	     /* the target's time, by its samples */
	const char *refusal; /* why there are none, else NULL */
};
struct probes_figures probes_figures(const struct probes *probes);

#endif
