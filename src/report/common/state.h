/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report in progress: its options, the loaded data, and the inference from it. */
#ifndef REPORT_COMMON_STATE_H
#define REPORT_COMMON_STATE_H

#include <hpcprof/infer/inference.h>
#include <hpcprof/profile/paths.h>
#include <hpcprof/profile/rows.h>
#include <hpcprof/report/report.h>

struct report {
	const struct hp_report_options *options; /* borrowed */
	const struct hp_notices *notices;	 /* borrowed; may be NULL */
	/* those of the options, plus what the view needs */
	struct hp_profiles_options of;
	struct hp_profiles *profiles;	/* owned */
	struct hp_inference *inference; /* owned */
	/* The extra profile of record --stalls, for views with analyses; NULL: there is none.
	 * Owned */
	struct hp_profiles_options of_stalls;
	struct hp_profiles *stall_profiles;
	struct hp_stalled *stalled;
	struct hp_call_paths *paths;	/* for views of call paths, otherwise NULL; owned */
	const struct hp_called *called; /* the procedure whose paths are shown; NULL: all */
	bool is_refused;		/* nothing passes the filters, so nothing was written */
	size_t hidden_rows;		/* dropped by limits */
	struct hp_tally hidden;		/* of the sorting event */
};

/* The view shows only what windows counted, with or without samples. */
bool shows_counts(const struct hp_report_options *options);
/* Views that list places in all code, and apply limits themselves (stalls/survey.h). */
bool shows_survey(const struct hp_report_options *options);
/* The view shows call paths. */
bool shows_paths(const struct hp_report_options *options);

#endif
