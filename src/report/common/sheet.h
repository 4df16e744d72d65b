/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the cycles of a procedure or a program were spent, as in figure 4 of DCPI. */
#ifndef REPORT_COMMON_SHEET_H
#define REPORT_COMMON_SHEET_H

#include <hpcprof/analyze/analysis.h>

#include <stdio.h>

/*
 * One line, in cycles or, from sheet_sum and sheet_cause, in shares of the sheet's cycles, 0 to
 * 100. The range is a 90 % one: of the frequencies that are possible, and of chance in the samples.
 * It holds `likely`.
 */
struct sheet_line {
	double likely;
	double low;
	double high;
};

/* Their `likely` add up: stalls, execution and error are 100. */
struct sheet_sums {
	struct sheet_line gain; /* 0 or less */
	struct sheet_line dynamic;
	struct sheet_line fixed;  /* static stalls */
	struct sheet_line stalls; /* both, less the gain */
	struct sheet_line execution;
	struct sheet_line error; /* what is left over: net sampling error */
};
struct sheet_sums sheet_sum(const struct hp_stall_sheet *sheet);
struct sheet_line sheet_cause(const struct hp_stall_sheet *sheet, enum hp_cause_kind kind);

/* Executions were counted for most of the cycles. If not, execution and the sums of stalls have a
 * range, but what would be said to be likely of them is a guess. */
bool sheet_is_measured(const struct hp_stall_sheet *sheet);

/* A share of `samples` samples, 0 to 1, whose ends are moved outwards as far as chance may have
 * moved them inwards. */
struct hp_range sheet_widen(struct hp_range shares, double samples);
/* A range of shares so wide (more than 90 points) that it is printed as not known. 0 to 1. */
bool sheet_is_unknown(double low, double high);

/* Each line behind "*** ". `all_samples` is what the analysed ones are a share of. */
void sheet_write(const struct hp_stall_sheet *sheet, double all_samples, FILE *out);

#endif
