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
	struct hp_profiles_options of;		 /* the options', with what the view wants */
	struct hp_profiles *profiles;		 /* owned */
	struct hp_inference *inference;		 /* owned */
	/* The extra profile of record --stalls, for views that analyse; NULL: there is none.
	 * Owned */
	struct hp_profiles_options of_stalls;
	struct hp_profiles *stall_profiles;
	struct hp_stalled *stalled;
	struct hp_call_paths *paths;	/* of views of them, else NULL; owned */
	const struct hp_called *called; /* whose paths are shown; NULL: all */
	bool is_refused;		/* nothing passes the filters, and nothing was written */
	size_t hidden_rows;		/* cut by limits */
	struct hp_tally hidden;		/* of the sorting event */
};

/* The view is of what windows counted alone: samples or not. */
bool shows_counts(const struct hp_report_options *options);
/* Lists of all code, which limit what they list (stalls/survey.h). */
bool shows_survey(const struct hp_report_options *options);
/* The view is of call paths. */
bool shows_paths(const struct hp_report_options *options);

#endif
