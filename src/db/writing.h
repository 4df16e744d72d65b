/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an epoch that is being written, shared by the files that write it. */
#ifndef HPCPROF_SRC_DB_WRITING_H
#define HPCPROF_SRC_DB_WRITING_H

#include "contents.h"
#include "directory.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/db/db.h>

/* What the profiles on disk hold of one event: meta may never claim more. */
struct held {
	char *event;
	uint64_t samples;
};

struct hp_epoch_writer {
	int db;
	int directory;
	int lock;
	mode_t file_mode;		 /* of what it writes */
	char name[HP_HIDDEN_NAME_BYTES]; /* the stamp, once published */
	bool published;
	bool holds_data; /* otherwise destroying the writer removes the epoch */
	bool complete;	 /* meta on disk says so */
	bool finished;	 /* by us: nothing may be added any more */
	bool has_previous;
	char *label;
	struct hp_contents before; /* of an appended epoch; its index goes on growing */
	bool index_changed;
	HP_VECTOR(struct held) held;
};

/* Before anything in a finished epoch changes, its totals stop being promised to the sample. */
struct hp_error *hp_writing_reopen(struct hp_epoch_writer *writer);
/* Keeps so many nodes, or as many as there are. */
struct hp_error *hp_writing_add_paths(struct hp_epoch_writer *writer, const struct hp_paths *paths,
				      size_t limit);
/* The error of changing files that have sections unknown to us. */
struct hp_error *hp_writing_would_lose(void);

#endif
