/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the cycles of a procedure or a program went, as DCPI's figure 4 has it. */
#ifndef REPORT_SHEET_H
#define REPORT_SHEET_H

#include <hpcprof/analyze/analysis.h>

#include <stdio.h>

/* Shares of the sheet's cycles: what execution, stalls, gain and error add up to is 100 %. */
struct sheet_sums {
	double dynamic; /* likeliest shares */
	double fixed;	/* static stalls */
	double execution;
	double error; /* what is left over: net sampling error */
};
struct sheet_sums sheet_sum(const struct hp_stall_sheet *sheet);

/* Each line behind "*** ". `all_samples` is what the analysed ones are a share of. */
void sheet_write(const struct hp_stall_sheet *sheet, double all_samples, FILE *out);

#endif
