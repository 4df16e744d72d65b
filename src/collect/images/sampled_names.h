/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, bodies and excerpts of the sampled procedures of files, stored in the epoch when a
 * recording ends.
 *
 * A program may be rebuilt in place, and a profile may be read on a machine without the program.
 * With these the epoch still names its procedures, shows and analyses their code, and recognizes
 * those that have other names in another build.
 */
#ifndef COLLECT_IMAGES_SAMPLED_NAMES_H
#define COLLECT_IMAGES_SAMPLED_NAMES_H

#include "held_files.h"

#include <hpcprof/db/db.h>

struct sampled_source {
	struct hp_epoch_writer *writer;
	char *const *events; /* whose samples count */
	size_t event_count;
	const struct held_files *held; /* read where they are of an image; NULL: there are none */
	bool no_code;		       /* excerpts are without code */
};

/* For each file among the epoch's images and those of its call paths, which become its images, the
 * procedures that its samples are in or were called from, by file offset, with their linkage names;
 * those without a symbol are left out. Those with HP_BODY_LEAST_SHARE of the epoch's samples have
 * their bodies with them. And an excerpt of the file (hp_cfg_excerpt), as far as it stays small. A
 * file that cannot be read any more, or is another one now, has none: that is no error. Call it
 * once all samples are added, before the last commit. */
struct hp_error *sampled_names_keep(const struct sampled_source *source);

#endif
