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
	uint16_t length;    /* executions from one exit to the next; 0: unknown */
	uint16_t current;   /* since the last exit */
	uint8_t confidence; /* number of consecutive exits predicted correctly */
	uint8_t age;	    /* 0: its entry may be reused */
	bool stays;	    /* its direction except at the exit */
};

struct uarch_loops {
	struct uarch_loop *loops;
	uint32_t mask;
	bool exists;
	int trust;		  /* how much better these predictions are than others */
	struct uarch_loop *found; /* entry of the branch that was predicted; NULL: none */
	struct uarch_loop *place;
	uint32_t tag;
	bool is_taken;
};

bool uarch_loops_create(struct uarch_loops *loops, const struct hp_uarch_predictor *sizes);
void uarch_loops_destroy(struct uarch_loops *loops);
void uarch_loops_reset(struct uarch_loops *loops);

/* Returns the other predictor's direction, or that of the loop if it is trusted more. Afterwards
 * uarch_loops_learn must be called. */
bool uarch_loops_predict(struct uarch_loops *loops, uint64_t ip, bool other_says);
void uarch_loops_learn(struct uarch_loops *loops, bool taken, bool other_said);

#endif
