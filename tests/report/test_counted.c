/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What windows counted, from windows to figures in reports. */
#include "counted.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__

SETUP
{
	count_all();
}

TEST(executions_are_those_of_the_windows_times_what_they_stand_for)
{
	static const struct {
		const char *at;
		double estimate;
	} rows[] = {
		{ counted_loop, 4000 },	 { counted_body, 40000 },      { counted_end, 4000 },
		{ counted_leaf, 40000 }, { counted_leaf_then, 30000 }, { counted_leaf_end, 40000 },
	};
	struct fixture *fixture = record(0);
	json_t *loop = listed(fixture, "counted_loop");
	json_t *leaf = listed(fixture, "counted_leaf");
	double cycles = 0;

	ck_assert(has_source(loop, "shadow"));
	ck_assert(!has_source(loop, "counts"));
	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++)
		assert_near(executions(i < 3 ? loop : leaf, rows[i].at, "estimate"),
			    rows[i].estimate, 0.04);
	/* Windows vary by 2 %, but that four do is no proof. */
	assert_figure(
		json_at(instruction_at(loop, counted_body), "executions"), "the loop's body",
		(struct expected){ 40000, 0.04, 40000 * 0.75, 40000 * 0.99, 40000 * 1.01, 0 });
	/* 2000 samples of 3 million cycles each over 40000 executions, nearly all of them there. */
	cycles += number_at(instruction_at(loop, counted_back), "cycles.per_execution");
	cycles += number_at(instruction_at(loop, counted_body), "cycles.per_execution");
	cycles += number_at(instruction_at(loop, counted_jump), "cycles.per_execution");
	assert_near(cycles, 2000 * 3e6 / 40000, 0.05);
}

/* The sum of the column of cycles, which is the fourth from the right; none after it is quoted. */
static double csv_cycles(const char *csv)
{
	const char *line = strstr(csv, "\r\n");
	double sum = 0;

	ck_assert_ptr_nonnull(strstr(csv, ",cycles,cycles_per_execution,best_case,stalls\r\n"));
	while (line[2]) {
		const char *field = line = strstr(line + 2, "\r\n");

		for (unsigned i = 0; i < 4; i++)
			while (*--field != ',')
				;
		sum += strtod(field + 1, NULL);
	}
	return sum;
}

/* Samples come an instruction late, and cycles are of the instruction before: most rows have only
 * one of both. */
TEST(cycles_of_instructions_add_up_to_those_of_the_program)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),	 clock_at(counted_leaf_then, 1500),
		clock_at(counted_leaf_end, 500), clock_at(counted_body + 1, 7),
		clock_at(counted_hidden, 3),
	};
	const struct hp_report_options csv = { .view = HP_VIEW_INSTRUCTIONS,
					       .format = HP_FORMAT_CSV };
	struct fixture_epoch epoch = { .counts = counts,
				       .count = HP_ARRAY_COUNT(counts),
				       .clock_hz = 3e9,
				       .skid_instructions = 1 };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	json_t *list;
	double sum = 0, without_samples = 0;

	list = json_at(view_of(fixture, HP_VIEW_INSTRUCTIONS), "images.0.procedures");
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *rows = json_at(list, "%zu.instructions", i);

		for (size_t j = 0; j < json_array_size(rows); j++) {
			double cycles = number_at(rows, "%zu.cycles.total", j);

			sum += cycles;
			without_samples += number_at(rows, "%zu.samples.0", j) > 0 ? 0 : cycles;
		}
	}
	/* The clock's histogram has steps of a percent. */
	assert_near(sum, 4010 * 3e6, 0.01);
	ck_assert_double_gt(without_samples, 0.4 * sum);
	assert_near(csv_cycles(fixture_output(fixture, &csv)), sum, 1e-4);
	list = json_at(view_of(fixture, HP_VIEW_PROCEDURES), "images.0.procedures");
	ck_assert_uint_eq(json_array_size(list), 3);
	assert_near(sum, 4010 * number_at(view_of(fixture, HP_VIEW_STALLS), "stack.cycles") / 4007,
		    1e-9);
}

static json_t *in_list(struct fixture *fixture, const char *name)
{
	return json_with(json_at(view_of(fixture, HP_VIEW_INSTRUCTIONS), "images.0.procedures"),
			 "name", name);
}

/* Of nine samples nothing is known of single instructions; windows know more. */
TEST(of_all_procedures_those_with_few_samples_are_analysed_if_they_are_named)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 10),
		clock_at(counted_leaf_then, 9),
	};
	struct fixture_epoch epoch = { .counts = counts,
				       .count = HP_ARRAY_COUNT(counts),
				       .clock_hz = 3e9 };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	json_t *leaf;

	leaf = in_list(fixture, "counted_leaf");
	ck_assert(json_is_null(json_at(leaf, "cfg")));
	ck_assert(json_is_null(json_at(leaf, "stack")));
	ck_assert_ptr_nonnull(strstr(string_at(leaf, "not_analysed.0"), "few samples"));
	ck_assert_uint_eq(json_array_size(json_at(leaf, "instructions")), 1);
	assert_near(number_at(leaf, "instructions.0.samples.0"), 9, 0);
	ck_assert(json_is_object(json_at(in_list(fixture, "counted_loop"), "cfg")));
	ck_assert(json_is_object(json_at(listed(fixture, "counted_leaf"), "cfg")));
	leaf = in_list(record_counts(counts, HP_ARRAY_COUNT(counts)), "counted_leaf");
	ck_assert(json_is_object(json_at(leaf, "cfg")));
}

/* Of the time of windows three quarters were in the loop, of all of it half: windows came by the
 * leaf too seldom, and by the loop too often. */
TEST(counts_are_of_the_time_of_their_procedure)
{
	json_t *list;

	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 7500);
	put_ticks(1, 0, WINDOWS, 0, 2500);
	list = json_at(view_of(record(0), HP_VIEW_PROCEDURES), "images.0.procedures");
	assert_near(number_at(json_with(list, "name", "counted_leaf"), "counts.calls.estimate"),
		    40000 * 2, 0.05);
	assert_near(number_at(json_with(list, "name", "counted_loop"), "counts.calls.estimate"),
		    4000 / 1.5, 0.05);
}

static const char *text_of(struct fixture *fixture, enum hp_report_view view, const char *name,
			   enum hp_report_format format)
{
	struct hp_report_options options = { .view = view, .of.listed = name, .format = format };

	return fixture_output(fixture, &options);
}

/* In windows `from` to `end`. */
static void add_tick(struct hp_counted *list, uint32_t image, const char *at, uint64_t count,
		     size_t from, size_t end)
{
	struct hp_counted tick = { .kind = HP_COUNTED_TICK,
				   .image = image,
				   .at = { offset_of(at) },
				   .to_image = image,
				   .to = { offset_of(at) } };

	for (size_t i = from; i < end; i++)
		tick.counts[i * PARTS] = count;
	list[stratum.tick_count++] = tick;
}

static void take_all(struct hp_counted *all_ticks)
{
	qsort(all_ticks, stratum.tick_count, sizeof(*all_ticks), compare_items);
	stratum.ticks = all_ticks;
}

/* Each window was in another procedure. Some weights make ticks fit samples, but nothing else tells that
 * the first one had too many: windows may be as far off wherever they were not. */
TEST(weights_that_fit_do_not_make_counts_certain)
{
	const char *const places[WINDOWS] = { counted_back, counted_leaf_then, counted_hidden,
					      (const char *)(uintptr_t)counted_function };
	const struct fixture_count counts[] = {
		clock_at(places[0], 1000),
		clock_at(places[1], 1000),
		clock_at(places[2], 1000),
		clock_at(places[3], 1000),
	};
	static const char said[] = "in user code; they missed some of what ran";
	struct hp_counted all_ticks[WINDOWS];
	struct fixture *fixture;
	json_t *figure;

	ck_assert_ptr_null(
		strstr(text_of(record(0), HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT), said));

	for (size_t i = 0; i < WINDOWS; i++)
		add_tick(all_ticks, 0, places[i], i ? 60 : 300, i, i + 1);
	take_all(all_ticks);
	fixture = record_counts(counts, WINDOWS);
	assert_contains(text_of(fixture, HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT), said);
	assert_contains(text_of(fixture, HP_VIEW_STALLS, NULL, HP_FORMAT_TEXT), said);
	figure = json_at(json_with(json_at(view_of(fixture, HP_VIEW_EXECUTIONS), "procedures"),
				   "name", "counted_leaf"),
			 "calls");
	ck_assert_double_gt(number_at(figure, "high"), 1.5 * number_at(figure, "low"));
}

/* Here a place of the C library, too, has more ticks than its samples are worth: by no more than chance
 * would explain, were it not for what the program's own places say. */
TEST(what_windows_missed_is_missing_in_each_image)
{
	static const uint64_t sorted[WINDOWS] = { 100, 100, 100, 100 };
	const char *const in_library = (const char *)(uintptr_t)qsort;
	struct hp_image_id images[2], library;
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 1600),
		{ "cpu-clock:u", &library, "t", 0, 1000000, offset_of(in_library), 400 },
	};
	struct hp_counted all_ticks[3];
	Dl_info found;
	uint32_t own;

	ck_assert(dladdr(in_library, &found));
	identify(found.dli_fname, &library);
	own = hp_image_id_compare(&self, &library) > 0;
	images[own] = self;
	images[!own] = library;
	for (size_t i = 0; i < item_count; i++) {
		items[i].image = own;
		items[i].to_image = items[i].kind == HP_COUNTED_BLOCK ? 0 : own;
	}
	block(in_library, in_library + 1, 1, sorted);
	items[item_count - 1].image = !own;
	stratum.item_count = item_count;
	qsort(items, item_count, sizeof(*items), compare_items);
	add_tick(all_ticks, own, counted_back, 150, 0, WINDOWS);
	add_tick(all_ticks, own, counted_leaf_then, 25, 0, WINDOWS);
	add_tick(all_ticks, !own, in_library, 26, 0, WINDOWS);
	take_all(all_ticks);
	windows.images = images;
	windows.image_count = HP_ARRAY_COUNT(images);
	assert_near(
		number_at(json_with(json_at(view_of(record_counts(counts, 3), HP_VIEW_EXECUTIONS),
					    "procedures"),
				    "name", "qsort"),
			  "calls.estimate"),
		4000 * 0.1 / 0.1294, 0.05);
}

/* Of twenty samples in windows twelve where ten are due are chance. */
TEST(a_few_samples_are_no_reason_to_think_that_windows_were_elsewhere)
{
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 3);
	put_ticks(1, 0, WINDOWS, 0, 2);
	assert_leaf_runs(record(0), 40000, 0.01);
}

/* Windows came by the leaf a few times, but not where its time went: 160 executions of 12 ms each
 * there cannot be. They are as many as others execute in its time. */
TEST(a_few_counts_beside_much_time_are_of_another_occasion)
{
	uint64_t start = offset_of(counted_leaf);
	struct fixture *fixture;
	json_t *leaf;

	for (size_t i = 0; i < item_count; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS &&
				   items[i].at.value - start < offset_of(counted_hidden) - start;
		     j++)
			items[i].counts[j] /= 240;
	take_ticks();
	stratum.tick_count = 1;
	put_ticks(0, 0, WINDOWS, 0, 100);
	fixture = record(0);
	leaf = listed(fixture, "counted_leaf");
	ck_assert_double_lt(executions(leaf, counted_leaf_then, "low"), 40000);
	ck_assert_double_gt(executions(leaf, counted_leaf_then, "low"), 5000);
	ck_assert_double_gt(executions(leaf, counted_leaf_then, "high"), 80000);
	ck_assert_double_gt(executions(listed(fixture, "counted_loop"), counted_loop, "estimate"),
			    0);
}

/* The same of one way through the leaf, while windows saw the other as often as it ran. */
TEST(so_are_those_of_one_way_through_a_procedure)
{
	static const uint64_t hardly[WINDOWS] = { 2, 3, 3, 2 };
	static const uint64_t mostly[WINDOWS] = { 998, 1017, 977, 998 };
	json_t *figure;

	for (size_t i = 0; i < item_count; i++) {
		bool is_then = items[i].at.value == offset_of(counted_leaf_then) ||
			       items[i].to.value == offset_of(counted_leaf_then);
		bool is_end = items[i].kind == HP_COUNTED_BLOCK
				      ? items[i].at.value == offset_of(counted_leaf_end)
				      : items[i].to.value == offset_of(counted_leaf_end);

		if (is_then || is_end)
			set_counts(&items[i], is_then ? hardly : mostly);
	}
	take_ticks();
	ticks[1].at.value = ticks[1].to.value = offset_of(counted_leaf_end);
	put_ticks(0, 0, WINDOWS, 0, 50);
	put_ticks(1, 0, WINDOWS, 0, 50);
	figure = json_at(instruction_at(listed(record(0), "counted_leaf"), counted_leaf_then),
			 "executions");
	ck_assert(has_null(figure) || number_at(figure, "high") > 1000);
}

/* Half of all time was another command's, which had no windows and ran other code: that is no
 * reason to think that windows came by anything too often. */
TEST(commands_without_windows_are_no_part_of_their_time)
{
	struct hp_image_id elsewhere = self;
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 2000),
		{ "cpu-clock:u", &elsewhere, "other", 0, 1000000, 0x1000, 4000 },
	};

	elsewhere.path = (char[]){ "/nowhere/at/all" };
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 5000);
	put_ticks(1, 0, WINDOWS, 0, 5000);
	assert_leaf_runs(record_counts(counts, HP_ARRAY_COUNT(counts)), 40000, 0.04);
}

/* What the report says of counted_leaf's jump being taken. */
static json_t *taken(void)
{
	return json_with(json_at(listed(record(0), "counted_leaf"), "cfg.edge_list"), "kind",
			 "jump");
}

TEST(edges_are_those_of_the_windows)
{
	assert_near(number_at(taken(), "estimate"), 10000, 0.01);
}

/* Sixteen times in all: that all windows saw it four times is luck. Of a number that varies as
 * chance has it 16 plus or minus 4 are two thirds. */
TEST(what_was_seen_a_few_times_is_not_certain_because_windows_agree)
{
	for (size_t i = 0; i < item_count; i++) {
		uint64_t *counts = items[i].counts;
		bool is_other = counts[0] == other[0];
		bool is_zero = counts[0] == zero[0];

		for (size_t j = 0; j < WINDOWS && (is_other || is_zero); j++)
			counts[j * PARTS] = is_other ? around[j] - 4 : 4;
	}
	assert_figure(taken(), "the jump",
		      (struct expected){ 160, 0.03, .low_below = 120, .high_above = 200 });
}

TEST(a_jump_that_only_windows_saw_is_an_edge)
{
	json_t *hidden = listed(record(0), "counted_hidden");

	ck_assert_double_eq(number_at(hidden, "cfg.edges"), 1);
	assert_near(executions(hidden, counted_hidden_target, "estimate"), 4000, 0.02);
}

/* How often the leaf ran is not known, but that in three of four runs it went straight on. */
static void assert_relative(struct fixture *fixture)
{
	json_t *leaf = listed(fixture, "counted_leaf");

	ck_assert(json_is_null(json_at(instruction_at(leaf, counted_leaf), "executions.estimate")));
	assert_near(executions(leaf, counted_leaf_then, "relative"), 0.75, 0.02);
	ck_assert(has_source(leaf, "shadow"));
}

TEST(truncated_windows_only_say_how_counts_are_to_each_other)
{
	is_relative = true;
	count_all();
	assert_relative(record(0));
}

/* Of 4 s that were sampled of the command only 1 is told of: the rest was merged to it. */
TEST(time_that_nobody_told_of_makes_counts_relative)
{
	stratum.time_ns = 1000000000;
	assert_relative(record(0));
}

/* A tenth of the time at most may be of commands that nobody counted. */
TEST(commands_without_windows_are_allowed_for_or_make_counts_relative)
{
	struct fixture *fixture = record(200);
	json_t *leaf = listed(fixture, "counted_leaf");

	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 40000 / 0.95, 0.02, .low_below = 40000 * 0.98 });
	assert_near(number_at(view_of(fixture, HP_VIEW_CALLS), "calls.0.calls.estimate"),
		    40000 / 0.95, 0.005);
	assert_relative(record(1000));
}

TEST(procedures_have_calls_and_what_one_costs)
{
	/* Two before the loop, three in it, two after it; two or four. */
	static const struct {
		const char *name;
		double calls;
		double instructions;
	} rows[] = {
		{ "counted_leaf", 40000, 40000 * 3 + 30000 },
		{ "counted_loop", 4000, 4000 * 4 + 40000 * 3 },
	};
	struct fixture *fixture = record(0);
	json_t *list = json_at(view_of(fixture, HP_VIEW_PROCEDURES), "images.0.procedures");

	ck_assert_uint_eq(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *counts = json_at(json_with(list, "name", rows[i].name), "counts");

		assert_near(number_at(counts, "calls.estimate"), rows[i].calls, 0.001);
		assert_near(number_at(counts, "instructions.estimate"), rows[i].instructions,
			    0.001);
		assert_near(number_at(counts, "cycles_per_call"), 6e9 / rows[i].calls, 0.003);
		assert_near(number_at(counts, "instructions_per_cycle"), rows[i].instructions / 6e9,
			    0.003);
	}
	assert_contains(text_of(fixture, HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT), "cycles/call");
	assert_contains(text_of(fixture, HP_VIEW_PROCEDURES, NULL, HP_FORMAT_CSV),
			",calls,calls_low,calls_high,instructions,cycles_per_call,"
			"instructions_per_cycle");
}

TEST(texts_say_what_was_counted_at_which_price_trips_and_which_way_branches_go)
{
	static const struct {
		enum hp_report_view view;
		const char *listed;
		enum hp_report_format format;
		const char *said;
	} rows[] = {
		{ HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT,
		  "# counted    by 4 shadow windows: 0.40 s of 4.00 s in user code\n" },
		{ HP_VIEW_SUMMARY, NULL, HP_FORMAT_TEXT,
		  "cost the program 0.50 % of its time (budget 1 %)" },
		{ HP_VIEW_SUMMARY, NULL, HP_FORMAT_TEXT, "100 % of their samples were matched" },
		{ HP_VIEW_ANNOTATE, "counted_loop", HP_FORMAT_TEXT,
		  "head of a loop, depth 1, 10.0 iterations per entry, jumps 90 % of the time" },
		{ HP_VIEW_ANNOTATE, "counted_leaf", HP_FORMAT_TEXT, "jumps 25 % of the time" },
		{ HP_VIEW_INSTRUCTIONS, "counted_loop", HP_FORMAT_DOT, "(90 %)" },
		{ HP_VIEW_CALLS, NULL, HP_FORMAT_TEXT, "counted_leaf" },
		{ HP_VIEW_CALLS, NULL, HP_FORMAT_CSV, ",call,counted_loop," },
	};
	struct fixture *fixture = record(0);

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++)
		assert_contains(text_of(fixture, rows[i].view, rows[i].listed, rows[i].format),
				rows[i].said);
}

TEST(without_a_window_the_header_says_why_and_counts_none)
{
	static char refused[] = "over budget";
	struct hp_window_reason refusal = { .what = refused, .is_refusal = true, .count = 3 };
	const char *text;

	keep_windows(0);
	stratum.item_count = 0;
	windows.reasons = &refusal;
	windows.reason_count = 1;
	windows.samples = windows.matched = 0;
	text = text_of(record(0), HP_VIEW_SUMMARY, NULL, HP_FORMAT_TEXT);
	assert_contains(text, "# windows    cost the program 0.50 % of its time (budget 1 %)\n");
	assert_contains(text, "windows refused: over budget 3 times\n");
	ck_assert_ptr_null(strstr(text, "# counted"));
}

/* Two phases, one of which had three quarters of the time: what ran in the other, sampled or not,
 * has a quarter. That is half of what the windows of the other phase saw of it. */
static void assert_weighted(double seen)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 3000),
		clock_at(counted_leaf_then, 1000),
	};
	json_t *call = json_at(view_of(record_counts(counts, 2), HP_VIEW_CALLS), "calls.1");

	ck_assert_str_eq(string_at(call, "caller.name"), "counted_hidden");
	assert_near(number_at(call, "calls.estimate"), 10 * seen / 2, 0.1);
}

/* Two windows saw each. */
TEST(phases_have_the_weight_of_their_time)
{
	for (size_t i = 0; i < item_count; i++)
		for (size_t j = 0; j < WINDOWS / 2; j++)
			if (items[i].at.value == offset_of(counted_hidden))
				items[i].counts[j * PARTS] = 0;
	take_ticks();
	put_ticks(0, 0, WINDOWS / 2, 0, 100);
	put_ticks(1, WINDOWS / 2, WINDOWS, 0, 100);
	assert_weighted(98 + 100);
}

/* All windows alike saw the one phase in their first half and the other in their second. */
TEST(phases_within_windows_have_the_weight_of_their_time_too)
{
	for (size_t i = 0; i < WINDOWS; i++) {
		stratum.groups[i * PARTS].time_ns = window_ns / 2;
		stratum.groups[i * PARTS + 1].time_ns = window_ns / 2;
		for (size_t j = 0; j < item_count; j++)
			if (items[j].at.value == offset_of(counted_hidden)) {
				items[j].counts[i * PARTS + 1] = items[j].counts[i * PARTS];
				items[j].counts[i * PARTS] = 0;
			}
	}
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 50);
	put_ticks(1, 0, WINDOWS, 1, 50);
	assert_weighted(100 + 102 + 98 + 100);
}

TEST(calls_are_edges_between_procedures)
{
	static const struct {
		const char *caller;
		const char *callee;
		double calls;
	} rows[] = { { "counted_loop", "counted_leaf", 40000 },
		     { "counted_hidden", "counted_loop", 4000 } };
	struct hp_report_options options = { .view = HP_VIEW_CALLS, .format = HP_FORMAT_JSON };
	struct fixture *fixture = record(0);
	json_t *document = report_json(fixture, &options);

	ck_assert_str_eq(string_at(document, "schema"), "hpcprof-calls/1");
	ck_assert_uint_eq(json_array_size(json_at(document, "calls")), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *call = json_at(document, "calls.%zu", i);

		ck_assert_str_eq(string_at(call, "caller.name"), rows[i].caller);
		ck_assert_str_eq(string_at(call, "callee.name"), rows[i].callee);
		assert_near(number_at(call, "calls.estimate"), rows[i].calls, 0.001);
	}
	/* Those that a procedure makes and those that reach it. */
	options.of.procedure = "counted_hidden";
	ck_assert_uint_eq(json_array_size(json_at(report_json(fixture, &options), "calls")), 1);
}

TEST(executions_are_of_procedures_and_of_lines_sampled_or_not)
{
	struct hp_report_options options = { .view = HP_VIEW_EXECUTIONS,
					     .format = HP_FORMAT_JSON,
					     .of.no_debuginfo = true };
	json_t *document = report_json(record(0), &options);
	json_t *list = json_at(document, "procedures");
	json_t *hidden = json_with(list, "name", "counted_hidden");
	size_t lines = 0;

	ck_assert_uint_eq(json_array_size(list), 4);
	assert_near(number_at(hidden, "calls.estimate"), 4000, 0.001);
	assert_near(number_at(hidden, "instructions.estimate"), 4000 * 6, 0.001);
	list = json_at(document, "lines");
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (strcmp(string_at(list, "%zu.procedure", i), "counted_function") != 0)
			continue;
		lines++;
		ck_assert_double_ge(number_at(list, "%zu.line", i), line_of_counted_function);
		ck_assert_double_le(number_at(list, "%zu.line", i), line_of_counted_function + 2);
		assert_near(number_at(list, "%zu.executions.estimate", i), 30000, 0.001);
	}
	ck_assert_uint_gt(lines, 0);
}

TEST(without_windows_there_are_no_counts_and_the_way_to_them_is_told)
{
	static const enum hp_report_view views[] = { HP_VIEW_CALLS, HP_VIEW_EXECUTIONS };
	static const enum hp_report_format formats[] = { HP_FORMAT_TEXT, HP_FORMAT_JSON,
							 HP_FORMAT_CSV };
	struct fixture *fixture;

	windows = (struct hp_window_evidence){ 0 };
	fixture = record(0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(views) * HP_ARRAY_COUNT(formats); i++) {
		struct hp_report_options options = { .view = views[i / HP_ARRAY_COUNT(formats)],
						     .format =
							     formats[i % HP_ARRAY_COUNT(formats)] };

		hp_assert_says(HP_ERROR_INSUFFICIENT, NULL, "record --shadow",
			       fixture_report(fixture, &options, NULL));
		/* Half a document would be worse than none. */
		if (options.format != HP_FORMAT_TEXT)
			ck_assert_str_eq(fixture->output, "");
	}
}

TEST(who_asks_for_costs_without_counts_is_told_of_them_once)
{
	struct fixture *fixture = record(0);

	text_of(fixture, HP_VIEW_ANNOTATE, "counted_loop", HP_FORMAT_TEXT);
	ck_assert_uint_eq(fixture->hints, 0);
	/* What else is known of the command is no window. */
	stratum = (struct hp_window_stratum){ .recording = 77, .command = command };
	windows = (struct hp_window_evidence){ .strata = &stratum, .stratum_count = 1 };
	fixture = record(0);
	text_of(fixture, HP_VIEW_INSTRUCTIONS, "counted_loop", HP_FORMAT_JSON);
	text_of(fixture, HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT);
	ck_assert_uint_eq(fixture->hints, 0);
	text_of(fixture, HP_VIEW_ANNOTATE, "counted_loop", HP_FORMAT_TEXT);
	ck_assert_uint_eq(fixture->hints, 1);
	/* Nor is there a column for what nobody knows. */
	ck_assert_ptr_null(strstr(text_of(fixture, HP_VIEW_STALLS, NULL, HP_FORMAT_TEXT),
				  "cycles  executions"));
	ck_assert_uint_eq(fixture->hints, 2);
}

TEST(what_was_counted_has_a_column_among_the_stalls)
{
	assert_contains(text_of(record(0), HP_VIEW_STALLS, NULL, HP_FORMAT_TEXT),
			"cycles  executions");
}

/* A larger budget is no help where windows end by themselves. */
TEST(where_calls_ended_all_windows_probes_are_advised)
{
	static char call[] = "system call read";
	static char limit[] = "time limit";
	struct hp_window_reason end = { .what = call, .count = 3 };
	struct hp_report_options options = { .view = HP_VIEW_EXECUTIONS };
	struct hp_error *error;

	keep_windows(0);
	stratum.item_count = 0;
	windows.reasons = &end;
	windows.reason_count = 1;
	windows.samples = windows.matched = 0;
	error = fixture_report(record(0), &options, NULL);
	ck_assert_ptr_nonnull(error);
	assert_contains(error->advice, "--probes");
	ck_assert_ptr_null(strstr(error->advice, "longer run"));
	hp_error_destroy(error);
	/* What a longer replay would have counted. */
	end.what = limit;
	hp_assert_says(HP_ERROR_INSUFFICIENT, NULL, "longer run",
		       fixture_report(record(0), &options, NULL));
}

/* Another recording of the same, of 1 s, which had no windows: it ran likewise, presumably. */
TEST(recordings_without_windows_ran_like_those_with_them)
{
	struct hp_window_stratum strata[] = {
		stratum, { .recording = 78, .command = command, .time_ns = 1000000000 }
	};
	json_t *leaf;

	windows.strata = strata;
	windows.stratum_count = 2;
	leaf = listed(record(0), "counted_leaf");
	/* Time has a little say in what is that uncertain: a guess about a fifth of it. */
	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 50000, 0.05, .low_below = 50000 / 1.2 });
	strata[1].time_ns = 40000000000;
	assert_relative(record(0));
}

/* Two recordings, of which windows cover different shares: each count stands for its own. */
TEST(each_recording_has_its_own_share_of_time_counted)
{
	struct hp_window_stratum strata[] = { stratum, stratum };
	struct fixture *fixture;
	json_t *list;

	strata[1].recording = 78;
	strata[1].time_ns = 8000000000;
	windows.strata = strata;
	windows.stratum_count = 2;
	fixture = record(0);
	assert_leaf_runs(fixture, 40000 + 80000, 0.01);
	list = json_at(view_of(fixture, HP_VIEW_CALLS), "calls");
	/* What both recordings saw is one row. */
	ck_assert_uint_eq(json_array_size(list), 2);
	assert_near(number_at(list, "0.calls.estimate"), 40000 + 80000, 0.001);
}

/* Counts of windows that waited for other threads are left out where others tell how often. */
TEST(relative_counts_do_not_add_to_absolute_ones)
{
	is_relative = true;
	block(counted_leaf, counted_leaf_then, 2, around);
	sort_items();
	assert_leaf_runs(record(0), 40000, 0.01);
}

/* Of the leaf, in a list of all procedures. */
static json_t *leaf_calls(void)
{
	json_t *list = json_at(view_of(record(0), HP_VIEW_EXECUTIONS), "procedures");

	return json_at(json_with(list, "name", "counted_leaf"), "calls");
}

TEST(a_procedure_that_calls_itself_is_called_and_one_that_jumps_back_is_not)
{
	static const enum hp_counted_kind kinds[] = { HP_COUNTED_CALL, HP_COUNTED_JUMP };
	static const double expected[] = { 40000, 10000 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(kinds); i++) {
		count_all();
		edge(kinds[i], counted_leaf_then, counted_leaf, other);
		sort_items();
		assert_near(number_at(leaf_calls(), "estimate"), expected[i], 0.001);
	}
}

/* Windows saw the procedure's middle only; each that was seen stands for ten. */
TEST(calls_that_no_window_saw_have_an_upper_end)
{
	json_t *calls;

	for (size_t i = 0; i < item_count; i++)
		if (items[i].kind == HP_COUNTED_BLOCK &&
		    items[i].at.value == offset_of(counted_leaf))
			forget_item(i);
	calls = leaf_calls();
	ck_assert_double_eq(number_at(calls, "estimate"), 0);
	ck_assert_double_eq(number_at(calls, "low"), 0);
	ck_assert_double_ge(number_at(calls, "high"), 10);
	ck_assert_double_lt(number_at(calls, "high"), 1000);
}

TEST(what_windows_lost_cost_and_ran_beside_makes_counts_less_certain)
{
	const uint64_t target_ns = windows.price.target_ns;
	const double undisturbed = (windows.price.replay_ns = 0, number_at(leaf_calls(), "high"));
	const struct {
		const char *name;
		uint64_t samples;
		uint64_t lost_ns;
		uint64_t replay_ns;
		uint64_t beside_ns;
		struct expected expected;
	} rows[] = {
		/* As copies lost their way: where they do counts are too few. */
		{ "a quarter of the samples is missing", .samples = 182,
		  .expected = { .low_below = 40000 * 0.88, .high_above = 40000 / 0.88 } },
		/* How much of that was in them is not known. */
		{ "as much as the windows' time was lost to them", .lost_ns = WINDOWS * window_ns,
		  .expected = { .low_below = 40000 / 1.1, .high_above = 40000 * 1.1 } },
		/* The program may have been slower then. */
		{ "copies ran all of the time but in windows", .replay_ns = 2 * target_ns,
		  .expected = { .low_below = 40000 / 1.045,
				.high_above = 1.005 * undisturbed,
				.high_below = 40000 * 1.2 } },
		/* These saw that. */
		{ "copies ran beside windows as well", .replay_ns = 2 * target_ns,
		  .beside_ns = WINDOWS * window_ns,
		  .expected = { .high_above = undisturbed * (1 - 1e-9),
				.high_below = undisturbed * (1 + 1e-9) } },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		struct expected expected = rows[i].expected;

		count_all();
		if (rows[i].samples)
			windows.samples = rows[i].samples;
		if (rows[i].lost_ns)
			windows.price.lost_ns = rows[i].lost_ns;
		if (rows[i].replay_ns)
			windows.price.replay_ns = rows[i].replay_ns;
		windows.price.beside_ns = rows[i].beside_ns;
		expected.estimate = 40000;
		expected.within = 0.001;
		assert_figure(leaf_calls(), rows[i].name, expected);
	}
}

HP_TEST_MAIN("report/counted")

#else

int main(void)
{
	puts("1..0 # skip the code reported on is x86-64 assembler");
	return 0;
}

#endif
