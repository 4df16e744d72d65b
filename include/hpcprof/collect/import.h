/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an epoch from a perf.data file, as if hpcprof had recorded it: samples, and the call paths
 * that came with them. A path is found from the copied stack where there is one, else taken from
 * the kernel's callchain.
 *
 * Images are found by their paths and by the build-ids in the file. Nothing is looked up in /proc,
 * since the processes have ended or their numbers belong to other processes now; only their
 * perf-PID.map files are read. Symbols of the kernel stay unnamed.
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
	uint64_t damaged;      /* malformed records */
	uint64_t path_samples; /* samples with a call path, and those that reach the root */
	uint64_t path_whole;
	bool is_truncated; /* perf did not end properly: the file is used up to its end */
	bool are_chains;   /* paths are the kernel's, by frame pointers */
	size_t images;
	char *stamp; /* of the epoch; owned */
};

/* USAGE for files that cannot be imported, DAMAGED for files of another format, INSUFFICIENT if
 * there are no samples; then there is no epoch. */
struct hp_error *hp_import_perf_data(const struct hp_import_options *options,
				     struct hp_import_result *result);

#endif
