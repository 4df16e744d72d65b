/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the cycles of a procedure or a program were spent, as in figure 4 of DCPI. */
#ifndef REPORT_COMMON_SHEET_H
#define REPORT_COMMON_SHEET_H

#include <hpcprof/analyze/analysis.h>

#include <stdio.h>

/*
 * One line of the sheet: in cycles, or, from sheet_sum and sheet_cause, as a share of the sheet's
 * cycles, 0 to 100. The range is a 90 % interval that covers the possible frequencies and the
 * chance in samples. It contains `likely`.
 */
struct sheet_line {
	double likely;
	double low;
	double high;
};

/* The `likely` values of stalls, execution and error add up to 100. */
struct sheet_sums {
	struct sheet_line gain; /* at most 0 */
	struct sheet_line dynamic;
	struct sheet_line fixed;  /* static stalls */
	struct sheet_line stalls; /* dynamic and static stalls, minus the gain */
	struct sheet_line execution;
	struct sheet_line error; /* the rest: net sampling error */
};
struct sheet_sums sheet_sum(const struct hp_stall_sheet *sheet);
struct sheet_line sheet_cause(const struct hp_stall_sheet *sheet, enum hp_cause_kind kind);
/* Its causes together. */
struct sheet_line sheet_family(const struct hp_stall_sheet *sheet, enum hp_cause_family family);

/* Executions were counted for most of the cycles. If not, execution and the sums of stalls have a
 * range, but no likely value, which would be a guess. */
bool sheet_is_measured(const struct hp_stall_sheet *sheet);

/* A range of shares (0 to 1) of `samples` samples, with its ends moved outwards by what chance may
 * have done. */
struct hp_range sheet_widen(struct hp_range shares, double samples);
/* The range (0 to 1) is so wide, more than 90 points, that it is printed as unknown. */
bool sheet_is_unknown(double low, double high);

/* Writes lines that begin with "*** ". `all_samples`: the total of which the analysed samples are a
 * share. */
void sheet_write(const struct hp_stall_sheet *sheet, double all_samples, FILE *out);

#endif
