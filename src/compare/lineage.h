/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Earlier epochs of what is compared: same command or label, same machine, same event at the same
 * rate. They come from the databases of both sides.
 */
#ifndef COMPARE_LINEAGE_H
#define COMPARE_LINEAGE_H

#include "sides.h"

struct lineage_epoch {
	struct hp_db *db;
	struct hp_epoch *epoch; /* owned */
	uint64_t start_ns;
	size_t group; /* epochs of one group have the same command and builds */
};

struct lineage {
	HP_VECTOR(struct lineage_epoch) found; /* the newest first */
	size_t group_count;
};

/* Finds the newest ones, at most `most`. Unreadable epochs are left out. Requires sides_open. */
struct hp_error *lineage_find(const struct sides *sides,
			      const struct hp_compare_epochs compared[HP_SIDES], size_t most,
			      struct lineage *lineage);
void lineage_clear(struct lineage *lineage);

/* Whether they have the same command and machine, and no file executed in both was another build in
 * one of them. */
bool lineage_are_alike(struct hp_epoch *a, struct hp_epoch *b);

#endif
