/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and bodies of sampled procedures of files, kept in the epoch when a recording ends.
 *
 * A program is rebuilt where it was, or its profile goes to a machine that does not have it: with
 * these the epoch can still say which procedures its samples are in, and which those are that have
 * other names in another build.
 */
#ifndef HPCPROF_COLLECT_SAMPLED_NAMES_H
#define HPCPROF_COLLECT_SAMPLED_NAMES_H

#include <hpcprof/db/db.h>

/* For each file among the epoch's images, the procedures that its samples under `events` are in, by
 * file offset, with their linkage names; those without a symbol are left out. Those with
 * HP_BODY_LEAST_SHARE of the epoch's samples have their bodies with them. A file that cannot be read
 * any more, or is another one now, has none: that is no error. Call it once all samples are added,
 * before the last commit. */
struct hp_error *sampled_names_keep(struct hp_epoch_writer *writer, char *const *events,
				    size_t event_count);

#endif
