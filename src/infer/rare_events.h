/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often an instruction has an event that was never seen at it.
 *
 * Of one instruction alone, n executions without an event tell only that it has fewer than some 3 / n. Other
 * instructions tell more. Leave out one window: what has the event in that one and in no other
 * is what the others would have missed. So of the instructions that had it in no window about as many
 * would have it in as many windows again as had it in one alone (Good, "The population frequencies of species",
 * Biometrika, 1953; Robbins 1956). That holds however the rates differ between instructions.
 */
#ifndef INFER_RARE_EVENTS_H
#define INFER_RARE_EVENTS_H

#include <hpcprof/model/evidence.h>
#include <hpcprof/model/window.h>

/* Instructions are compared with those that ran about as often: by factors of 4. */
enum { RUN_STRATA = 16 };

struct rare_events {
	/* Numbers of instructions that ran in several windows, by kind and executions: those that can have
	 * the event, that had it, and that had it in one window only. */
	double exposed[HP_EVENT_KINDS][RUN_STRATA];
	double met[HP_EVENT_KINDS][RUN_STRATA];
	double once[HP_EVENT_KINDS][RUN_STRATA];
};

/* Whether it is a miss of code, in a cache or a TLB. Others are not learnt: what data an instruction meets
 * changes more than windows show (scripts/cause-accuracy --ablations --real), and whether a branch is
 * predicted, our predictor knows less well than a model of a cache knows its lines. */
bool rare_events_of_code(unsigned kind);

/* `runs` and `counts` are by windows. */
void rare_events_expose(struct rare_events *rare, unsigned kind, const struct hp_grouped *runs);
void rare_events_meet(struct rare_events *rare, unsigned kind, const struct hp_grouped *counts,
		      const struct hp_grouped *runs);
/* The upper end of the 90 % interval of events in all runs of an instruction that had none; INFINITY: others
 * do not tell. */
double rare_events_most(const struct rare_events *rare, unsigned kind,
			const struct hp_grouped *runs);

#endif
