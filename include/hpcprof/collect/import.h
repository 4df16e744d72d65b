/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf.data file made into an epoch, as if hpcprof had recorded it: samples, and the call paths that came
 * with them. Copied stacks are unwound; else the kernel's callchain is taken.
 *
 * Images are found by their paths, and by the build-ids that the file has. Of processes nothing but their
 * perf-PID.map is looked up: they are over, or their numbers are others' by now. Names of the kernel are
 * not known.
 */
#ifndef HPCPROF_COLLECT_IMPORT_H
#define HPCPROF_COLLECT_IMPORT_H

#include <hpcprof/db/db.h>

struct hp_import_options {
	int fd; /* the file, or a pipe; it stays open */
	struct hp_db *db;
	const char *label;
	bool per_process;
	bool no_code; /* do not store the code of procedures with samples */
};

struct hp_import_result {
	uint64_t samples;
	uint64_t lost;
	uint64_t unattributed;
	uint64_t damaged;      /* records that make no sense */
	uint64_t path_samples; /* samples with a call path, and those that reach the root */
	uint64_t path_whole;
	bool is_truncated; /* perf did not end properly: the file is used as far as it goes */
	bool are_chains;   /* paths are the kernel's, by frame pointers */
	size_t images;
	char *stamp; /* of the epoch; owned */
};

/* USAGE for files that cannot be imported, DAMAGED for what is none, INSUFFICIENT without samples: there is
 * no epoch then. */
struct hp_error *hp_import_perf_data(const struct hp_import_options *options,
				     struct hp_import_result *result);

#endif
