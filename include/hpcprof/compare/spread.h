/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much profiles of the same program vary: each epoch is a set of samples, and each procedure,
 * image or line has a sum, a mean and a spread over the sets (Anderson et al. 1997, figure 3).
 *
 * Plain data; everything lives in the spread's arena.
 */
#ifndef HPCPROF_COMPARE_SPREAD_H
#define HPCPROF_COMPARE_SPREAD_H

#include <hpcprof/base/arena.h>
#include <hpcprof/db/db.h>

enum hp_spread_of { HP_SPREAD_PROCEDURES, HP_SPREAD_IMAGES, HP_SPREAD_LINES };

struct hp_spread_options {
	enum hp_spread_of of;
	const char *event; /* as in struct hp_compare_options */
	const char *symfs;
	bool no_debuginfo;
};

/*
 * The samples of one item over all sets; sets without it count as 0. Sets with another rate are
 * converted to the mean rate, so the numbers need not be integers.
 */
struct hp_spread_row {
	const char *name;  /* of the procedure or image; of a line, its procedure's */
	const char *image; /* path */
	const char *file;  /* of a line, as compiled; NULL if unknown */
	uint32_t line;
	size_t sets; /* with samples of it */
	double sum;
	double mean;
	double deviation; /* standard deviation over the sets; NAN of a single one */
	double least;
	double most;
	double range; /* (most - least) / sum */
	double share; /* of all samples of all sets */
};

struct hp_spread_set {
	const char *stamp;
	const char *label; /* or NULL */
	double samples;
};

struct hp_spread {
	struct hp_arena *arena; /* owns all the rest */
	const char *event;
	double period; /* mean units between two samples */
	enum hp_unit unit;
	double samples; /* of all sets */
	const struct hp_spread_set *sets;
	size_t set_count;
	const struct hp_spread_row *rows; /* the greatest range times share first */
	size_t row_count;
	const char *const *notes;
	size_t note_count;
};

/* Errors are those of hp_compare, as far as they concern one side. */
struct hp_error *hp_spread(struct hp_db *db, char *const *stamps, size_t count,
			   const struct hp_spread_options *options, struct hp_spread **spread);
void hp_spread_destroy(struct hp_spread *spread);
HP_DEFINE_CLEANUP(struct hp_spread, hp_spread_destroy);

#endif
