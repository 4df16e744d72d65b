/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of an annotated instruction, and which of them a terminal has room for. */
#ifndef REPORT_ANNOTATE_ANNOTATE_COLUMNS_H
#define REPORT_ANNOTATE_ANNOTATE_COLUMNS_H

#include "annotate.h"
#include "../common/text.h"

enum annotated_column {
	COLUMN_ADDRESS,
	COLUMN_TEXT,
	COLUMN_SAMPLES,
	COLUMN_SHARE,
	COLUMN_EXECUTIONS,
	COLUMN_CONFIDENCE,
	COLUMN_CPI,
	COLUMN_CULPRIT,
	COLUMN_SEEN,
	COLUMN_COUNT,
};

enum { ANNOTATED_GAP = 2 };

struct annotated_columns {
	size_t widths[COLUMN_COUNT]; /* 0: not shown */
	bool is_left_out[COLUMN_COUNT];
	size_t lanes; /* lanes of arrows that fit */
};

/* The unescaped text of a cell. */
void annotated_cell(const struct annotation *annotation, const struct annotated_line *line,
		    enum annotated_column column, struct hp_buffer *text);
const char *annotated_title(const struct annotation *annotation, enum annotated_column column);

/* Sets widths that fit every instruction, but no wider than the terminal, unless that is very
 * narrow. */
struct hp_error *annotated_columns_fit(const struct annotation *annotation,
				       struct annotated_columns *columns);

#endif
