/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branches that go one way N times and then the other way once, always with the same N: loops of
 * constant length, also those longer than any history.
 */
#ifndef HPCPROF_SRC_UARCH_LOOP_H
#define HPCPROF_SRC_UARCH_LOOP_H

#include "history.h"

struct uarch_loop {
	uint32_t tag;
	uint16_t length;    /* executions from one exit to the next; 0: not known */
	uint16_t current;   /* since the last exit */
	uint8_t confidence; /* exits in a row that came as expected */
	uint8_t age;	    /* 0: another branch may have its place */
	bool stays;	    /* the direction that it has but for the exit */
};

struct uarch_loops {
	struct uarch_loop *loops;
	uint32_t mask;
	bool exists;
	int trust;		  /* how much better they predict than others */
	struct uarch_loop *found; /* the branch asked for; NULL: not here */
	struct uarch_loop *place;
	uint32_t tag;
	bool is_taken;
};

bool uarch_loops_create(struct uarch_loops *loops, const struct hp_uarch_predictor *sizes);
void uarch_loops_destroy(struct uarch_loops *loops);
void uarch_loops_reset(struct uarch_loops *loops);

/* What another predictor says, or what is known better. Then uarch_loops_learn must be called. */
bool uarch_loops_predict(struct uarch_loops *loops, uint64_t ip, bool other_says);
void uarch_loops_learn(struct uarch_loops *loops, bool taken, bool other_said);

#endif
