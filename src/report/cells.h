/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells (see columns.h) that tables of several views have: nothing where a row does not know. */
#ifndef REPORT_CELLS_H
#define REPORT_CELLS_H

#include "model.h"
#include "text.h"

void cell_cumulative(const struct report *report, const struct row *row, size_t event,
		     struct buffer *buffer);
void cell_name(const struct report *report, const struct row *row, size_t event,
	       struct buffer *buffer);
void cell_image(const struct report *report, const struct row *row, size_t event,
		struct buffer *buffer);
void cell_build_id(const struct report *report, const struct row *row, size_t event,
		   struct buffer *buffer);
void cell_address(const struct report *report, const struct row *row, size_t event,
		  struct buffer *buffer);
void cell_file(const struct report *report, const struct row *row, size_t event,
	       struct buffer *buffer);
void cell_line(const struct report *report, const struct row *row, size_t event,
	       struct buffer *buffer);

#endif
