/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Epochs against epochs: matched, tested, judged.
 *
 * Each epoch of a side is a replicate, so it is the differences within a side that say what a
 * difference between the sides is worth.
 */
#ifndef HPCPROF_COMPARE_COMPARE_H
#define HPCPROF_COMPARE_COMPARE_H

#include <hpcprof/compare/comparison.h>
#include <hpcprof/db/db.h>

/* Epochs of one side, as hp_db_resolve gives them. */
struct hp_compare_epochs {
	struct hp_db *db;
	char *const *stamps;
	size_t count; /* > 0 */
	double work;  /* units of work that each run did, whatever the epochs say; 0: as they say,
			 and costs are for a run where one of either side does not */
};

/* Zeroed means what the comments say. */
struct hp_compare_options {
	const char *event;   /* a name, with or without modifiers, or a glob; NULL: the first that
			      both sides have */
	bool is_relative;    /* shares rather than costs */
	double least_change; /* 0: 0.03 */
	double least_of_program; /* 0: 0.005 */
	const char *symfs;
	bool no_debuginfo;
	const char *annotated; /* procedures of this name, or glob, come with their code like
				    findings */
	bool without_code;     /* without lines, and without what changed in findings */
};

/*
 * USAGE when the sides have no event in common, or one that counts different things, and when work
 * is given for one side while an epoch of the other does not say its own; INSUFFICIENT
 * when they ran on different CPU models, or an epoch has no end, and the comparison is not relative; DAMAGED when an epoch
 * cannot be read or has no samples: all name the epochs. Too little data is no error, but the
 * verdict.
 */
struct hp_error *hp_compare(const struct hp_compare_epochs sides[HP_SIDES],
			    const struct hp_compare_options *options,
			    struct hp_comparison **comparison);

#endif
