/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes an epoch that becomes visible only when it is complete: the result of a merge. */
#ifndef HPCPROF_SRC_DB_WRITER_H
#define HPCPROF_SRC_DB_WRITER_H

#include <hpcprof/db/db.h>

/* Until it is published nobody sees it, and destroying the writer removes it. */
struct hp_error *hp_epoch_create_unpublished(struct hp_db *db, const char *label,
					     struct hp_epoch_writer **writer);
struct hp_error *hp_epoch_writer_publish(struct hp_epoch_writer *writer);

#endif
