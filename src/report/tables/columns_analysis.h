/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns with the analysis of an instruction, for programs; empty where nothing is known. The rows
 * are those of a listing after listing_add_analysis.
 */
#ifndef REPORT_TABLES_COLUMNS_ANALYSIS_H
#define REPORT_TABLES_COLUMNS_ANALYSIS_H

#include "columns.h"

#include <hpcprof/analyze/analysis.h>

/* Adds "dcache:0.400000:0.900000:0x1130;...": name, lowest and highest share, culprit or
 * nothing. */
void columns_add_causes(struct hp_buffer *text, const struct hp_analysis *analysis,
			const struct hp_analysed_insn *insn);
/* Adds a number; nothing if it is not finite. */
void columns_add_number(struct hp_buffer *text, double value);

/* The last one has no title. */
extern const struct column columns_of_analysis[];

#endif
