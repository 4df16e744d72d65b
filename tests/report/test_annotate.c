/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An annotated procedure from an analysis made by hand, as text: a sum over an array.
 *
 *	1000 xor eax, eax	block 0, ran 100 times
 *	1002 add rax, [rdi]	block 1, ran 1000 times (900 to 1100), 8000 cycles, of which 7200
 *	1005 add rdi, 0x8	  here: 7.2 each time, 40 to 90 % of it a data cache miss
 *	1009 dec esi		  and 800 here
 *	100b jnz 0x1002
 *	100d ret		block 2, ran 100 times
 */
#include "../support.h"

#include "../../src/report/annotate/annotate.h"
#include "../../src/report/annotate/write_annotate.h"
#include "../../src/report/stalls/write_stalls.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <string.h>

enum { ROWS = 6, BLOCKS = 3, ENTRY = 3, EXIT = 4, EDGES = 5 };

static const char *const texts[ROWS] = { "xor eax, eax", "add rax, [rdi]", "add rdi, 0x8",
					 "dec esi",	 "jnz 0x1002",	   "ret" };
static const uint64_t addresses[ROWS] = { 0x1000, 0x1002, 0x1005, 0x1009, 0x100b, 0x100d };
static const uint32_t block_of_row[ROWS] = { 0, 1, 1, 1, 1, 2 };
static const uint64_t samples[ROWS] = { 0, 90, 0, 10, 0, 0 };

#define BLOCK(at, size, insns, first, outs, in)                                                    \
	{                                                                                          \
		.address = { at }, .bytes = size, .instructions = insns, .first_out = first,       \
		.out_count = outs, .loop = in                                                      \
	}
static struct hp_block blocks[BLOCKS + 2] = {
	BLOCK(0x1000, 2, 1, 0, 1, HP_CFG_NONE), BLOCK(0x1002, 11, 4, 1, 2, 0),
	BLOCK(0x100d, 1, 1, 3, 1, HP_CFG_NONE), BLOCK(0, 0, 0, 4, 1, HP_CFG_NONE),
	BLOCK(0, 0, 0, 5, 0, HP_CFG_NONE),
};
static struct hp_edge edges[EDGES] = {
	{ 0, 1, 0, HP_EDGE_FALL },    { 1, 1, 0, HP_EDGE_JUMP },      { 1, 2, 0, HP_EDGE_FALL },
	{ 2, EXIT, 0, HP_EDGE_EXIT }, { ENTRY, 0, 0, HP_EDGE_ENTRY },
};
static struct hp_loop loop = { .header = 1, .parent = HP_CFG_NONE, .depth = 1 };
static const struct hp_cfg cfg = {
	.blocks = blocks,
	.block_count = BLOCKS,
	.node_count = BLOCKS + 2,
	.entry = ENTRY,
	.exit = EXIT,
	.edges = edges,
	.edge_count = EDGES,
	.inner_edge_count = 3,
	.loops = &loop,
	.loop_count = 1,
};

/* All that a view is made of; lives as long as a test. */
struct scene {
	struct hp_report_options options;
	struct report report;
	struct hp_profiles profiles;
	struct hp_inference inference;
	struct hp_event_info event;
	struct hp_loaded_event events[1];
	struct hp_epoch_meta meta;
	struct hp_loaded_epoch epochs[1];
	struct hp_loaded_image image;
	struct hp_row row;
	struct hp_tally tallies[ROWS];
	struct hp_tally sum;
	struct hp_row rows[ROWS];
	struct listing listing;
	struct hp_insn decoded[ROWS];
	struct hp_analysed_insn insns[ROWS];
	struct hp_analysed_block analysed[BLOCKS];
	struct hp_frequency frequencies[EDGES];
	struct hp_cause cause;
	struct hp_analysis analysis;
	char *output;
};

static struct hp_frequency ran(double relative, double low, double high, bool is_absolute)
{
	return (struct hp_frequency){
		.relative = relative,
		.relative_low = low,
		.relative_high = high,
		.executions = is_absolute ? 1000 * relative : NAN,
		.executions_low = is_absolute ? 1000 * low : NAN,
		.executions_high = is_absolute ? 1000 * high : NAN,
		.relative_confidence = HP_CONFIDENCE_HIGH,
		.confidence = HP_CONFIDENCE_HIGH,
	};
}

static void analyse_by_hand(struct scene *scene, bool is_absolute)
{
	static const double insn_cycles[ROWS] = { 0, 7200, 0, 800, 0, 0 };

	for (size_t i = 0; i < ROWS; i++) {
		scene->decoded[i] = (struct hp_insn){ .address = addresses[i] };
		scene->insns[i] = (struct hp_analysed_insn){
			.insn = &scene->decoded[i],
			.block = block_of_row[i],
			.samples = (double)samples[i],
			.moved = (double)samples[i],
			.cycles = insn_cycles[i],
			.producer = HP_SCHEDULE_NONE,
		};
	}
	scene->cause = (struct hp_cause){ .kind = HP_CAUSE_DCACHE,
					  .has_culprit = true,
					  .culprit = { 0x1002 },
					  .low = 0.4,
					  .high = 0.9,
					  .likely = 0.5 };
	scene->insns[1].cause_count = 1;
	for (size_t i = 0; i < BLOCKS; i++)
		scene->analysed[i] = (struct hp_analysed_block){
			.first_insn = i == 0   ? 0
				      : i == 1 ? 1
					       : 5,
			.insn_count = i == 1 ? 4 : 1,
			.frequency = i == 1 ? ran(1, 0.9, 1.1, is_absolute)
					    : ran(0.1, 0.1, 0.1, is_absolute),
			.best_case_cycles = i == 1 ? 1 : 0.25,
		};
	scene->analysed[1].cycles = 8000;
	scene->analysed[1].samples = 100;
	scene->analysed[1].cycles_per_execution = is_absolute ? 8 : NAN;
	/* 8000 cycles in 1100 executions; alone with its best case, 1 cycle. */
	scene->analysed[1].cycles_per_execution_low = is_absolute ? 8000.0 / 1100 : 1;
	scene->analysed[1].cycles_per_execution_high = is_absolute ? 8000.0 / 900 : INFINITY;
	for (size_t i = 0; i < EDGES; i++)
		scene->frequencies[i] = ran(i == 1 ? 0.9 : 0.1, 0.1, 0.9, is_absolute);
	scene->analysis = (struct hp_analysis){
		.cfg = &cfg,
		.core = hp_core_named("sapphire-rapids"),
		.insns = scene->insns,
		.insn_count = ROWS,
		.blocks = scene->analysed,
		.edges = scene->frequencies,
		.causes = &scene->cause,
		.cause_count = 1,
		.is_absolute = is_absolute,
		.scale = is_absolute ? 1000 : NAN,
		.scale_high = is_absolute ? 1100 : 8000,
		.sheet = { .samples = 100,
			   .medium_samples = 100,
			   .executions_medium_samples = 100,
			   .cycles = 8000 },
	};
}

static void scene_destroy(void *object)
{
	_cleanup_free_ struct scene *scene = object;

	hp_arena_destroy(scene->listing.arena);
	free(scene->output);
}

static struct scene *scene_create(void)
{
	static char name[] = "cpu-clock:u";
	static char path[] = "/bin/sum";
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->event = (struct hp_event_info){ .name = name, .unit = HP_UNIT_NS };
	scene->events[0] = (struct hp_loaded_event){ .info = &scene->event };
	scene->epochs[0] = (struct hp_loaded_epoch){ .stamp = "now", .meta = &scene->meta };
	scene->report.options = &scene->options;
	scene->report.profiles = &scene->profiles;
	scene->report.inference = &scene->inference;
	scene->profiles.options = &scene->options.of;
	scene->inference.profiles = &scene->profiles;
	scene->inference.options = &scene->options.how;
	scene->profiles.events.at = scene->events;
	scene->profiles.events.count = 1;
	scene->profiles.epochs.at = scene->epochs;
	scene->profiles.epochs.count = 1;
	scene->image.id.path = path;
	scene->image.short_name = "sum";
	scene->sum.samples = 100;
	scene->row = (struct hp_row){ .image = &scene->image,
				      .name = "sum_array",
				      .has_address = true,
				      .address = 0x1000,
				      .size = 14,
				      .tallies = &scene->sum };
	scene->listing.arena = hp_arena_create();
	scene->listing.cfg = &cfg;
	for (size_t i = 0; i < ROWS; i++) {
		scene->tallies[i].samples = samples[i];
		scene->rows[i] = (struct hp_row){ .image = &scene->image,
						  .has_address = true,
						  .address = addresses[i],
						  .length = 1,
						  .text = texts[i],
						  .has_block = true,
						  .block = block_of_row[i],
						  .local = (double)samples[i] / 100,
						  .tallies = &scene->tallies[i] };
	}
	scene->listing.rows.at = scene->rows;
	scene->listing.rows.count = ROWS;
	at_end(scene_destroy, scene);
	return scene;
}

static struct scene *analysed_scene(bool is_absolute)
{
	struct scene *scene = scene_create();

	analyse_by_hand(scene, is_absolute);
	return scene;
}

static const char *annotate(struct scene *scene, bool is_analysed)
{
	size_t size;
	FILE *out;

	free(scene->output);
	out = open_memstream(&scene->output, &size);
	hp_assert_ok(write_annotation(&scene->report, &scene->row, &scene->listing,
				      is_analysed ? &scene->analysis : NULL, out));
	ck_assert_int_eq(fclose(out), 0);
	return scene->output;
}

TEST(a_procedure_is_shown_block_by_block_with_what_it_cost_and_why)
{
	struct scene *scene = analysed_scene(true);

	hp_assert_contains(
		annotate(scene, true),
		"   address  instruction     samples  time%  executions  conf   CPI  culprit\n"
		"*  *** Best-case 0.25/1 = 0.25 CPI       block 0, on the hottest path\n"
		"*  *** Actual: no samples\n"
		"*     1000  xor eax, eax                           100  high\n"
		"\n"
		"*  *** Best-case 1.00/4 = 0.25 CPI       block 1, head of a loop, depth 1, on the "
		"hottest path\n"
		"*  *** Actual 8.00/4 = 2.00 CPI (1.82 to 2.22)  100.0 % of the time\n"
		"*           ~~ data cache miss: 40 to 90 %, likely 50 %, about 3.60 cycles per "
		"execution; by "
		"0x1002 "
		"add rax, [rdi]\n"
		"*/>   1002  add rax, [rdi]       90   90.0   1000 ±10%  high  7.20     "
		"1002\n"
		"*|    1005  add rdi, 0x8\n"
		"*|    1009  dec esi              10   10.0   1000 ±10%  high  0.80\n"
		"*\\-   100b  jnz 0x1002\n"
		"\n"
		"*  *** Best-case 0.25/1 = 0.25 CPI       block 2, on the hottest path\n"
		"*  *** Actual: no samples\n"
		"*     100d  ret                                    100  high\n");
	/* 0.1 + 4 + 0.1 instructions each time that block 1 runs, 0.025 + 1 + 0.025 cycles at best.
	 */
	hp_assert_contains(scene->output, "*** Best-case 1050/4200 = 0.25 CPI\n"
					  "*** Actual 1.90 CPI\n");
}

TEST(without_counts_cycles_are_lower_bounds_and_that_is_said)
{
	struct scene *scene = analysed_scene(false);

	annotate(scene, true);
	hp_assert_contains(scene->output, "*** Actual ≥1.00/4 = ≥0.25 CPI", "≥0.90     1002\n",
			   "  1.00 ±10%  high",
			   "data cache miss: 40 to 90 %, likely 50 %; by 0x1002",
			   "relative to the procedure's hottest block, which has 1");
	hp_assert_lacks(scene->output, "1000 ±");
	/* At least less than the least that it can be is no figure. */
	for (size_t i = 0; i < BLOCKS; i++)
		scene->analysed[i].best_case_cycles = 1e6;
	annotate(scene, true);
	hp_assert_contains(scene->output, "*** Actual: not known");
	hp_assert_lacks(scene->output, "*** Actual ≥");
}

TEST(what_is_certain_comes_first_and_what_nothing_speaks_for_is_told_to_who_wants_all)
{
	static struct hp_cause causes[3];
	struct scene *scene = analysed_scene(true);
	const char *certain, *likely;

	causes[0] =
		(struct hp_cause){ .kind = HP_CAUSE_FETCH, .low = 0.1, .high = 0.7, .likely = 0.5 };
	causes[1] = scene->cause;
	causes[2] = (struct hp_cause){ .kind = HP_CAUSE_DTLB, .high = 0.77 };
	scene->analysis.causes = causes;
	scene->insns[1].first_cause = 0;
	scene->insns[1].cause_count = 3;
	annotate(scene, true);
	certain = strstr(scene->output, "~~ data cache miss: 40 to 90 %");
	likely = strstr(scene->output, ": 10 to 70 %, likely 50 %");
	ck_assert_ptr_nonnull(certain);
	ck_assert_ptr_nonnull(likely);
	ck_assert(certain < likely);
	hp_assert_lacks(scene->output, "up to 77 %");
	scene->options.all = true;
	annotate(scene, true);
	hp_assert_contains(scene->output, "up to 77 % but unlikely");
	hp_assert_lacks(scene->output, "0.00 cycles");
}

static void analyse_with_joint(struct scene *scene, double alone)
{
	static struct hp_cause causes[3];
	static const struct hp_joint_cause joint = {
		.kinds = 1u << HP_CAUSE_DCACHE | 1u << HP_CAUSE_DTLB | 1u << HP_CAUSE_STORE_BUFFER,
		.has_culprit = true,
		.culprit = { 0x1002 },
		.low = 0.84,
		.high = 0.92,
		.likely = 0.9,
	};

	analyse_by_hand(scene, true);
	causes[0] = scene->cause;
	causes[0].low = alone;
	causes[1] = (struct hp_cause){ .kind = HP_CAUSE_DTLB, .high = 0.8, .likely = 0.4 };
	causes[2] = (struct hp_cause){ .kind = HP_CAUSE_STORE_BUFFER, .high = 0.01 };
	scene->analysis.causes = causes;
	scene->insns[1].first_cause = 0;
	scene->insns[1].cause_count = 3;
	scene->insns[1].joint = &joint;
}

TEST(causes_of_one_access_are_told_together_where_neither_is_sure_alone)
{
	struct scene *scene = scene_create();

	analyse_with_joint(scene, 0.1);
	annotate(scene, true);
	hp_assert_contains(scene->output,
			   "~~ data cache miss or data TLB miss: 84 to 92 % together, "
			   "about 6.48 cycles per execution; by 0x1002",
			   "~~ data cache miss: 10 to 90 %", "~~ data TLB miss: up to 80 %");
	analyse_with_joint(scene, 0.7);
	annotate(scene, true);
	hp_assert_lacks(scene->output, "together");
	hp_assert_contains(scene->output, "~~ data cache miss: 70 to 90 %");
}

TEST(without_an_analysis_there_are_samples_and_the_reason)
{
	struct scene *scene = scene_create();

	annotate(scene, false);
	hp_assert_contains(scene->output, "so there are no frequencies, best cases and stalls\n",
			   "1002  add rax, [rdi]       90   90.0\n");
	hp_assert_lacks(scene->output, "*** Best-case");
}

TEST(every_line_fits_a_terminal_of_any_width)
{
	static const size_t widths[] = { 120, 100, 80, 60, 48 };
	struct scene *scene = analysed_scene(true);

	for (size_t i = 0; i < HP_ARRAY_COUNT(widths); i++) {
		const char *line;
		const char *end;

		scene->options.terminal_columns = widths[i];
		line = strstr(annotate(scene, true), "address  instruction");
		end = strstr(scene->output, "\nLegend");
		ck_assert_ptr_nonnull(line);
		ck_assert_ptr_nonnull(end);
		for (line = strchr(line, '\n') + 1; line < end; line = strchr(line, '\n') + 1) {
			char *copy = strndup(line, strcspn(line, "\n"));

			ck_assert_msg(hp_text_columns(copy) <= widths[i], "%zu: %s", widths[i],
				      copy);
			free(copy);
		}
		hp_assert_contains(scene->output, "1002  add rax, [rdi]", "90");
	}
	hp_assert_contains(scene->output, "the terminal is too narrow for: culprit");
}

TEST(names_cannot_steer_the_terminal)
{
	struct scene *scene = analysed_scene(true);

	scene->row.name = "bad\033[2Jname";
	scene->rows[1].text = "call <\033]0;x\007\xe2\x80\xae>";
	annotate(scene, true);
	ck_assert_ptr_null(strchr(scene->output, '\033'));
	ck_assert_ptr_null(strchr(scene->output, '\007'));
	hp_assert_lacks(scene->output, "\xe2\x80\xae");
	hp_assert_contains(scene->output, "Summary of bad\\x1b[2Jname");
}

/* A hundred instructions in one block, samples on the 50th alone. */
static void make_long(struct scene *scene)
{
	enum { LONG = 100, SAMPLED = 50 };
	static struct hp_row rows[LONG];
	static struct hp_tally tallies[LONG];

	for (size_t i = 0; i < LONG; i++) {
		tallies[i].samples = i == SAMPLED ? 7 : 0;
		rows[i] = scene->rows[0];
		rows[i].address = 0x1000 + i;
		rows[i].tallies = &tallies[i];
	}
	scene->listing.rows.at = rows;
	scene->listing.rows.count = LONG;
}

TEST(what_is_folded_inside_a_block_does_not_begin_it_again)
{
	struct scene *scene = analysed_scene(true);
	const char *first;

	make_long(scene);
	annotate(scene, true);
	hp_assert_contains(scene->output, "instructions without samples");
	first = strstr(scene->output, "*** Best-case");
	ck_assert_ptr_nonnull(first);
	/* That is the summary's own. */
	first = strstr(first + 1, "*** Best-case");
	ck_assert_ptr_nonnull(first);
	hp_assert_lacks(first + 1, "*** Best-case");
}

TEST(stretches_without_samples_are_folded_unless_all_is_asked_for)
{
	struct scene *scene = scene_create();

	make_long(scene);
	annotate(scene, false);
	/* Shown are the first, the last, and two on either side of the 50th. */
	hp_assert_contains(scene->output, "… 47 instructions without samples …",
			   "… 46 instructions without samples …", "1030  xor", "1034  xor");
	hp_assert_lacks(scene->output, "1035  xor");
	scene->options.all = true;
	annotate(scene, false);
	hp_assert_lacks(scene->output, "without samples");
	hp_assert_contains(scene->output, "1035  xor");
}

/* Beside the 50th there are samples on the 20th, 0.3 % of them; of an analysis' time the same. */
TEST(cold_code_is_folded_below_the_limit_and_says_its_share)
{
	struct scene *scene = scene_create();
	struct hp_tally *tallies;

	make_long(scene);
	tallies = scene->listing.rows.at[0].tallies;
	tallies[50].samples = 997;
	scene->listing.rows.at[50].local = 0.997;
	tallies[20].samples = 3;
	scene->listing.rows.at[20].local = 0.003;
	scene->tallies[0].samples = 1000;
	scene->row.tallies[0].samples = 1000;
	annotate(scene, false);
	hp_assert_contains(scene->output, "… 47 instructions, 0.3 % of the time …",
			   "# hottest    1032 99.7 %, 1014 0.3 %");
	hp_assert_lacks(scene->output, "1014  xor");
	scene->options.percent_limit = 0.1;
	annotate(scene, false);
	hp_assert_contains(scene->output, "1014  xor");
	/* Nothing reaches it: then the hottest are shown. */
	scene->options.percent_limit = 100;
	annotate(scene, false);
	hp_assert_contains(scene->output, "1032  xor");
	hp_assert_lacks(scene->output, "1014  xor");
}

TEST(the_summary_stands_before_the_listing)
{
	struct scene *scene = analysed_scene(true);
	const char *summary;

	annotate(scene, true);
	summary = strstr(scene->output, "Summary of sum_array");
	ck_assert_ptr_nonnull(summary);
	hp_assert_contains(summary, "   address  instruction", "\nLegend\n");
}

/* Also a second stall: a quarter of the 800 cycles of `dec esi`, so 200. */
static const char *list_stalls(struct scene *scene, double percent_limit, struct hp_row *other)
{
	static struct hp_cause causes[2];
	struct hp_row_code code = { .cfg = &cfg, .analysis = &scene->analysis };
	struct hp_row *rows[] = { &scene->row, other };
	size_t size;
	FILE *out;

	analyse_by_hand(scene, true);
	causes[0] = scene->cause;
	causes[1] = (struct hp_cause){ .kind = HP_CAUSE_FETCH, .high = 0.5, .likely = 0.25 };
	scene->analysis.causes = causes;
	scene->insns[3].first_cause = 1;
	scene->insns[3].cause_count = 1;
	scene->insns[1].stalled = (struct hp_range){ 2000, 6000 };
	scene->insns[3].stalled = (struct hp_range){ 100, 400 };
	scene->analysis.sheet.execution = 4400;
	scene->analysis.sheet.execution_range = (struct hp_range){ 4000, 4800 };
	scene->analysis.sheet.counted_cycles = 8000;
	scene->analysis.sheet.sampling_error = 800;
	scene->analysis.sheet.likely[HP_CAUSE_DCACHE] = 3600;
	scene->row.code = &code;
	scene->profiles.arena = scene->listing.arena;
	scene->profiles.rows.at = rows;
	scene->profiles.rows.count = other ? 2 : 1;
	scene->options.view = HP_VIEW_STALLS;
	scene->options.percent_limit = percent_limit;
	/* The whole profile: 10,000 cycles, 100 of whose 125 samples pass the filters. */
	scene->event.unit = HP_UNIT_CYCLES;
	scene->events[0].all = (struct hp_tally){ .samples = 125, .weight = 10000 };
	scene->events[0].kept = (struct hp_tally){ .samples = 100, .weight = 8000 };
	free(scene->output);
	out = open_memstream(&scene->output, &size);
	hp_assert_ok(write_stalls_text(&scene->report, out));
	ck_assert_int_eq(fclose(out), 0);
	scene->row.code = NULL;
	return scene->output;
}

/* The other 25 of 125 samples. */
TEST(samples_in_the_kernel_stand_apart_from_what_could_be_analysed)
{
	struct scene *scene = scene_create();
	char path[] = "[kernel]";
	struct hp_loaded_image kernel = { .id = { .kind = HP_IMAGE_KERNEL, .path = path } };
	struct hp_tally tally = { .samples = 25, .weight = 2000 };
	struct hp_row row = { .image = &kernel, .name = "copy_page", .tallies = &tally };

	list_stalls(scene, 0, &row);
	hp_assert_contains(
		scene->output,
		"# 20.0 % of the samples are in the kernel, whose code is not analysed; "
		"of the others:\n"
		"# 100.0 % of the samples are in blocks whose relative frequency has at "
		"least medium confidence\n"
		"# 100.0 % are in blocks whose executions have at least medium confidence\n"
		"# 0.0 % are in procedures with fewer than 10 samples, 0.0 % in "
		"code that could not be analysed\n");
}

TEST(the_worst_stalls_come_first_as_shares_of_the_whole_profile)
{
	struct scene *scene = scene_create();

	list_stalls(scene, 0, NULL);
	hp_assert_contains(
		scene->output,
		"# 100.0 % of the samples are in blocks whose relative frequency has at "
		"least medium confidence\n"
		"# 100.0 % are in blocks whose executions have at least medium confidence\n"
		"# 0.0 % are in procedures with fewer than 10 samples, 0.0 % in "
		"code that could not be analysed\n",
		"    %    between   cum%  cycles  executions  conf  average  causes         "
		"address  procedure  line\n"
		"36.00  14.4-72.5  36.00    3600   1000 ±10%  high     3.60  dcache 40-90%   "
		"0x1002  "
		"sum_array  sum\n"
		" 2.00    0.3-8.2  38.00     200   1000 ±10%  high     0.20  fetch 0-50%     "
		"0x1009  "
		"sum_array  sum\n");
	/* 3600 of the 8000 that were analysed. */
	hp_assert_contains(scene->output, "= dynamic stalls           45.0 %",
			   "execution                  55.0 %    39.6 % to  74.2 %\n",
			   "(100 samples, 80.0 % of all");
}

TEST(what_says_nothing_gives_way_to_the_causes)
{
	struct scene *scene = scene_create();

	scene->row.name = "sum+0x1000";
	scene->options.terminal_columns = 80;
	list_stalls(scene, 0, NULL);
	hp_assert_contains(scene->output,
			   "    %    between  executions  conf  average  causes         address  "
			   "procedure",
			   "sum+0x1000\n");
	hp_assert_lacks(scene->output, "  line\n");
}

TEST(stalls_below_the_limit_are_counted_not_shown)
{
	struct scene *scene = scene_create();

	list_stalls(scene, 5, NULL);
	hp_assert_contains(scene->output, "36.00  14.4-72.5  36.00    3600");
	hp_assert_lacks(scene->output, "0x1009");
	hp_assert_contains(scene->output, "# not shown: 1 stall (2.00 %)");
}

HP_TEST_MAIN("report/annotate")
