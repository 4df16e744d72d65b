/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells that the lists of a survey share. Their rows are those of struct stall. */
#ifndef REPORT_STALLS_STALL_CELLS_H
#define REPORT_STALLS_STALL_CELLS_H

#include "../tables/cells.h"
#include "survey.h"

const struct stall *stall_of_row(const struct hp_row *row);
/* The frequency of its block. */
const struct hp_frequency *stall_frequency(const struct hp_row *row);

void stall_cell_percent(const struct cell *cell, struct hp_buffer *text);
void stall_cell_range(const struct cell *cell, struct hp_buffer *text);
void stall_cell_cycles(const struct cell *cell, struct hp_buffer *text);
void stall_cell_executions(const struct cell *cell, struct hp_buffer *text);
void stall_cell_position(const struct cell *cell, struct hp_buffer *text);

/* As plain numbers. */
void stall_cell_exact_percent(const struct cell *cell, struct hp_buffer *text);
void stall_cell_percent_low(const struct cell *cell, struct hp_buffer *text);
void stall_cell_percent_high(const struct cell *cell, struct hp_buffer *text);
void stall_cell_exact_cycles(const struct cell *cell, struct hp_buffer *text);
void stall_cell_estimate(const struct cell *cell, struct hp_buffer *text);

#endif
