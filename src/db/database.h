/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the database, and private to them. */
#ifndef HPCPROF_SRC_DB_DATABASE_H
#define HPCPROF_SRC_DB_DATABASE_H

#include "codec.h"
#include "directory.h"

/* Stamps of all epochs, oldest first. */
struct hp_error *hp_db_stamps(const struct hp_db *db, char ***stamps, size_t *count);

#endif
