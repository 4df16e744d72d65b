/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layer of an excerpt that has source positions, as bytes: hpcprof-db(5).
 *
 * Most of an excerpt's bytes are here. Fields of the same kind are stored together, each number as
 * the difference from the one before, so that compressed entries take half of the space of the
 * older format.
 */
#ifndef HPCPROF_SRC_DB_EXCERPT_LINES_H
#define HPCPROF_SRC_DB_EXCERPT_LINES_H

#include "excerpt_reading.h"

#include <hpcprof/model/excerpt.h>

void excerpt_write_lines(const struct hp_excerpt *excerpt, struct hp_writer *section);
void excerpt_read_lines(struct reading *reading, struct hp_excerpt *excerpt);
/* Reads the format of older epochs, entry by entry. */
void excerpt_read_old_lines(struct reading *reading, struct hp_excerpt *excerpt);

#endif
