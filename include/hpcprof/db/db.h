/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile database (Anderson et al. 1997, section 4.3.3): a directory of epochs, each a
 * directory with one compact file for each (image, event), an index of images, and a `meta` file.
 * hpcprof-db(5) describes every byte.
 *
 * Writing is crash-safe: every file is replaced atomically, so if a recorder dies, each file holds
 * what was last flushed to it. Any number of recorders may write into one database at once, each
 * into its own epoch, which it locks.
 */
#ifndef HPCPROF_DB_DB_H
#define HPCPROF_DB_DB_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/model/epoch.h>
#include <hpcprof/model/evidence.h>
#include <hpcprof/model/excerpt.h>
#include <hpcprof/model/paths.h>

#include <sys/types.h>

struct hp_db;

/* `path` NULL: $HPCPROF_DB, else ./hpcprof.db. With `create` a missing directory is created,
 * readable for its owner only; later the mode of the marker decides who may read new files. Without
 * `create` a missing directory is NOT_FOUND with advice. A foreign directory (neither empty nor
 * marked), a symbolic link and a database of a newer version are refused. */
struct hp_error *hp_db_open(const char *path, bool create, struct hp_db **db);
void hp_db_close(struct hp_db *db);
HP_DEFINE_CLEANUP(struct hp_db, hp_db_close);
const char *hp_db_path(const struct hp_db *db);
/* From now on `warn` is told when resolving passes over epochs that cannot be read: of which, and
 * why. `advice` may be NULL. */
void hp_db_on_warning(struct hp_db *db,
		      void (*warn)(const char *message, const char *advice, void *context),
		      void *context);

/*
 * Resolves EPOCH arguments into stamps, oldest first, distinct. `stamps` is a malloc'ed array of
 * malloc'ed strings. An argument is a stamp, a label, the beginning of exactly one stamp, @latest
 * (also when there is no argument), @-N (the N-th before it) or a range A..B (open ends allowed).
 * @latest and @-N count epochs that can be read and hold samples. A label of several epochs is a
 * USAGE error that lists them; what does not exist is NOT_FOUND and lists what does.
 */
struct hp_error *hp_db_resolve(struct hp_db *db, char *const *arguments, size_t argument_count,
			       char ***stamps, size_t *count);
/* The same for callers that accept several epochs: a label means all epochs that have it. DAMAGED
 * if an epoch that may have the label cannot be read. */
struct hp_error *hp_db_resolve_apart(struct hp_db *db, char *const *arguments,
				     size_t argument_count, char ***stamps, size_t *count);
void hp_db_free_stamps(char **stamps, size_t count);

/* --- reading ------------------------------------------------------------------------------ */

/*
 * One epoch opened for reading. Opening reads all profiles once. In a finished epoch their totals
 * must equal those of meta; otherwise the error is DAMAGED and names the file. In an unfinished
 * epoch they may be larger (flushed, but not yet in meta), and the totals of hp_epoch_meta are
 * those of the profiles. Several epochs may be open at once; they need `db` only for opening.
 */
struct hp_epoch;
struct hp_error *hp_epoch_open(struct hp_db *db, const char *stamp, struct hp_epoch **epoch);
void hp_epoch_close(struct hp_epoch *epoch);
HP_DEFINE_CLEANUP(struct hp_epoch, hp_epoch_close);
const char *hp_epoch_stamp(const struct hp_epoch *epoch);
/* The user who recorded it; (uid_t)-1 if unknown. */
uid_t hp_epoch_owner(const struct hp_epoch *epoch);
const struct hp_epoch_meta *hp_epoch_meta(const struct hp_epoch *epoch);
/* A contradiction between files that are each intact, "FILE: …": one of them was changed. NULL:
 * none. The warnings of hp_epoch_meta contain it, too. */
const char *hp_epoch_contradiction(const struct hp_epoch *epoch);
bool hp_epoch_is_recording(const struct hp_epoch *epoch); /* a live recorder holds its lock */

size_t hp_epoch_image_count(const struct hp_epoch *epoch);
const struct hp_image_id *hp_epoch_image(const struct hp_epoch *epoch, size_t index);

/* The profile of image `index` for event `event` (an index into meta->events). Without samples:
 * success with zero strata. Damaged shares are omitted, and the profile says so. The caller clears
 * it. */
struct hp_error *hp_epoch_read_profile(struct hp_epoch *epoch, size_t index, size_t event,
				       struct hp_profile *profile);
/* The names stored for an image: of its sampled procedures, or (vdso) all; possibly none. For
 * files, also the bodies of the most expensive procedures. Damage to bodies loses only these, and
 * `are_whole` (may be NULL) becomes false. */
struct hp_error *hp_epoch_read_symbols(struct hp_epoch *epoch, size_t index,
				       struct hp_symbol **symbols, size_t *count, bool *are_whole);
void hp_symbols_free(struct hp_symbol *symbols, size_t count);
/* The stored excerpt of an image's file; empty in some epochs. DAMAGED concerns only the excerpt.
 * `lost` becomes NULL, or the damage to some of its layers (the caller destroys it); the other
 * layers are valid. The caller clears the excerpt. */
struct hp_error *hp_epoch_read_excerpt(struct hp_epoch *epoch, size_t index,
				       struct hp_excerpt *excerpt, struct hp_error **lost);
/* The counts of shadow windows and the other evidence for executions; empty in some epochs. DAMAGED
 * concerns only the evidence. `lost` becomes NULL, or the damage to some of its parts (the caller
 * destroys it); the other parts are valid. The caller clears the evidence. */
struct hp_error *hp_epoch_read_evidence(struct hp_epoch *epoch, struct hp_window_evidence *evidence,
					struct hp_error **lost);
/* The call paths of samples; empty in epochs recorded without. DAMAGED concerns only the paths. The
 * caller clears them, also after an error. */
struct hp_error *hp_epoch_read_paths(struct hp_epoch *epoch, struct hp_paths *paths);
/* The path of the stored copy of the image's bytes (vdso), or NULL, also when the copy is damaged
 * (verify shows how). Owned by the epoch. */
const char *hp_epoch_bytes_path(struct hp_epoch *epoch, size_t index);

/* --- writing ------------------------------------------------------------------------------ */

struct hp_epoch_writer;
/*
 * A new epoch, stamped now (UTC, "20261120T142300Z-1"), or with `append` an existing one, which
 * nobody else may be recording.
 *
 * To append: begin with hp_epoch_writer_previous, hp_epoch_meta_add what is recorded, commit the
 * sum. Profiles of events that no commit has named are dropped then: commit once before the first
 * samples, so that meta names the events.
 */
struct hp_error *hp_epoch_create(struct hp_db *db, const char *label,
				 struct hp_epoch_writer **writer);
struct hp_error *hp_epoch_append(struct hp_db *db, const char *stamp,
				 struct hp_epoch_writer **writer);
/* Closes the epoch without finishing it. A new epoch without any additions or commits is
 * removed. */
void hp_epoch_writer_destroy(struct hp_epoch_writer *writer);
HP_DEFINE_CLEANUP(struct hp_epoch_writer, hp_epoch_writer_destroy);
const char *hp_epoch_writer_stamp(const struct hp_epoch_writer *writer);
/* The previous contents of an appended epoch; NULL for a new one. */
const struct hp_epoch_meta *hp_epoch_writer_previous(const struct hp_epoch_writer *writer);

/* Adds an image to the index (or finds it there). Reaches the disk at the next commit. */
struct hp_error *hp_epoch_writer_image(struct hp_epoch_writer *writer, const struct hp_image_id *id,
				       size_t *index);
/* The images so far; an index does not change. Owned by the writer, until an image is added. */
size_t hp_epoch_writer_image_count(const struct hp_epoch_writer *writer);
const struct hp_image_id *hp_epoch_writer_image_id(const struct hp_epoch_writer *writer,
						   size_t index);
/* The samples added so far for an image, including those before an append: as
 * hp_epoch_read_profile. */
struct hp_error *hp_epoch_writer_read(struct hp_epoch_writer *writer, size_t index,
				      const char *event, struct hp_profile *profile);
/* The number of samples of the event so far, including those before an append. */
uint64_t hp_epoch_writer_samples(const struct hp_epoch_writer *writer, const char *event);
/* Adds `profile` to the file of its (image, event): reads it, merges, replaces it. After an error
 * (for instance, disk full) the file is unchanged, and the same profile may be added again. */
struct hp_error *hp_epoch_writer_add(struct hp_epoch_writer *writer,
				     const struct hp_profile *profile);
/* The window counts added so far, including those before an append, and what probes counted;
 * without outcomes of branches and branch records. The caller clears them. */
struct hp_error *hp_epoch_writer_read_windows(struct hp_epoch_writer *writer,
					      struct hp_window_evidence *evidence);
/* Adds to the names stored for an image: the union. Two names at one place of a JIT image are
 * refused (DAMAGED); elsewhere the larger one remains. */
struct hp_error *hp_epoch_writer_symbols(struct hp_epoch_writer *writer, size_t index,
					 const struct hp_symbol *symbols, size_t count);
/* Adds to the excerpt stored for an image's file: the union. If it would be too large, the file is
 * unchanged (DAMAGED). */
struct hp_error *hp_epoch_writer_excerpt(struct hp_epoch_writer *writer, size_t index,
					 const struct hp_excerpt *excerpt);
/* Adds the window counts since the last call: reads the file, adds, replaces it. Its images need
 * not be in the index. After an error the file is unchanged. */
struct hp_error *hp_epoch_writer_evidence(struct hp_epoch_writer *writer,
					  const struct hp_window_evidence *evidence);
/* Adds call paths: reads the file, adds, replaces it. It keeps at most HP_PATHS_DEFAULT_NODES
 * nodes, or as many as it had; leaves of fewest samples are folded beyond that. Images need not be
 * in the index. After an error the file is unchanged. */
struct hp_error *hp_epoch_writer_paths(struct hp_epoch_writer *writer,
				       const struct hp_paths *paths);
/* The same for a caller that adds to the sum itself, without a tree of its own beside it. */
typedef struct hp_error *(*hp_paths_adder)(void *context, struct hp_paths *sum);
struct hp_error *hp_epoch_writer_add_paths(struct hp_epoch_writer *writer, hp_paths_adder add,
					   void *context);
/* The call paths so far, including those before an append. The caller clears them. */
struct hp_error *hp_epoch_writer_read_paths(struct hp_epoch_writer *writer, struct hp_paths *paths);
/* Stores a copy of an image's bytes; the first one stored remains. */
struct hp_error *hp_epoch_writer_bytes(struct hp_epoch_writer *writer, size_t index,
				       const void *bytes, size_t size);
/* Writes the index (if it grew) and then `meta`. meta is last, so that it never claims more than
 * the profiles contain. A meta that does is refused (USAGE), and so is one with meta->complete
 * whose samples differ from those of the profiles. A flush is: images, adds, commit. meta->complete
 * finishes the epoch: nothing can be added afterwards. Without meta->label the label does not
 * change. */
struct hp_error *hp_epoch_writer_commit(struct hp_epoch_writer *writer,
					const struct hp_epoch_meta *meta);
/* The size of the epoch's files on disk. */
struct hp_error *hp_epoch_writer_size(struct hp_epoch_writer *writer, uint64_t *bytes);

/* --- looking after ------------------------------------------------------------------------ */

struct hp_epoch_summary {
	char *stamp;
	char *problem; /* why the epoch cannot be read, else NULL; then the rest is 0 */
	struct hp_epoch_meta meta;
	bool recording;
	size_t images;
	uint64_t bytes;
	struct hp_window_group windows; /* counted, including relative ones */
	unsigned evidence;		/* in addition to time: enum hp_evidence_content */
	bool is_evidence_damaged;	/* or a part of it */
	bool has_paths;			/* call paths, be they damaged */
};
struct hp_error *hp_db_list(struct hp_db *db, struct hp_epoch_summary **epochs, size_t *count);
void hp_db_free_list(struct hp_epoch_summary *epochs, size_t count);

/* `label` NULL removes it. The function does not make labels unique; the caller does if
 * necessary. */
struct hp_error *hp_db_label(struct hp_db *db, const char *stamp, const char *label);
struct hp_error *hp_db_remove(struct hp_db *db, const char *stamp);
/* Makes a new epoch with the sum; the sources remain. `merged` is its stamp, malloc'ed. The
 * profiles do not depend on the order or the steps in which epochs are merged, byte for byte. */
struct hp_error *hp_db_merge(struct hp_db *db, char *const *stamps, size_t count, const char *label,
			     char **merged);

/* Labelled epochs, those being recorded and those that cannot be read are always kept. With no
 * limit, all except the newest `keep` are removed; with no rule at all, only leftovers. */
struct hp_gc_options {
	uint64_t older_than_ns; /* 0: no age limit */
	size_t keep;		/* the newest N of all epochs stay */
	uint64_t max_bytes;	/* 0: no limit; oldest go first */
	bool dry_run;
};
struct hp_gc_result {
	char **removed; /* stamps */
	size_t removed_count;
	size_t leftovers; /* temporary files and directories of killed recorders */
	uint64_t freed_bytes;
};
struct hp_error *hp_db_gc(struct hp_db *db, const struct hp_gc_options *options,
			  struct hp_gc_result *result);
void hp_gc_result_clear(struct hp_gc_result *result);

enum hp_verify_finding {
	HP_VERIFY_PROBLEM,
	HP_VERIFY_UNREAD,   /* not readable for this user: nothing is known about it */
	HP_VERIFY_UNSUMMED, /* of an older version: forged files may go unnoticed */
	HP_VERIFY_FINDINGS,
};
struct hp_verifying {
	/* "STAMP/FILE: offset 0x40: …". May be NULL. */
	void (*each)(enum hp_verify_finding finding, const char *text, void *context);
	void *context;
	size_t counts[HP_VERIFY_FINDINGS]; /* the result */
};
/* Reads all files, checks all rules of hpcprof-db(5), and continues after each problem. An
 * interrupted recording is not a problem. */
struct hp_error *hp_db_verify(struct hp_db *db, char *const *stamps, size_t count,
			      struct hp_verifying *verifying);

#endif
