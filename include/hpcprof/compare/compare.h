/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares epochs: matches procedures, tests differences, gives a verdict.
 *
 * Each epoch of a side is a replicate: the differences within a side determine how significant a
 * difference between the sides is.
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
	/* units of work per run, overriding the epochs; 0: as in the epochs, and costs are per run
	 * if one of either side has no work */
	double work;
};

/* Zero selects the defaults in the comments. */
struct hp_compare_options {
	const char *event;   /* a name, with or without modifiers, or a glob; NULL: the first that
			      both sides have */
	bool is_relative;    /* shares rather than costs */
	double least_change; /* 0: 0.03 */
	double least_of_program; /* 0: 0.005 */
	const char *symfs;
	bool no_debuginfo;
	/* procedures with this name, or matching this glob, get their code like findings */
	const char *annotated;
	bool without_code; /* without lines, and without the changes in findings */
};

/*
 * USAGE if the sides have no event in common, or one with different units, or if work is given for
 * one side and an epoch of the other has none. INSUFFICIENT if the CPU models differ, or an epoch
 * has not ended, and the comparison is not relative. DAMAGED if an epoch cannot be read or has no
 * samples. All errors name the epochs. Too little data is not an error but a verdict.
 */
struct hp_error *hp_compare(const struct hp_compare_epochs sides[HP_SIDES],
			    const struct hp_compare_options *options,
			    struct hp_comparison **comparison);

#endif
