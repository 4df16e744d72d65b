/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns with the analysis of an instruction, for programs; empty where nothing is known. The rows
 * are those of a listing after listing_add_analysis.
 */
#ifndef REPORT_TABLES_COLUMNS_ANALYSIS_H
#define REPORT_TABLES_COLUMNS_ANALYSIS_H

#include "columns.h"

#include <hpcprof/analyze/analysis.h>

/* "dcache:0.400000:0.900000:0x1130;...": name, shares at least and at most, culprit or nothing. */
void columns_add_causes(struct hp_buffer *text, const struct hp_analysis *analysis,
			const struct hp_analysed_insn *insn);
void columns_add_number(struct hp_buffer *text, double value); /* nothing when it is not finite */

/* Ends with one without a title. */
extern const struct column columns_of_analysis[];

#endif
