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
	char *const *events; /* names of the events whose samples count */
	size_t event_count;
	/* where files of images are read from; NULL: there are none */
	const struct held_files *held;
	bool no_code; /* excerpts contain no code */
};

/* Stores, for each file among the epoch's images and those of its call paths (which become its
 * images), the procedures with samples or calls to sampled code: by file offset, with linkage
 * names; those without a symbol are left out. Procedures with HP_BODY_LEAST_SHARE of the samples
 * get their bodies, too. Also stores an excerpt of the file (hp_cfg_excerpt) if it is small. A file
 * that cannot be read any more, or has changed, gets nothing, which is no error. Called once, after
 * all samples were added and before the last commit. */
struct hp_error *sampled_names_keep(const struct sampled_source *source);

#endif
