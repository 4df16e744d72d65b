/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells (columns.h) that tables of several views share. A cell is empty where the row has no value.
 */
#ifndef REPORT_TABLES_CELLS_H
#define REPORT_TABLES_CELLS_H

#include "columns.h"

void cell_cumulative(const struct cell *cell, struct hp_buffer *buffer);
void cell_name(const struct cell *cell, struct hp_buffer *buffer);
void cell_image(const struct cell *cell, struct hp_buffer *buffer);
void cell_build_id(const struct cell *cell, struct hp_buffer *buffer);
void cell_address(const struct cell *cell, struct hp_buffer *buffer);
void cell_file(const struct cell *cell, struct hp_buffer *buffer);
void cell_line(const struct cell *cell, struct hp_buffer *buffer);
/* The cell as people see it. */
void cell_shown(const struct cell *cell, struct hp_buffer *buffer);
void cell_short_image(const struct cell *cell, struct hp_buffer *buffer);
void cell_place(const struct cell *cell, struct hp_buffer *buffer);

#endif
