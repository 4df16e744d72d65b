/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sheet.h"

#include "quantity.h"

#include <math.h>

static double known(double value)
{
	return isfinite(value) ? value : 0;
}

static double share(const struct hp_stall_sheet *sheet, double cycles)
{
	return sheet->cycles > 0 ? 100 * known(cycles) / sheet->cycles : 0;
}

struct sheet_sums sheet_sum(const struct hp_stall_sheet *sheet)
{
	struct sheet_sums sums = { 0 };

	for (int i = 0; i < HP_CAUSE_COUNT; i++) {
		bool is_static = i >= HP_CAUSE_DYNAMIC_COUNT && i != HP_CAUSE_UNEXPLAINED;

		*(is_static ? &sums.fixed : &sums.dynamic) += share(sheet, sheet->likely[i]);
	}
	sums.dynamic -= share(sheet, sheet->unexplained_gain);
	sums.execution = share(sheet, sheet->execution);
	if (sheet->cycles > 0)
		sums.error = 100 - sums.dynamic - sums.fixed - sums.execution;
	return sums;
}

static void write_range(const struct hp_stall_sheet *sheet, enum hp_cause_kind kind, FILE *out)
{
	fprintf(out, "***   %-24s %5.1f %% to %5.1f %%\n", quantity_cause(kind),
		share(sheet, sheet->causes[kind].low), share(sheet, sheet->causes[kind].high));
}

static void write_sum(const char *name, double percent, FILE *out)
{
	/* No minus before what prints as nothing. */
	fprintf(out, "***   %-24s %20.1f %%\n", name, fabs(percent) < 0.05 ? 0.0 : percent);
}

void sheet_write(const struct hp_stall_sheet *sheet, double all_samples, FILE *out)
{
	struct sheet_sums sums = sheet_sum(sheet);

	for (int i = 0; i < HP_CAUSE_DYNAMIC_COUNT; i++)
		write_range(sheet, (enum hp_cause_kind)i, out);
	fputs("***\n", out);
	write_range(sheet, HP_CAUSE_UNEXPLAINED, out);
	write_sum("unexplained gain", -share(sheet, sheet->unexplained_gain), out);
	write_sum("= dynamic stalls", sums.dynamic, out);
	fputs("***\n", out);
	for (int i = HP_CAUSE_DYNAMIC_COUNT; i < HP_CAUSE_UNEXPLAINED; i++)
		write_range(sheet, (enum hp_cause_kind)i, out);
	write_sum("= static stalls", sums.fixed, out);
	fputs("***\n", out);
	write_sum("total stalls", sums.dynamic + sums.fixed, out);
	write_sum("execution", sums.execution, out);
	write_sum("net sampling error", sums.error, out);
	write_sum("= all", sums.dynamic + sums.fixed + sums.execution + sums.error, out);
	fprintf(out, "***   (%.0f samples, %.1f %% of all; \xc2\xb1%.1f %% by chance)\n",
		sheet->samples, all_samples > 0 ? 100 * sheet->samples / all_samples : 0,
		share(sheet, sheet->sampling_error));
}
