/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real programs, and epochs with samples in procedures of theirs; all of it is released when the
 * test ends. */
#ifndef HPCPROF_TESTS_COMPARE_BUILDS_H
#define HPCPROF_TESTS_COMPARE_BUILDS_H

#include "../compare_fixture.h"
#include "../db_fixture.h"

#include <hpcprof/compare/compare.h>
#include <hpcprof/image/image.h>

struct build {
	struct hp_image_id id;
	struct hp_image *image;
};

struct build build_open_file(const char *path);
/* Of the programs built beside the tests. */
struct build build_open(const char *name);
/* Such a program as another file of the same name, as a linker makes it. */
void build_copy(const char *name, const char *to);

/* The first of the name, or NULL. */
const struct hp_procedure *build_procedure(const struct build *build, const char *name);
/* The file offset of a link-time address. */
uint64_t build_offset(const struct build *build, uint64_t address);

/* So many samples all over a procedure, or on a line of it alone. */
struct spent {
	const char *name;
	uint64_t samples;
	uint32_t line;			      /* 0: all over it */
	const struct hp_procedure *procedure; /* else the first of the name */
};

/* When the last epoch was recorded; the next one was a second later. */
extern uint64_t build_start_ns;

/* An epoch of one run, with a period of a millisecond: its stamp. */
char *build_record(struct hp_db *db, const struct build *build, const struct spent *spent,
		   size_t procedures);

enum { BUILD_RUNS = 5 };
/* So many epochs of each side, in turns, compared. */
struct hp_comparison *build_compare(struct hp_db *db, const struct build builds[HP_SIDES],
				    const struct spent *const spent[HP_SIDES],
				    const size_t counts[HP_SIDES]);

/* Two such programs, and a comparison of them. */
struct pair {
	char *directory;
	struct hp_db *db;
	struct build builds[HP_SIDES];
	struct hp_comparison *comparison; /* once pair_compare has made it */
};
struct pair pair_open(const char *base, const char *candidate);
void pair_compare(struct pair *pair, const struct spent *old, size_t old_count,
		  const struct spent *new, size_t new_count);

/* What is said of a procedure, or NULL. */
const struct hp_compared *build_find(const struct hp_comparison *comparison, const char *name);

#endif
