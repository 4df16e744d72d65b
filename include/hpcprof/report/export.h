/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes epochs in the formats of other programs: call paths (or samples, where no paths were
 * recorded) for viewers, and counts of executions for compilers and optimisers.
 */
#ifndef HPCPROF_REPORT_EXPORT_H
#define HPCPROF_REPORT_EXPORT_H

#include <hpcprof/base/error.h>
#include <hpcprof/profile/profiles.h>

#include <stdio.h>

struct hp_db;

/* Names of formats, as a list "a|b|c". */
extern const char hp_export_formats[];

struct hp_export_options {
	const char *format; /* one of the list */
	struct hp_profiles_options of;
};

/*
 * Writes the named epochs (none: the latest). USAGE for a format that does not exist and options
 * that it does not have; INSUFFICIENT where the profile would be empty: some readers accept an
 * empty one without a word.
 */
struct hp_error *hp_export(struct hp_db *db, char *const *epochs, size_t epoch_count,
			   const struct hp_export_options *options,
			   const struct hp_notices *notices, FILE *out);

#endif
