/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Databases in temporary directories, and small epochs whose numbers are known. */
#ifndef HPCPROF_TESTS_DB_FIXTURE_H
#define HPCPROF_TESTS_DB_FIXTURE_H

#include "support.h"

#include <hpcprof/db/db.h>

/* Databases and stamps are released when the test ends. */

/* `name` inside `directory`; static storage, a few results live at once. */
const char *fixture_path(const char *directory, const char *name);
/* A file of an epoch in `directory`/db, likewise. */
const char *fixture_file(const char *directory, const char *stamp, const char *name);
struct hp_db *fixture_db(const char *directory);
/* The number of epochs that the database lists. */
size_t fixture_epoch_count(struct hp_db *db);

/* Image `number`: FILE images with build-ids, except 0, which is "[unknown]". */
struct hp_image_id fixture_image(unsigned number);
/* A profile with random strata; the caller clears it. */
struct hp_profile fixture_profile(struct hp_random *random, unsigned image, const char *event);
/* The profile of `image` with one stratum and `count` offsets of one sample each. */
struct hp_profile fixture_flat_profile(unsigned image, const char *event, uint64_t period,
				       size_t count);

/* Meta with one event of that many samples; clear it. */
struct hp_epoch_meta fixture_meta(const char *event, uint64_t samples, bool complete);
/* Commits and ends the epoch; returns its stamp. */
char *fixture_commit(struct hp_epoch_writer *writer, const struct hp_epoch_meta *meta);
/* The stamp of their sum. */
char *fixture_merge(struct hp_db *db, char *const *stamps, size_t count, const char *label);
/* Counts the profile into what meta says of its event. */
void fixture_count(struct hp_event_totals *event, const struct hp_profile *profile);
/* A finished epoch of one event with so many samples in image 1; returns its stamp. */
char *fixture_epoch(struct hp_db *db, const char *label, uint64_t samples);
/* What a few windows of one recording counted: blocks and edges of images 1 and 2; clear it. */
struct hp_window_evidence fixture_evidence(uint64_t recording);
/* A body with so many hashes, up to what one holds; of another number it is another one. */
struct hp_body fixture_body(uint32_t number);
/* An excerpt of a file: procedures "first" and "second" with lines and code, of which the second
 * comes with the number 1 or above; clear it. */
struct hp_excerpt fixture_excerpt(unsigned number);
/* A few call paths of one command in images 1 and 2: 311 samples, of which 4 are folded; clear
 * them. */
struct hp_paths fixture_paths(const char *command);
/* A small epoch with a bit of everything: two events, symbols, a body, kept bytes, an excerpt,
 * windows, call paths. */
char *fixture_rich_epoch(struct hp_db *db);

/* `meta` and `images` in that epoch's directory become as older versions wrote them: neither knows
 * of other files. */
void fixture_forget_sums(const char *epoch);

/* The names in a directory, without hidden ones, sorted. */
struct fixture_names {
	char at[16][256];
	size_t count;
};
struct fixture_names fixture_names(const char *directory);

/* Number of problems that verify finds in all epochs; the first is copied to `first` if given. */
size_t fixture_verify(struct hp_db *db, char *first, size_t room);

uint8_t *fixture_read(const char *path, size_t *size);
void fixture_write(const char *path, const void *bytes, size_t size);
bool fixture_exists(const char *path);

#endif
