/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "quantity.h"
#include "sheet.h"
#include "../tuning.h"

#include <hpcprof/model/evidence.h>

#include <math.h>

static double known(double value)
{
	return isfinite(value) ? value : 0;
}

static double share(const struct hp_stall_sheet *sheet, double cycles)
{
	return sheet->cycles > 0 ? known(cycles) / sheet->cycles : 0;
}

/* If samples of different procedures stand for different numbers of cycles: the number of equal
 * samples with the same error. */
static double samples_of(const struct hp_stall_sheet *sheet)
{
	double relative = share(sheet, sheet->sampling_error);

	return relative > 0 ? 1 / (relative * relative) : 0;
}

/* The score interval of a proportion, which also holds for a single sample and for none. */
struct hp_range sheet_widen(struct hp_range shares, double samples)
{
	const double z = HP_NORMAL_90;
	const double half = samples > 0 ? z * z / (2 * samples) : INFINITY;
	struct hp_range wide = { 0, 1 };

	if (!isfinite(half))
		return wide;
	wide.low = shares.low + half - sqrt(half * (2 * fmax(shares.low, 0) + half));
	wide.high = shares.high + half + sqrt(half * (2 * fmax(shares.high, 0) + half));
	wide.low = fmin(fmax(wide.low, 0), 1);
	wide.high = fmin(fmax(wide.high, wide.low), 1);
	return wide;
}

bool sheet_is_unknown(double low, double high)
{
	return !(high - low <= widest_range);
}

static struct sheet_line line_of(const struct hp_stall_sheet *sheet, double likely,
				 const struct hp_range *range)
{
	const struct hp_range shares = { share(sheet, range->low), share(sheet, range->high) };
	struct hp_range wide = sheet_widen(shares, samples_of(sheet));
	struct sheet_line line = { .likely = 100 * share(sheet, likely) };

	line.low = fmin(100 * wide.low, line.likely);
	line.high = fmax(100 * wide.high, line.likely);
	return line;
}

/* What is left of all cycles without the line and the sampling error. That is in no range, so the range
 * of the rest is widened to what is likely. */
static struct sheet_line rest_of(const struct sheet_line *line, double error)
{
	double likely = 100 - line->likely - error;

	return (struct sheet_line){
		.likely = likely,
		.low = fmin(100 - line->high, likely),
		.high = fmax(100 - line->low, likely),
	};
}

struct sheet_line sheet_cause(const struct hp_stall_sheet *sheet, enum hp_cause_kind kind)
{
	return line_of(sheet, sheet->likely[kind], &sheet->causes[kind]);
}

struct sheet_line sheet_family(const struct hp_stall_sheet *sheet, enum hp_cause_family family)
{
	double likely = 0;

	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		if (hp_summed_kinds(family) >> kind & 1)
			likely += sheet->likely[kind];
	return line_of(sheet, likely, &sheet->families[family]);
}

struct sheet_sums sheet_sum(const struct hp_stall_sheet *sheet)
{
	struct sheet_sums sums = { 0 };
	struct hp_range fixed = { 0, 0 };
	struct hp_range best = sheet->execution_range;
	struct sheet_line line;
	double likely = 0;
	double all = -share(sheet, sheet->unexplained_gain) + share(sheet, sheet->execution);

	if (!(sheet->cycles > 0))
		return sums;
	for (int i = 0; i < HP_CAUSE_COUNT; i++) {
		all += share(sheet, sheet->likely[i]);
		if (i < HP_CAUSE_DYNAMIC_COUNT || i == HP_CAUSE_UNEXPLAINED)
			continue;
		likely += sheet->likely[i];
		fixed.low += sheet->causes[i].low;
		fixed.high += sheet->causes[i].high;
	}
	best.low += fixed.low;
	best.high += fixed.high;
	sums.error.likely = 100 * (1 - all);
	sums.error.low = sums.error.likely - 100 * HP_NORMAL_90 / sqrt(samples_of(sheet));
	sums.error.high = sums.error.likely + 100 * HP_NORMAL_90 / sqrt(samples_of(sheet));
	sums.execution = line_of(sheet, sheet->execution, &sheet->execution_range);
	sums.fixed = line_of(sheet, likely, &fixed);
	line = line_of(sheet, sheet->execution + likely, &best);
	sums.dynamic = rest_of(&line, sums.error.likely);
	sums.stalls = rest_of(&sums.execution, sums.error.likely);
	line = line_of(sheet, sheet->unexplained_gain, &sheet->gain_range);
	sums.gain = (struct sheet_line){ -line.likely, -line.high, -line.low };
	return sums;
}

bool sheet_is_measured(const struct hp_stall_sheet *sheet)
{
	return sheet->counted_cycles > mostly_counted * sheet->cycles;
}

/* --- text ------------------------------------------------------------------------------------- */

/* No minus sign before what is printed as zero. */
static double printed(double percent)
{
	return fabs(percent) < 0.05 ? 0.0 : percent;
}

static void put_line(const char *name, const struct sheet_line *line, bool is_measured, FILE *out)
{
	bool is_unknown = sheet_is_unknown(line->low / 100, line->high / 100);

	fprintf(out, "***   %-24s ", name);
	if (is_unknown || !is_measured)
		fputs("       -", out);
	else
		fprintf(out, "%6.1f %%", printed(line->likely));
	if (is_unknown)
		fputs("   unknown\n", out);
	else
		fprintf(out, "   %5.1f %% to %5.1f %%\n", printed(line->low), printed(line->high));
}

static void put_cause(const struct hp_stall_sheet *sheet, enum hp_cause_kind kind, FILE *out)
{
	struct sheet_line line = sheet_cause(sheet, kind);

	put_line(quantity_cause(kind), &line, true, out);
}

static void put_execution(const struct sheet_line *line, bool is_measured, FILE *out)
{
	if (is_measured)
		put_line("execution", line, true, out);
	else if (sheet_is_unknown(line->low / 100, line->high / 100))
		fputs("***   execution                not measured: unknown\n", out);
	else
		fprintf(out,
			"***   execution                not measured: execution could be %.1f to "
			"%.1f %%\n",
			line->low, line->high);
}

/* Where several causes are known better together than apart. */
static void put_families(const struct hp_stall_sheet *sheet, FILE *out)
{
	static const char *const names[HP_FAMILY_COUNT] = {
		[HP_FAMILY_DATA] = "data cache and TLB",
		[HP_FAMILY_CODE] = "code cache, TLB, fetch",
	};

	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++) {
		struct sheet_line line = sheet_family(sheet, family);
		double widest = 0;

		for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
			struct sheet_line one = sheet_cause(sheet, (enum hp_cause_kind)kind);

			if (hp_summed_kinds(family) >> kind & 1)
				widest = fmax(widest, one.high - one.low);
		}
		if (line.high - line.low < widest)
			put_line(names[family], &line, true, out);
	}
}

void sheet_write(const struct hp_stall_sheet *sheet, double all_samples, FILE *out)
{
	struct sheet_sums sums = sheet_sum(sheet);
	bool is_measured = sheet_is_measured(sheet);

	fprintf(out, "***   %-24s %8s   %s\n", "", "likely", "between");
	for (int i = 0; i < HP_CAUSE_DYNAMIC_COUNT; i++)
		put_cause(sheet, (enum hp_cause_kind)i, out);
	put_families(sheet, out);
	fputs("***\n", out);
	put_cause(sheet, HP_CAUSE_UNEXPLAINED, out);
	put_line("unexplained gain", &sums.gain, is_measured, out);
	put_line("= dynamic stalls", &sums.dynamic, is_measured, out);
	fputs("***\n", out);
	for (int i = HP_CAUSE_DYNAMIC_COUNT; i < HP_CAUSE_UNEXPLAINED; i++)
		put_cause(sheet, (enum hp_cause_kind)i, out);
	put_line("= static stalls", &sums.fixed, is_measured, out);
	fputs("***\n", out);
	put_line("total stalls", &sums.stalls, is_measured, out);
	put_execution(&sums.execution, is_measured, out);
	put_line("net sampling error", &sums.error, true, out);
	if (is_measured)
		fprintf(out, "***   %-24s %6.1f %%\n", "= all",
			sums.stalls.likely + sums.execution.likely + sums.error.likely);
	fprintf(out,
		"***   (%.0f samples, %.1f %% of all;\n"
		"***   ranges are 90 %% intervals with the sampling error)\n",
		sheet->samples, all_samples > 0 ? 100 * sheet->samples / all_samples : 0);
}
