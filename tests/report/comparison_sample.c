/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comparison_sample FORMAT KIND: a made-up comparison, written to standard output.
 *
 * FORMAT is text, json, junit, sarif, github, markdown or html. KIND is
 *	regression	a program of three images; one procedure costs 30 % more, one less, one new
 *	hostile		the same with names that try to break out of every format
 *	pass		nothing found
 *	insufficient	nothing found, and nothing could have been
 *	uncertain	regression, at different times, where ends of intervals tell nothing
 */
#include <hpcprof/base/number.h>
#include <hpcprof/report/comparison.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char hostile[] =
	"<b>\"'&]]>|`*_[x](http://e)\\ %0A::error::a,b:c\r\n\t\x1b[31m\xff\xc3"
	" </script><!-- \xe2\x80\xa8 \xef\xbf\xbf @all #1 $x$ \xe2\x82\xac";

enum { MOST_PARTS = 8 };

struct sample {
	struct hp_compared program;
	struct hp_compared images[3];
	struct hp_compared procedures[11];
	struct hp_compared lines[3];
	struct hp_compared *parts[4][MOST_PARTS];
	struct hp_compared *line_parts[3];
	struct hp_compared *findings[4];
	struct hp_compared_epoch epochs[HP_SIDES][5];
	struct hp_comparison comparison;
};

/* Costs in ms a run; the interval is `spread` of the change to each side. */
static struct hp_compared compared(enum hp_scope scope, const char *name, double base,
				   double candidate, double spread)
{
	double change = base > 0 ? candidate / base - 1 : (double)INFINITY;
	double lost = (candidate - base) * 1e6;

	return (struct hp_compared){
		.scope = scope,
		.name = name,
		.image = scope == HP_SCOPE_PROGRAM ? NULL : "/work/repo/build/app",
		.side = { { { base * 1e6, base * 0.98e6, base * 1.02e6 }, (uint64_t)base },
			  { { candidate * 1e6, candidate * 0.98e6, candidate * 1.02e6 },
			    (uint64_t)candidate } },
		.change = { change, change - spread, change + spread },
		.lost = { lost, lost - spread * 1e6, lost + spread * 1e6 },
		.p = fabs(change) > 2 * spread ? 0.00001 : 0.4,
		.q = fabs(change) > 2 * spread ? 0.0001 : 0.7,
		.smallest_change = spread * 1.4,
	};
}

static const struct hp_compared_code code[] = {
	{ "/work/repo/src/sort.c",
	  { 118, 119 },
	  { 0x4010, 0x4014 },
	  { "mov rax, [rdi]", "mov rax, [rdi]" },
	  { 80, 82 },
	  { 80e6, 82e6 },
	  false },
	{ "/work/repo/src/sort.c",
	  { 0, 120 },
	  { 0, 0x4018 },
	  { NULL, "imul rax, rcx" },
	  { 0, 61 },
	  { 0, 61e6 },
	  true },
	{ "/work/repo/src/sort.c",
	  { 121, 121 },
	  { 0x4018, 0x401c },
	  { "cmp rax, rdx", "cmp rcx, rdx" },
	  { 40, 61 },
	  { 40e6, 61e6 },
	  true },
};

static void fill_tree(struct sample *sample)
{
	static const struct {
		size_t image;
		const char *name;
		double base;
		double candidate;
	} given[] = {
		{ 0, "sort_rows", 310, 403 },
		{ 0, "parse_field", 240, 243 },
		{ 0, "hash_insert", 170, 128 },
		{ 0, "std::vector<int>::push_back", 90, 91 },
		{ 0, "checksum_rows", 0, 35 },
		{ 0, "main", 12, 12 },
		{ 1, "__memmove_avx_unaligned", 120, 122 },
		{ 1, "malloc", 60, 59 },
		{ 1, "_int_free", 40, 41 },
		{ 2, "inflate_fast", 100, 98 },
		{ 2, "crc32_z", 30, 31 },
	};
	static const char *const images[] = { "/work/repo/build/app", "/usr/lib/libc.so.6",
					      "/usr/lib/libz.so.1" };
	double sums[4][2] = { { 0 } };
	size_t counts[4] = { 0 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(given); i++) {
		size_t image = given[i].image;

		sample->procedures[i] = compared(HP_SCOPE_PROCEDURE, given[i].name, given[i].base,
						 given[i].candidate, 0.03);
		sample->procedures[i].image = images[image];
		sample->procedures[i].file = image ? NULL : "/work/repo/src/sort.c";
		sample->procedures[i].line = image ? 0 : (uint32_t)(100 + 20 * i);
		sample->parts[image][counts[image]++] = &sample->procedures[i];
		for (size_t j = 0; j < 2; j++) {
			double cost = j ? given[i].candidate : given[i].base;

			sums[image][j] += cost;
			sums[3][j] += cost;
		}
	}
	for (size_t i = 0; i < 3; i++) {
		sample->images[i] =
			compared(HP_SCOPE_IMAGE, images[i], sums[i][0], sums[i][1], 0.02);
		sample->images[i].parts = sample->parts[i];
		sample->images[i].part_count = counts[i];
		sample->parts[3][i] = &sample->images[i];
	}
	sample->program = compared(HP_SCOPE_PROGRAM, "app", sums[3][0], sums[3][1], 0.012);
	sample->program.parts = sample->parts[3];
	sample->program.part_count = 3;
	for (size_t i = 0; i < 3; i++) {
		static const double costs[3][2] = { { 150, 152 }, { 60, 121 }, { 100, 130 } };

		sample->lines[i] =
			compared(HP_SCOPE_LINE, "sort_rows", costs[i][0], costs[i][1], 0.05);
		sample->lines[i].file = "/work/repo/src/sort.c";
		sample->lines[i].line = (uint32_t)(119 + i);
		sample->line_parts[i] = &sample->lines[i];
	}
	sample->procedures[0].parts = sample->line_parts;
	sample->procedures[0].part_count = 3;
}

/* Names of everything, as somebody who attacks the reader chooses them. */
static void make_hostile(struct sample *sample, struct hp_cost_shift *shift)
{
	sample->procedures[0].name = sample->procedures[0].former_name = hostile;
	sample->procedures[0].file = hostile;
	sample->procedures[4].name = hostile;
	sample->procedures[1].name = hostile;
	shift->why = hostile;
	sample->images[0].name = hostile;
}

static struct hp_compared dearer_block(const struct sample *sample)
{
	struct hp_compared block = compared(HP_SCOPE_BLOCK, "sort_rows", 100, 180, 0.05);

	block.is_finding = true;
	block.image = sample->procedures[0].image;
	block.file = "/work/repo/src/sort.c";
	block.line = 104;
	block.extent[HP_BASE] = (struct hp_compared_extent){ 0x1180, 0x11a3 };
	block.extent[HP_CANDIDATE] = (struct hp_compared_extent){ 0x2190, 0x21c0 };
	return block;
}

static void fill_findings(struct sample *sample, bool is_hostile)
{
	static struct hp_cost_shift shift = { NULL, 15e6, "inlined into" };
	static struct hp_compared_caller callers[1];
	static const struct hp_compared_cause cause = {
		.name = "branch-mispredict",
		.share = { { 0.15, 0.12, 0.18 }, { 0.46, 0.41, 0.52 } },
	};
	static struct hp_compared_calls calls = {
		.image = "app",
		.calls = { { 1e6, 0.9e6, 1.1e6 }, { 2.1e6, 2e6, 2.2e6 } },
		.ratio = { 2.1, 1.9, 2.3 },
	};
	static struct hp_compared block;
	static struct hp_compared *const blocks[] = { &block };
	size_t count = 0;

	callers[0] = (struct hp_compared_caller){
		.name = is_hostile ? hostile : "parse",
		.image = "app",
		.of_change = { 0.81, 0.74, 0.88 },
		.cost = { { 0.5, 0.46, 0.54 }, { 0.57, 0.54, 0.6 } },
		.p = 0.0001,
		.is_blamed = true,
	};
	calls.name = callers[0].name;
	sample->procedures[0].callers = (struct hp_compared_callers){
		HP_BLAME_CALLERS, NULL, callers, HP_ARRAY_COUNT(callers), { 310, 403 }
	};
	sample->procedures[0].has_causes = true;
	sample->procedures[0].causes = &cause;
	sample->procedures[0].cause_count = 1;
	sample->procedures[0].calls = &calls;
	sample->procedures[0].call_count = 1;
	sample->procedures[4].callers.blame = HP_BLAME_INSUFFICIENT;
	sample->program.carrier = &sample->procedures[1];
	/* It has less of the program for certain. */
	sample->procedures[2].share_change = (struct hp_measured){ -0.2, -0.28, -0.11 };
	block = dearer_block(sample);
	sample->procedures[0].blocks = blocks;
	sample->procedures[0].block_count = 1;
	shift.partner = &sample->procedures[1];
	sample->findings[count++] = &sample->program;
	sample->findings[count++] = &sample->procedures[0];
	sample->findings[count++] = &sample->procedures[4];
	sample->findings[count++] = &sample->procedures[2];
	sample->program.is_finding = sample->procedures[0].is_finding = true;
	sample->procedures[4].is_finding = sample->procedures[2].is_finding = true;
	sample->lines[1].is_finding = true;
	sample->procedures[0].code = code;
	sample->procedures[0].code_count = HP_ARRAY_COUNT(code);
	sample->procedures[0].shifts = &shift;
	sample->procedures[0].shift_count = 1;
	sample->procedures[0].former_name = "sort_rows.constprop.0";
	if (is_hostile)
		make_hostile(sample, &shift);
	sample->comparison.verdict = HP_VERDICT_REGRESSION;
	sample->comparison.findings = sample->findings;
	sample->comparison.finding_count = count;
}

static void fill_side(struct sample *sample, enum hp_side side, const char *command)
{
	static const char *const stamps[HP_SIDES][5] = {
		{ "20260101T000000Z-1", "20260101T000009Z-1", "20260101T000012Z-1",
		  "20260101T000021Z-1", "20260101T000024Z-1" },
		{ "20260101T000003Z-1", "20260101T000006Z-1", "20260101T000015Z-1",
		  "20260101T000018Z-1", "20260101T000027Z-1" },
	};
	static const double wobble[] = { -0.006, 0.004, 0.009, -0.002, -0.005 };
	double cost = sample->program.side[side].cost.value;

	for (size_t i = 0; i < 5; i++)
		sample->epochs[side][i] = (struct hp_compared_epoch){
			.stamp = stamps[side][i],
			.label = side == HP_BASE ? "main" : NULL,
			.runs = 1,
			.elapsed_ns = cost * 1.05,
			.cpu_ns = cost * 1.02,
			.cost = cost * (1 + (side == HP_BASE ? 1 : -1) * wobble[i]),
			.samples = 1200,
		};
	sample->comparison.sides[side] = (struct hp_compared_side){
		.database = "hpcprof.db",
		.cpu_model = "A CPU",
		.command = command,
		.epochs = sample->epochs[side],
		.epoch_count = 5,
		.runs = 5,
		.samples = 6000,
		.period = 1e6,
	};
}

static void make_uncertain(struct sample *sample)
{
	sample->comparison.is_interleaved = false;
	sample->procedures[0].change.high = sample->procedures[2].change.high = 994.85;
	sample->procedures[2].change.low = -0.998;
	sample->procedures[4].share_change = (struct hp_measured){ 0.943, 0.1, 20 };
}

static void fill(struct sample *sample, const char *kind)
{
	static const struct hp_shortage shortage = {
		"5 runs of 0.2 s a side see changes from 11 % only",
		"record 9 more runs of each side", 9, 0
	};
	static const char *const notes[] = { "dispersion 1.3 is taken for granted" };
	static const char *const hostile_notes[] = { hostile };
	bool is_hostile = strcmp(kind, "hostile") == 0;

	fill_tree(sample);
	sample->comparison = (struct hp_comparison){
		.event = "cpu-clock:u",
		.unit = HP_UNIT_NS,
		.per = "run",
		.least_change = 0.03,
		.least_of_program = 0.005,
		.dispersion = 1.2,
		.run_deviation = 0.006,
		.is_interleaved = true,
		.machine = strcmp(kind, "insufficient") == 0 ? 1.12 : 1,
		.program = &sample->program,
		.notes = is_hostile ? hostile_notes : notes,
		.note_count = 1,
	};
	fill_side(sample, HP_BASE, is_hostile ? hostile : "./app input.csv");
	fill_side(sample, HP_CANDIDATE, "./build/app input.csv");
	if (strcmp(kind, "insufficient") == 0) {
		sample->comparison.verdict = HP_VERDICT_INSUFFICIENT;
		sample->comparison.shortages = &shortage;
		sample->comparison.shortage_count = 1;
	} else if (strcmp(kind, "pass") != 0) {
		fill_findings(sample, is_hostile);
		if (strcmp(kind, "uncertain") == 0)
			make_uncertain(sample);
	}
}

int main(int argc, char **argv)
{
	static const char *const formats[] = {
		[HP_COMPARISON_TEXT] = "text",	   [HP_COMPARISON_JSON] = "json",
		[HP_COMPARISON_JUNIT] = "junit",   [HP_COMPARISON_SARIF] = "sarif",
		[HP_COMPARISON_GITHUB] = "github", [HP_COMPARISON_MARKDOWN] = "markdown",
		[HP_COMPARISON_HTML] = "html",	   [HP_COMPARISON_DIFFERENCES] = "differences",
	};
	static struct sample sample;
	const struct hp_comparison_options options = { .source_root = "/work/repo" };

	if (argc != 3)
		return 2;
	fill(&sample, argv[2]);
	for (size_t i = 0; i < HP_ARRAY_COUNT(formats); i++) {
		struct hp_error *error;

		if (strcmp(formats[i], argv[1]) != 0)
			continue;
		error = hp_comparison_write(&sample.comparison, (enum hp_comparison_format)i,
					    &options, stdout);
		if (!error)
			return 0;
		fprintf(stderr, "%s\n", error->message);
		hp_error_destroy(error);
		return 1;
	}
	return 2;
}
