/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile database (Anderson et al. 1997, section 4.3.3): a directory of epochs, each a
 * directory with one compact file for each (image, event), an index of images, and a `meta` file.
 * hpcprof-db(5) describes every byte.
 *
 * Writing is crash-safe: every file is replaced atomically, so whoever dies whenever, each file
 * holds what its last flush put there. Any number of recorders write into one database at once,
 * each into its own epoch (a lock in the epoch says so).
 */
#ifndef HPCPROF_DB_DB_H
#define HPCPROF_DB_DB_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/model/epoch.h>

struct hp_db;

/* `path` NULL: $HPCPROF_DB, else ./hpcprof.db. With `create` a missing directory is made (mode
 * 0777 less umask). Without, a missing one is NOT_FOUND with advice. A directory that is not ours
 * (neither empty nor marked) is refused. */
struct hp_error *hp_db_open(const char *path, bool create, struct hp_db **db);
void hp_db_close(struct hp_db *db);
HP_DEFINE_CLEANUP(struct hp_db, hp_db_close);
const char *hp_db_path(const struct hp_db *db);

/* Resolves EPOCH arguments (stamp, label, @latest, @-N, A..B; none at all means @latest) into
 * stamps, oldest first, distinct. `stamps` is a malloc'ed array of malloc'ed strings. */
struct hp_error *hp_db_resolve(struct hp_db *db, char *const *arguments, size_t argument_count,
			       char ***stamps, size_t *count);
void hp_db_free_stamps(char **stamps, size_t count);

/* --- reading ------------------------------------------------------------------------------ */

struct hp_epoch; /* one epoch opened for reading */
struct hp_error *hp_epoch_open(struct hp_db *db, const char *stamp, struct hp_epoch **epoch);
void hp_epoch_close(struct hp_epoch *epoch);
HP_DEFINE_CLEANUP(struct hp_epoch, hp_epoch_close);
const char *hp_epoch_stamp(const struct hp_epoch *epoch);
const struct hp_epoch_meta *hp_epoch_meta(const struct hp_epoch *epoch);
bool hp_epoch_is_recording(const struct hp_epoch *epoch); /* a live recorder holds its lock */

size_t hp_epoch_image_count(const struct hp_epoch *epoch);
const struct hp_image_id *hp_epoch_image(const struct hp_epoch *epoch, size_t index);

/* The profile of image `index` under event `event` (an index into meta->events). No samples there:
 * success with zero strata. The caller clears it. */
struct hp_error *hp_epoch_read_profile(struct hp_epoch *epoch, size_t index, size_t event,
				       struct hp_profile *profile);
/* Names kept for an image (JIT, kernel, module, vdso); zero for most. */
struct hp_error *hp_epoch_read_symbols(struct hp_epoch *epoch, size_t index,
				       struct hp_symbol **symbols, size_t *count);
void hp_symbols_free(struct hp_symbol *symbols, size_t count);
/* Path of the kept copy of the image's bytes (vdso), or NULL. Owned by the epoch. */
const char *hp_epoch_bytes_path(struct hp_epoch *epoch, size_t index);

/* --- writing ------------------------------------------------------------------------------ */

struct hp_epoch_writer;
/* A new epoch, stamped now (UTC, "20261120T142300Z-1"), or with `append` an existing one. */
struct hp_error *hp_epoch_create(struct hp_db *db, const char *label,
				 struct hp_epoch_writer **writer);
struct hp_error *hp_epoch_append(struct hp_db *db, const char *stamp,
				 struct hp_epoch_writer **writer);
void hp_epoch_writer_destroy(struct hp_epoch_writer *writer); /* without finishing */
HP_DEFINE_CLEANUP(struct hp_epoch_writer, hp_epoch_writer_destroy);
const char *hp_epoch_writer_stamp(const struct hp_epoch_writer *writer);
/* What an appended epoch held before; NULL for a new one. */
const struct hp_epoch_meta *hp_epoch_writer_previous(const struct hp_epoch_writer *writer);

/* Adds an image to the index (or finds it there). Reaches the disk at the next commit. */
struct hp_error *hp_epoch_writer_image(struct hp_epoch_writer *writer, const struct hp_image_id *id,
				       size_t *index);
/* Adds `profile` to the file of its (image, event): reads what is there, merges, replaces. */
struct hp_error *hp_epoch_writer_add(struct hp_epoch_writer *writer,
				     const struct hp_profile *profile);
/* Replaces the names kept for an image. */
struct hp_error *hp_epoch_writer_symbols(struct hp_epoch_writer *writer, size_t index,
					 const struct hp_symbol *symbols, size_t count);
struct hp_error *hp_epoch_writer_bytes(struct hp_epoch_writer *writer, size_t index,
				       const void *bytes, size_t size);
/* Writes the index (if it grew) and then `meta`, last, so that meta never claims more than the
 * profiles hold. A flush is: images, adds, commit. With meta->complete the epoch is finished. */
struct hp_error *hp_epoch_writer_commit(struct hp_epoch_writer *writer,
					const struct hp_epoch_meta *meta);
/* Bytes the epoch takes on disk, files added up. */
struct hp_error *hp_epoch_writer_size(struct hp_epoch_writer *writer, uint64_t *bytes);

/* --- looking after ------------------------------------------------------------------------ */

struct hp_epoch_summary {
	char *stamp;
	char *problem; /* why the epoch cannot be read, else NULL; then the rest is 0 */
	struct hp_epoch_meta meta;
	bool recording;
	size_t images;
	uint64_t bytes;
};
struct hp_error *hp_db_list(struct hp_db *db, struct hp_epoch_summary **epochs, size_t *count);
void hp_db_free_list(struct hp_epoch_summary *epochs, size_t count);

struct hp_error *hp_db_label(struct hp_db *db, const char *stamp, const char *label);
struct hp_error *hp_db_remove(struct hp_db *db, const char *stamp);
/* A new epoch that holds the sum; sources stay. `merged` is its stamp, malloc'ed. */
struct hp_error *hp_db_merge(struct hp_db *db, char *const *stamps, size_t count, const char *label,
			     char **merged);

struct hp_gc_options {
	uint64_t older_than_ns; /* 0: no age limit */
	size_t keep;		/* keep at least the newest N; labelled epochs are always kept */
	uint64_t max_bytes;	/* 0: no limit; oldest unlabelled go first */
	bool dry_run;
};
struct hp_gc_result {
	char **removed; /* stamps */
	size_t removed_count;
	size_t leftovers; /* temporary files of recorders that died */
	uint64_t freed_bytes;
};
struct hp_error *hp_db_gc(struct hp_db *db, const struct hp_gc_options *options,
			  struct hp_gc_result *result);
void hp_gc_result_clear(struct hp_gc_result *result);

/* Reads every byte of every file and checks every rule of hpcprof-db(5). Calls `each` once for
 * each problem ("STAMP/FILE: offset 0x40: …"); an interrupted recording is no problem as such. */
struct hp_error *hp_db_verify(struct hp_db *db, char *const *stamps, size_t count,
			      void (*each)(const char *problem, void *context), void *context,
			      size_t *problems);

#endif
