/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and checks the files of one epoch together: description, images, and the sums of all
 * profiles. These rules must hold between them:
 *
 *	a finished epoch	each event's samples in the profiles are what meta says
 *	an unfinished one	they are at least that; what was flushed after the last meta
 *				counts, so the totals (and images) are taken from the profiles
 *
 * A recorder may be writing at the same time. Profiles only grow and meta is read first, so that
 * breaks no rule.
 */
#ifndef HPCPROF_SRC_DB_CONTENTS_H
#define HPCPROF_SRC_DB_CONTENTS_H

#include "codec.h"
#include "sums.h"

struct hp_event_sum {
	uint64_t samples;
	uint64_t weight; /* samples times period */
	uint64_t unattributed;
};

struct hp_contents {
	struct hp_epoch_meta meta;
	struct hp_index index;
	struct hp_event_sum *sums; /* one for each event of meta */
	struct hp_file_sums files; /* what meta knows of the other files */
	/* Where the files do not say what meta knows, though each of them is whole. */
	struct hp_contradictions contradictions;
	bool has_unknown; /* meta or index have sections that this version ignores */
};

/* Takes over `problem` and returns NULL to go on, or hands it back to stop. */
typedef struct hp_error *hp_problem_sink(struct hp_error *problem, void *context);

/* The whole file `name` (NULL: there was no memory for it). `found` NULL: it must be there. Nothing
 * that is a symlink is read. */
struct hp_error *hp_contents_read_file(int directory, const char *name, uint8_t **bytes,
				       size_t *size, bool *found);

/* The file is named after another image or event than it holds. */
struct hp_error *hp_contents_wrong_key(const char *name);

/* Only meta and index: no rule is checked between files. */
struct hp_error *hp_contents_read_heads(int directory, struct hp_contents *contents);
/* Everything. With a sink each problem goes there, strays too, and what could be read is in
 * `contents`; without, the first one is the error, and contradictions stay in `contents`. */
struct hp_error *hp_contents_read(int directory, hp_problem_sink *sink, void *context,
				  struct hp_contents *contents);
/* Whoever shows figures of the epoch shows meta's warnings: contradictions become such. */
struct hp_error *hp_contents_warn(struct hp_contents *contents, const char *stamp);
void hp_contents_clear(struct hp_contents *contents);

/* The profile of (image, event); no such file is success with no strata. Damaged shares are left
 * out: that is no error. */
struct hp_error *hp_contents_read_profile(int directory, const struct hp_image_id *image,
					  const char *event, struct hp_profile *profile,
					  bool *has_unknown);
/* Likewise the names kept for an image. */
struct hp_error *hp_contents_read_symbols(int directory, const struct hp_image_id *image,
					  struct hp_symbol_file *symbols);
/* Likewise the excerpt of its file. */
struct hp_error *hp_contents_read_excerpt(int directory, const struct hp_image_id *image,
					  struct hp_excerpt_file *excerpt);
/* What windows counted; no such file is success with nothing. `lost` is as for
 * hp_evidence_decode. */
struct hp_error *hp_contents_read_evidence(int directory, struct hp_window_evidence *evidence,
					   bool *has_unknown, struct hp_error **lost);
/* Likewise, of what hp_evidence_decode_windows takes. */
struct hp_error *hp_contents_read_windows(int directory, struct hp_window_evidence *evidence);
/* Call paths; no such file is success with nothing. */
struct hp_error *hp_contents_read_paths(int directory, struct hp_paths *paths, bool *has_unknown);
/* Whether the kept bytes are what the index says. */
struct hp_error *hp_contents_check_bytes(int directory, const struct hp_index_entry *entry);

/* Samples and samples times period of a profile; false when they do not fit in 64 bits. */
bool hp_contents_totals(const struct hp_profile *profile, uint64_t *samples, uint64_t *weight);

#endif
