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

/* The outcome of one side. */
struct check_both_outcome {
	char *stamp; /* of the epoch, malloc'ed; NULL: none */
	int interrupted;
	struct hp_error *error; /* owned */
};

/* One side's recorder; it gets the `context` that check_both_record got. It calls `ready` once,
 * before its command runs. `ready` returns when the other side is ready, too, or with an error if
 * the command is not to run. */
struct check_both_recorder {
	void (*record)(const struct check_both_recorder *recorder, enum hp_side side,
		       struct check_both_outcome *outcome);
	void *context;
	bool spares_other; /* when one side fails, the other one still runs to its end */
	struct hp_error *(*ready)(
		void *context); /* set by check_both_record before it calls `record` */
	void *ready_context;
};

/*
 * Records both sides, and lets the command of `first` start first; returns when both have ended.
 * When a side fails, the command of the other side is sent SIGTERM, unless `spares_other` is set,
 * and only the first error is in the outcomes. Signals that would end hpcprof are passed to both
 * recorders.
 */
struct hp_error *check_both_record(const struct check_both_recorder *recorder, enum hp_side first,
				   struct check_both_outcome outcomes[HP_SIDES]);

#endif
