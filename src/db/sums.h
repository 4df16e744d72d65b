/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the files of a finished epoch with their hashes and figures in its meta. Checksums
 * within a file find accidental damage only, because somebody who changes a file on purpose
 * changes its checksum, too. Such a file then contradicts meta, unless meta was changed as well.
 */
#ifndef HPCPROF_SRC_DB_SUMS_H
#define HPCPROF_SRC_DB_SUMS_H

#include "codec.h"

#include <hpcprof/base/vector.h>

/* Problems that were found; owned. */
struct hp_contradictions {
	HP_VECTOR(struct hp_error *) found;
};
void hp_contradictions_clear(struct hp_contradictions *contradictions);
/* Takes over the problem. */
struct hp_error *hp_contradictions_add(struct hp_contradictions *contradictions,
				       struct hp_error *problem);

/* Sums of the files as they are now. Unreadable files are left out. */
struct hp_error *hp_file_sums_take(int directory, struct hp_file_sums *sums);
/* Compares the files with their sums in meta. Damage to files is not reported here, but when they
 * are read. With `all_figures`, figures are compared even if the hash is right: no view shows them,
 * but meta should be correct. */
struct hp_error *hp_file_sums_check(int directory, const struct hp_file_sums *sums,
				    bool all_figures, struct hp_contradictions *contradictions);

#endif
