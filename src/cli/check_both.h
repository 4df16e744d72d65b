/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hpcprof check --side-by-side: runs each side once, both at the same time. A recording handles the
 * signals of its process and waits for its command, so each side is recorded by a process of its
 * own.
 */
#ifndef HPCPROF_CLI_CHECK_BOTH_H
#define HPCPROF_CLI_CHECK_BOTH_H

#include <hpcprof/compare/comparison.h>

#include <stdbool.h>

/* What became of one side. */
struct check_both_outcome {
	char *stamp; /* of the epoch, malloc'ed; NULL: none */
	int interrupted;
	struct hp_error *error; /* owned */
};

/* One side's recorder; `context` as check_both_record was given it. Calls `ready` once, before
 * its command runs: that returns when the other side is ready too, and an error when it is not
 * to run. */
struct check_both_recorder {
	void (*record)(const struct check_both_recorder *recorder, enum hp_side side,
		       struct check_both_outcome *outcome);
	void *context;
	bool spares_other;			  /* when one fails, the other goes on to its end */
	struct hp_error *(*ready)(void *context); /* filled in for `record`, with what it takes */
	void *ready_context;
};

/*
 * Records both sides, of which `first` is let go first; returns when both have ended. The first one
 * that fails has the other's command sent SIGTERM, unless that is spared, and only its error is in
 * the outcomes. Signals that would end us go to both recorders.
 */
struct hp_error *check_both_record(const struct check_both_recorder *recorder, enum hp_side first,
				   struct check_both_outcome outcomes[HP_SIDES]);

#endif
