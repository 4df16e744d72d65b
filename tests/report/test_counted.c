/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What windows counted, from windows to figures in reports. */
#include "counted.h"

#include <math.h>
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

	hp_assert_contains(csv, ",cycles,cycles_per_execution,best_case,stalls\r\n");
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
	hp_assert_contains(string_at(leaf, "not_analysed.0"), "few samples");
	ck_assert_uint_eq(json_array_size(json_at(leaf, "instructions")), 1);
	assert_near(number_at(leaf, "instructions.0.samples.0"), 9, 0);
	ck_assert(json_is_object(json_at(in_list(fixture, "counted_loop"), "cfg")));
	ck_assert(json_is_object(json_at(listed(fixture, "counted_leaf"), "cfg")));
	leaf = in_list(record_counts(counts, HP_ARRAY_COUNT(counts)), "counted_leaf");
	ck_assert(json_is_object(json_at(leaf, "cfg")));
}

static const char *text_of(struct fixture *fixture, enum hp_report_view view, const char *name,
			   enum hp_report_format format)
{
	struct hp_report_options options = { .view = view, .of.listed = name, .format = format };

	return fixture_output(fixture, &options);
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

static void ck_length(uint64_t of_each_ns, const char *said)
{
	for (size_t i = 0; i < WINDOWS; i++)
		stratum.groups[i * PARTS].time_ns = of_each_ns;
	assert_contains(text_of(record(0), HP_VIEW_PROCEDURES, NULL, HP_FORMAT_TEXT), said);
}

/* Those of a server are short. */
TEST(short_windows_are_not_told_to_have_no_length)
{
	ck_length(12000, "by 4 shadow windows: 0.048 ms of 4.00 s in user code");
}

TEST(lengths_are_no_powers_of_ten)
{
	ck_length(24900000, "by 4 shadow windows: 100 ms of 4.00 s in user code");
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
	hp_assert_lacks(text, "# counted");
}

TEST(windows_whose_copies_were_not_matched_are_said_to_count_nothing)
{
	keep_windows(0);
	stratum.item_count = 0;
	windows.samples = 50;
	windows.matched = 1;
	assert_contains(text_of(record(0), HP_VIEW_SUMMARY, NULL, HP_FORMAT_TEXT),
			"2 % of their samples were matched, too few to count by");
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

/* One of two windows saw it, and most samples of these were not matched: it may have run any number of
 * times. */
TEST(what_is_not_known_is_left_out_and_no_question_mark)
{
	struct fixture *fixture;

	keep_windows(2);
	windows.samples = 1200;
	for (size_t i = 0; i < item_count; i++)
		if (items[i].at.value >= offset_of(counted_hidden) &&
		    items[i].at.value < offset_of(counted_after))
			for (size_t j = 0; j < 2; j++)
				items[i].counts[j * PARTS] = j ? 0 : 1000000;
	fixture = record(0);
	assert_contains(text_of(fixture, HP_VIEW_EXECUTIONS, NULL, HP_FORMAT_TEXT),
			"# no number: too few windows");
	hp_assert_lacks(fixture->output, "?");
	assert_contains(fixture->output, "counted_hidden");
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
	hp_assert_lacks(text_of(fixture, HP_VIEW_STALLS, NULL, HP_FORMAT_TEXT),
			"cycles  executions");
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
	hp_assert_lacks(error->advice, "longer run");
	hp_error_destroy(error);
	/* What a longer replay would have counted. */
	end.what = limit;
	hp_assert_says(HP_ERROR_INSUFFICIENT, NULL, "longer run",
		       fixture_report(record(0), &options, NULL));
}

/* Of the leaf, in a list of all procedures. */
static json_t *leaf_calls_in(struct fixture *fixture)
{
	json_t *list = json_at(view_of(fixture, HP_VIEW_EXECUTIONS), "procedures");

	return json_at(json_with(list, "name", "counted_leaf"), "calls");
}

static json_t *leaf_calls(void)
{
	return leaf_calls_in(record(0));
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

/* The logarithm of how far above the estimate the interval of the leaf's calls ends, if windows saw one
 * of so many parts of the time. */
static double width_if_one_of(unsigned parts)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 200 * parts),
		clock_at(counted_leaf_then, 200 * parts),
	};
	json_t *figure;

	windows.price.replay_ns = windows.price.lost_ns = 0;
	stratum.time_ns = windows.price.target_ns = parts * WINDOWS * window_ns;
	figure = leaf_calls_in(record_counts(counts, 2));
	return log(number_at(figure, "high") / number_at(figure, "estimate"));
}

/* What windows saw is exact; only of the rest nothing is known. */
TEST(the_more_of_the_time_windows_saw_the_more_certain_counts_are)
{
	double twentieth = width_if_one_of(20);

	ck_assert_double_lt(width_if_one_of(2), 0.8 * twentieth);
	ck_assert_double_gt(width_if_one_of(2), 0.6 * twentieth);
}

/* That windows have the samples they should does not mean that code does the same in all of them. */
TEST(counts_are_as_uncertain_as_they_differ_between_windows)
{
	static const double restless[] = { 0.1, 1.9, 0.25, 1.75 };

	for (size_t i = 0; i < item_count; i++)
		for (size_t j = 0; j < WINDOWS; j++)
			items[i].counts[j * PARTS] =
				(uint64_t)(restless[j] * (double)items[i].counts[j * PARTS]);
	take_ticks();
	put_ticks(0, 0, WINDOWS, 0, 5000);
	put_ticks(1, 0, WINDOWS, 0, 5000);
	assert_figure(leaf_calls(), "calls",
		      (struct expected){ 40000, 0.1, .low_below = 40000 / 1.25,
					 .high_above = 40000 * 1.25 });
}

HP_TEST_MAIN("report/counted")

#else

int main(void)
{
	puts("1..0 # skip the code reported on is x86-64 assembler");
	return 0;
}

#endif
