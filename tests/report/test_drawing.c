/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pieces that annotated procedures are made of: arrows, the hottest path, figures, the summary
 * of cycles, source lines. */
#include "../support.h"

#include "../../src/report/annotate/arrows.h"
#include "../../src/report/annotate/hot_path.h"
#include "../../src/report/common/quantity.h"
#include "../../src/report/common/sheet.h"
#include "../../src/report/common/svg.h"
#include "../../src/report/annotate/source.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/model/epoch.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- arrows ----------------------------------------------------------------------------------- */

static void assert_gutter(const struct gutter *gutter, const char *const *lines)
{
	for (size_t i = 0; i < gutter->lines; i++) {
		ck_assert_uint_eq(strlen(lines[i]), gutter->columns);
		ck_assert_msg(memcmp(gutter_line(gutter, i), lines[i], gutter->columns) == 0,
			      "line %zu: '%.*s'", i, (int)gutter->columns, gutter_line(gutter, i));
	}
}

TEST(short_jumps_are_drawn_next_to_the_text_and_long_ones_around_them)
{
	static const char *const expected[] = { "/--", "|/>", "|\\-", "|  ", "\\->" };
	struct arrow arrows[] = { { 0, 4 }, { 2, 1 } };
	_cleanup_(gutter_clear) struct gutter gutter;

	hp_assert_ok(gutter_draw(arrows, 2, 5, 6, &gutter));
	assert_gutter(&gutter, expected);
	ck_assert_uint_eq(gutter.left_out, 0);
}

TEST(jumps_without_a_lane_are_left_out_and_counted)
{
	static const char *const expected[] = { "  ", "/>", "\\-", "  ", "  " };
	struct arrow arrows[] = { { 0, 4 }, { 2, 1 } };
	_cleanup_(gutter_clear) struct gutter gutter;

	hp_assert_ok(gutter_draw(arrows, 2, 5, 1, &gutter));
	assert_gutter(&gutter, expected);
	ck_assert_uint_eq(gutter.left_out, 1);
}

TEST(jumps_that_do_not_overlap_share_a_lane_and_one_to_itself_is_marked)
{
	static const char *const expected[] = { "/-", "\\>", "  ", "@>" };
	struct arrow arrows[] = { { 0, 1 }, { 3, 3 } };
	_cleanup_(gutter_clear) struct gutter gutter;

	hp_assert_ok(gutter_draw(arrows, 2, 4, 6, &gutter));
	assert_gutter(&gutter, expected);
}

/* Against looking at every line: shortest first, in the lane nearest to the text that nothing is
 * in, not even the end of another. */
static size_t draw_slowly(const struct arrow *arrows, size_t count, size_t lanes, char *cells)
{
	size_t columns = lanes + 1;
	size_t left_out = 0;

	for (size_t i = 0; i < count; i++) {
		size_t top = arrows[i].from < arrows[i].to ? arrows[i].from : arrows[i].to;
		size_t bottom = arrows[i].from + arrows[i].to - top;
		size_t lane = lanes;
		bool is_free = false;

		while (lane > 0 && !is_free) {
			lane--;
			is_free = true;
			for (size_t line = top; line <= bottom; line++)
				is_free = is_free && cells[line * columns + lane] == ' ';
		}
		left_out += !is_free;
		for (size_t line = top; line <= bottom && is_free; line++)
			cells[line * columns + lane] = 'x';
		for (size_t column = lane + 1; column < columns && is_free; column++)
			cells[top * columns + column] = cells[bottom * columns + column] = 'x';
	}
	return left_out;
}

TEST(of_thousands_of_long_jumps_each_gets_the_first_lane_that_is_free)
{
	enum { LINES = 9000, ARROWS = 600, LANES = 5 };
	static char cells[LINES * (LANES + 1)];
	struct hp_random random = hp_random_seeded(5);
	struct arrow arrows[ARROWS];
	_cleanup_(gutter_clear) struct gutter gutter;
	size_t left_out;

	for (size_t i = 0; i < ARROWS; i++) {
		size_t length = (size_t)hp_random_between(&random, 0, 1 << i % 13);

		arrows[i].from = (size_t)hp_random_between(&random, 0, LINES - 1 - length);
		arrows[i].to = arrows[i].from + length;
		if (i % 2)
			arrows[i] = (struct arrow){ arrows[i].to, arrows[i].from };
	}
	hp_assert_ok(gutter_draw(arrows, ARROWS, LINES, LANES, &gutter));
	memset(cells, ' ', sizeof(cells));
	left_out = draw_slowly(arrows, ARROWS, LANES, cells); /* they are sorted now */
	ck_assert_uint_gt(left_out, 0);
	ck_assert_uint_eq(gutter.left_out, left_out);
	ck_assert_uint_eq(gutter.columns, LANES + 1);
	for (size_t line = 0; line < LINES; line++)
		for (size_t column = 0; column <= LANES; column++)
			ck_assert_int_eq(gutter_line(&gutter, line)[column] == ' ',
					 cells[line * (LANES + 1) + column] == ' ');
}

/* --- the hottest path ------------------------------------------------------------------------- */

/*
 * entry -> 0; 0 -> 1 or (rarely) 2; 1 -> exit; 2 -> 3; 3 -> 3 or 4; 4 -> exit. The hot loop is 3,
 * behind the rare branch: following the likeliest branches alone would miss it.
 */
TEST(the_hottest_path_goes_through_the_hottest_loop_even_behind_a_rare_branch)
{
	enum { ENTRY = 5, EXIT = 6, NODES = 7, EDGES = 8 };
	struct hp_block blocks[NODES] = {
		{ .first_out = 0, .out_count = 2, .loop = HP_CFG_NONE },
		{ .first_out = 2, .out_count = 1, .loop = HP_CFG_NONE },
		{ .first_out = 3, .out_count = 1, .loop = HP_CFG_NONE },
		{ .first_out = 4, .out_count = 2, .loop = 0 },
		{ .first_out = 6, .out_count = 1, .loop = HP_CFG_NONE },
		{ .first_out = 7, .out_count = 1, .loop = HP_CFG_NONE },
		{ .first_out = 8, .loop = HP_CFG_NONE },
	};
	struct hp_edge edges[EDGES] = {
		{ .from = 0, .to = 1 },	   { .from = 0, .to = 2 },     { .from = 1, .to = EXIT },
		{ .from = 2, .to = 3 },	   { .from = 3, .to = 3 },     { .from = 3, .to = 4 },
		{ .from = 4, .to = EXIT }, { .from = ENTRY, .to = 0 },
	};
	static const double relative[EDGES] = { 0.09, 0.01, 0.09, 0.01, 1, 0.01, 0.01, 0.1 };
	struct hp_frequency frequencies[EDGES];
	struct hp_analysed_block analysed[5] = { 0 };
	struct hp_loop loop = { .header = 3, .depth = 1 };
	struct hp_cfg cfg = { .blocks = blocks,
			      .block_count = 5,
			      .node_count = NODES,
			      .entry = ENTRY,
			      .exit = EXIT,
			      .edges = edges,
			      .edge_count = EDGES,
			      .loops = &loop,
			      .loop_count = 1 };
	struct hp_analysis analysis = { .cfg = &cfg, .blocks = analysed, .edges = frequencies };
	static const bool expected[NODES] = { true, false, true, true, true, true, true };
	static const bool expected_edges[EDGES] = {
		false, true, false, true, true, true, true, true
	};
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct hot_path path;

	for (size_t i = 0; i < EDGES; i++)
		frequencies[i] = (struct hp_frequency){ .relative = relative[i] };
	analysed[1].cycles = 20;
	analysed[3].cycles = 100;
	analysed[3].frequency.relative = 1;
	hp_assert_ok(hot_path_find(&analysis, arena, &path));
	for (size_t i = 0; i < NODES; i++)
		ck_assert_msg(path.blocks[i] == expected[i], "block %zu", i);
	for (size_t i = 0; i < EDGES; i++)
		ck_assert_msg(path.edges[i] == expected_edges[i], "edge %zu", i);
}

/* --- figures ---------------------------------------------------------------------------------- */

TEST(figures_have_three_digits_and_a_letter_for_their_size)
{
	static const struct {
		double value;
		const char *expected;
	} cases[] = {
		{ 0, "0" },
		{ 0.0071, "0.007" },
		{ 0.931, "0.93" },
		{ 12.34, "12.3" },
		{ 4711, "4711" },
		{ 999400, "999400" },
		{ 1234567, "1.23 M" },
		{ 45.6e9, "45.6 G" },
		{ 2e15, "2.00 P" },
		{ NAN, "" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_buffer text = { 0 };

		quantity_add(&text, cases[i].value);
		ck_assert_str_eq(hp_buffer_text(&text), cases[i].expected);
		hp_buffer_free(&text);
	}
}

TEST(an_interval_is_a_percentage_only_where_it_is_even_and_small)
{
	static const struct {
		double value, low, high;
		const char *expected;
	} cases[] = {
		{ 1, 0.95, 1.05, "1.00 ±5%" },	 { 1, 1, 1, "1.00" },
		{ 1, 0.2, 3.1, "0.20 to 3.10" }, { 0, 0, 2, "0 to 2.00" },
		{ NAN, NAN, NAN, "" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_buffer text = { 0 };

		quantity_add_interval(&text, cases[i].value, cases[i].low, cases[i].high);
		ck_assert_str_eq(hp_buffer_text(&text), cases[i].expected);
		hp_buffer_free(&text);
	}
}

static char *written(const struct hp_stall_sheet *sheet, double all_samples)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	sheet_write(sheet, all_samples, out);
	fclose(out);
	return text;
}

static void assert_says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

/* 1000 cycles: 200 execution, 300 dependency, 450 data cache, 100 unexplained, 80 gained: 30 over.
 */
TEST(the_shares_of_a_summary_add_up_to_the_whole)
{
	struct hp_stall_sheet sheet = {
		.samples = 10000,
		.cycles = 1000,
		.counted_cycles = 1000,
		.execution = 200,
		.execution_range = { 150, 250 },
		.unexplained_gain = 80,
		.gain_range = { 80, 80 },
		.sampling_error = 10,
	};
	struct sheet_sums sums;
	_cleanup_free_ char *text;

	sheet.likely[HP_CAUSE_DEPENDENCY] = 300;
	sheet.likely[HP_CAUSE_DCACHE] = 450;
	sheet.likely[HP_CAUSE_UNEXPLAINED] = 100;
	sheet.causes[HP_CAUSE_DCACHE] = (struct hp_range){ 279, 645 };
	sheet.causes[HP_CAUSE_DEPENDENCY] = (struct hp_range){ 200, 400 };
	sheet.families[HP_FAMILY_DATA] = (struct hp_range){ 420, 500 };
	sums = sheet_sum(&sheet);
	ck_assert_double_eq_tol(sums.dynamic.likely, 47, 1e-9);
	ck_assert_double_eq_tol(sums.fixed.likely, 30, 1e-9);
	ck_assert_double_eq_tol(sums.stalls.likely, 77, 1e-9);
	ck_assert_double_eq_tol(sums.execution.likely, 20, 1e-9);
	ck_assert_double_eq_tol(sums.error.likely, 3, 1e-9);
	/* 15 to 25 %, and what chance makes of 1500 and of 2500 of 10,000 samples: 1.645 roots. */
	ck_assert_double_eq_tol(sums.execution.low, 14.37, 0.03);
	ck_assert_double_eq_tol(sums.execution.high, 25.83, 0.03);
	ck_assert_double_eq_tol(sums.stalls.low, 100 - sums.execution.high, 1e-9);
	ck_assert_double_eq_tol(sums.stalls.high, 100 - sums.execution.low, 1e-9);
	/* Without execution and static stalls: 35 to 65 %. */
	ck_assert_double_eq_tol(sums.dynamic.low, 33.66, 0.03);
	ck_assert_double_eq_tol(sums.dynamic.high, 65.97, 0.03);
	text = written(&sheet, 40000);
	assert_says(text, "data cache miss            45.0 %    27.0 % to  65.8 %\n");
	/* Known better together than apart. */
	assert_says(text, "data cache and TLB         45.0 %    40.9 % to  51.2 %\n");
	ck_assert(!strstr(text, "code cache"));
	assert_says(text, "unexplained gain           -8.0 %    -8.5 % to  -7.5 %\n");
	assert_says(text, "total stalls               77.0 %    74.2 % to  85.6 %\n");
	assert_says(text, "execution                  20.0 %    14.4 % to  25.8 %\n");
	assert_says(text, "= all                     100.0 %\n");
	assert_says(text, "(10000 samples, 25.0 % of all");
	/* What is likely of all causes may add up to more than there is. */
	sheet.likely[HP_CAUSE_DCACHE] += 200;
	sums = sheet_sum(&sheet);
	ck_assert_double_lt(sums.error.likely, 0);
	ck_assert_double_ge(sums.stalls.high, sums.stalls.likely);
	ck_assert_double_ge(sums.dynamic.high, sums.dynamic.likely);
}

TEST(execution_that_was_not_counted_is_no_point)
{
	struct hp_stall_sheet sheet = {
		.samples = 10000,
		.cycles = 1000,
		.counted_cycles = 400,
		.execution = 135,
		.execution_range = { 50, 600 },
		.sampling_error = 10,
	};
	char *text;

	sheet.likely[HP_CAUSE_DCACHE] = 865;
	sheet.causes[HP_CAUSE_DCACHE] = (struct hp_range){ 400, 950 };
	text = written(&sheet, 10000);
	assert_says(text,
		    "execution                not measured: execution could be 4.6 to 61.3 %\n");
	assert_says(text, "total stalls                    -    38.7 % to  95.4 %\n");
	ck_assert(!strstr(text, "13.5"));
	ck_assert(!strstr(text, "= all"));
	free(text);
	sheet.counted_cycles = 600;
	text = written(&sheet, 10000);
	assert_says(text, "execution                  13.5 %     4.6 % to  61.3 %\n");
	free(text);
}

TEST(a_range_of_more_than_90_points_is_unknown)
{
	struct hp_stall_sheet sheet = {
		.samples = 10000,
		.cycles = 1000,
		.execution = 100,
		.execution_range = { 10, 950 },
		.sampling_error = 10,
	};
	_cleanup_free_ char *text;

	sheet.likely[HP_CAUSE_DCACHE] = 600;
	sheet.causes[HP_CAUSE_DCACHE] = (struct hp_range){ 0, 930 };
	sheet.likely[HP_CAUSE_DTLB] = 300;
	sheet.causes[HP_CAUSE_DTLB] = (struct hp_range){ 0, 850 };
	text = written(&sheet, 10000);
	assert_says(text, "data cache miss                 -   unknown\n");
	assert_says(text, "data TLB miss              30.0 %     0.0 % to  86.5 %\n");
	assert_says(text, "execution                not measured: unknown\n");
}

/* Of nine samples none need not be of what a tenth of the time goes to. */
TEST(few_samples_have_ranges_as_wide_as_chance)
{
	static const struct {
		struct hp_range shares;
		double samples;
		struct hp_range expected;
	} cases[] = {
		{ { 0, 0 }, 9, { 0, 0.301 } },
		{ { 0, 0 }, 10000, { 0, 0.0003 } },
		{ { 1.0 / 9, 1.0 / 9 }, 9, { 0.0248, 0.498 } },
		{ { 0.5, 0.5 }, 10000, { 0.4885, 0.5118 } },
		{ { 0.9, 1 }, 0, { 0, 1 } },
		{ { 0, 1.2 }, 100, { 0, 1 } },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_range wide = sheet_widen(cases[i].shares, cases[i].samples);

		ck_assert_double_eq_tol(wide.low, cases[i].expected.low, 0.001);
		ck_assert_double_eq_tol(wide.high, cases[i].expected.high, 0.001);
	}
}

/* --- source ----------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

TEST(source_lines_come_by_number_and_what_is_missing_or_newer_is_known)
{
	const char *parent = getenv("TMPDIR");
	char directory[64];
	char path[96];
	char pipe[96];
	struct sources sources = { .recorded_ns = 1000000000,
				   .user = geteuid() }; /* 1970: every file is newer */
	const char *text;
	size_t length;

	snprintf(directory, sizeof(directory), "%s/hpcprof-test-XXXXXX",
		 parent && strlen(parent) < 40 ? parent : P_tmpdir);
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/a.c", directory);
	snprintf(pipe, sizeof(pipe), "%s/pipe", directory);
	write_file(path, "first\n\nthird");
	ck_assert_int_eq(mkfifo(pipe, 0600), 0);

	hp_assert_ok(source_line(&sources, path, 1, &text, &length));
	ck_assert(length == 5 && memcmp(text, "first", 5) == 0);
	hp_assert_ok(source_line(&sources, path, 2, &text, &length));
	ck_assert(text && length == 0);
	hp_assert_ok(source_line(&sources, path, 3, &text, &length));
	ck_assert(length == 5 && memcmp(text, "third", 5) == 0);
	hp_assert_ok(source_line(&sources, path, 4, &text, &length));
	ck_assert_ptr_null(text);
	ck_assert_uint_eq(sources.files.count, 1);
	ck_assert(sources.files.at[0].is_newer);
	/* Neither hangs nor fails. */
	hp_assert_ok(source_line(&sources, pipe, 1, &text, &length));
	ck_assert_ptr_null(text);
	hp_assert_ok(source_line(&sources, "/nowhere/at/all.c", 1, &text, &length));
	ck_assert_ptr_null(text);
	ck_assert_uint_eq(sources.files.count, 3);
	ck_assert_ptr_null(sources.files.at[2].text);
	sources_clear(&sources);
	remove(path);
	remove(pipe);
	remove(directory);
}

static bool is_shown(const char *path, uid_t user)
{
	struct sources sources = { .user = user };
	const char *text;
	size_t length;
	bool shown;

	hp_assert_ok(source_line(&sources, path, 1, &text, &length));
	shown = text != NULL;
	ck_assert(sources.files.at[0].withheld == !shown);
	sources_clear(&sources);
	return shown;
}

/* Whoever built the program chose the path: see source_access.h. */
TEST(what_is_no_source_or_not_for_who_recorded_is_withheld)
{
	static const char binary[] = "a\0b";
	uid_t self = geteuid();
	uid_t other = self + 12345;
	char directory[] = "/tmp/hpcprof-test-XXXXXX";
	char path[64];
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/id_rsa", directory);
	write_file(path, "secret\n");
	ck_assert(!is_shown(path, self));
	remove(path);
	snprintf(path, sizeof(path), "%s/key.pem", directory);
	write_file(path, "secret\n");
	ck_assert(!is_shown(path, self));
	remove(path);
	snprintf(path, sizeof(path), "%s/binary.c", directory);
	file = fopen(path, "w");
	ck_assert(file && fwrite(binary, 1, sizeof(binary), file) == sizeof(binary));
	fclose(file);
	ck_assert(!is_shown(path, self));
	remove(path);
	snprintf(path, sizeof(path), "%s/a.c", directory);
	write_file(path, "first\n");
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert(is_shown(path, self));
	ck_assert(!is_shown(path, other)); /* the directory is 0700 */
	ck_assert_int_eq(chmod(directory, 0711), 0);
	ck_assert(is_shown(path, other));
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert(!is_shown(path, other));
	remove(path);
	remove(directory);
}

/* --- pictures --------------------------------------------------------------------------------- */

TEST(hostile_names_are_text_in_pictures)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert(svg_text(out, "</text><script>alert(\"&'\")\033[2J\xff\n", 0));
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, "&lt;/text&gt;&lt;script&gt;alert(&quot;&amp;&#39;&quot;)"
			       "\\x1b[2J\\xff\\n");
}

TEST(a_picture_is_headed_by_its_command_and_says_where_that_is_cut)
{
	static char words[][4] = { "a", "-b", "c", "-d", "e", "-f", "g", "-h", "i", "-j" };
	static char long_word[121];
	char *command[HP_ARRAY_COUNT(words) + 2] = { NULL };
	const struct hp_epoch_meta meta = { .command_line = command };

	memset(long_word, 'x', sizeof(long_word) - 1);
	for (size_t with_long = 0; with_long < 2; with_long++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		for (size_t i = 0; i < HP_ARRAY_COUNT(words); i++)
			command[i] = words[i];
		command[HP_ARRAY_COUNT(words)] = with_long ? long_word : NULL;
		ck_assert(svg_command(out, &meta));
		fclose(out);
		ck_assert_ptr_nonnull(strstr(text, "a -b c -d e -f g -h i -j"));
		ck_assert(!strstr(text, "…") == !with_long);
		free(text);
	}
}

HP_TEST_MAIN("report/drawing")
