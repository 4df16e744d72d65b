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
	struct hp_event_sum *sums; /* one per event of meta */
	struct hp_file_sums files; /* sums of the other files, as in meta */
	/* Differences between the files and what meta says of them, though each file is whole. */
	struct hp_contradictions contradictions;
	bool has_unknown; /* meta or index have sections that this version ignores */
};

/* Takes over `problem`. Returns NULL to continue, or the problem to stop. */
typedef struct hp_error *hp_problem_sink(struct hp_error *problem, void *context);

/* Reads the whole file `name` (NULL: out of memory for it). If `found` is NULL, the file must
 * exist. Symbolic links are not followed. */
struct hp_error *hp_contents_read_file(int directory, const char *name, uint8_t **bytes,
				       size_t *size, bool *found);

/* An error: the file's name is that of another image or event than it contains. */
struct hp_error *hp_contents_wrong_key(const char *name);

/* Reads only meta and index; checks no rules between files. */
struct hp_error *hp_contents_read_heads(int directory, struct hp_contents *contents);
/* Reads everything. With a sink, each problem (stray files too) is passed to it, and `contents` has
 * what could be read. Without one, the first problem is the error, and contradictions are left in
 * `contents`. */
struct hp_error *hp_contents_read(int directory, hp_problem_sink *sink, void *context,
				  struct hp_contents *contents);
/* Turns contradictions into warnings of meta, for views that show figures of the epoch. */
struct hp_error *hp_contents_warn(struct hp_contents *contents, const char *stamp);
void hp_contents_clear(struct hp_contents *contents);

/* Reads the profile of (image, event). If there is no such file, it has no strata. Damaged shares
 * are left out, which is not an error. */
struct hp_error *hp_contents_read_profile(int directory, const struct hp_image_id *image,
					  const char *event, struct hp_profile *profile,
					  bool *has_unknown);
/* Reads the names kept for an image, in the same way. */
struct hp_error *hp_contents_read_symbols(int directory, const struct hp_image_id *image,
					  struct hp_symbol_file *symbols);
/* Reads the excerpt of the image's file, in the same way. */
struct hp_error *hp_contents_read_excerpt(int directory, const struct hp_image_id *image,
					  struct hp_excerpt_file *excerpt);
/* Reads what windows counted; nothing if there is no such file. `lost`: see hp_evidence_decode. */
struct hp_error *hp_contents_read_evidence(int directory, struct hp_window_evidence *evidence,
					   bool *has_unknown, struct hp_error **lost);
/* Reads what hp_evidence_decode_windows decodes, in the same way. */
struct hp_error *hp_contents_read_windows(int directory, struct hp_window_evidence *evidence);
/* Reads call paths; nothing if there is no such file. */
struct hp_error *hp_contents_read_paths(int directory, struct hp_paths *paths, bool *has_unknown);
/* Checks that the kept copy is the one that the index describes. */
struct hp_error *hp_contents_check_bytes(int directory, const struct hp_index_entry *entry);

/* Sums of a profile: samples, and samples times period. False when a sum does not fit in 64
 * bits. */
bool hp_contents_totals(const struct hp_profile *profile, uint64_t *samples, uint64_t *weight);

#endif
