/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of cycles of windows that were simulated, and comparisons of them. */
#include "counted.h"

#include <hpcprof/report/comparison.h>
#include <hpcprof/uarch/resize.h>

#include <inttypes.h>
#include <string.h>

#ifdef __x86_64__

SETUP
{
	count_all();
}

/* Windows that were simulated, too: a run of each block takes so many cycles on a core without what
 * `without` has, and `each` on the core as it is. */
static struct hp_counted followed[24];
static size_t followed_count;

static void follow(const char *start, const char *end, uint32_t instructions, uint64_t runs,
		   uint64_t each)
{
	struct hp_counted ran = { .kind = HP_COUNTED_BLOCK,
				  .at = { offset_of(start) },
				  .bytes = (uint32_t)(end - start),
				  .instructions = instructions };
	struct hp_counted cycles = { .kind = HP_COUNTED_BLOCK_CYCLES, .at = { offset_of(start) } };

	ran.counts[0] = runs;
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		cycles.counts[lane] = runs * each;
	followed[followed_count++] = ran;
	followed[followed_count++] = cycles;
}

static void without(enum hp_lane lane, uint64_t cycles)
{
	followed[followed_count - 1].counts[lane] = cycles;
}

/* The loop's body waits for its operands; what comes after it is mispredicted. A sixth of the
 * samples are there. */
static void follow_loop(uint64_t end_cycles)
{
	followed_count = 0;
	follow(counted_loop, counted_body, 2, 1000, 1);
	follow(counted_body, counted_back, 1, 10000, 75000);
	without(HP_LANE_WIDTH, 2500);
	follow(counted_back, counted_end, 2, 10000, 75000);
	without(HP_LANE_WIDTH, 5000);
	follow(counted_end, counted_leaf, 2, 1000, end_cycles);
	without(HP_LANE_WIDTH, 500);
	without(HP_LANE_IDEAL, 500);
	without(HP_LANE_NO_MISPREDICT, 500);
	for (enum hp_lane lane = HP_LANE_ONLY_CODE; lane < HP_LANES; lane++)
		without(lane, 500);
	without(HP_LANE_ONLY_MISPREDICT, 1000 * end_cycles);
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.events = followed;
	stratum.event_count = followed_count;
}

static struct fixture *record_followed(void)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 400),
	};

	follow_loop(300000);
	return record_counts(counts, HP_ARRAY_COUNT(counts));
}

TEST(a_procedure_and_its_loop_have_stacks_of_their_own)
{
	json_t *document = view_of(record_followed(), HP_VIEW_STACK);
	json_t *procedure = json_with(json_at(document, "procedures"), "procedure", "counted_loop");
	json_t *loop = json_at(procedure, "loops.0");

	ck_assert_uint_eq(json_array_size(json_at(procedure, "loops")), 1);
	ck_assert_uint_eq(strtoull(string_at(loop, "address"), NULL, 16),
			  link_address(counted_body));
	ck_assert_double_eq(number_at(loop, "depth"), 1);
	assert_near(number_at(loop, "share"), 2000 / 2400.0, 0.02);
	ck_assert_double_gt(number_at(loop, "components.dependency.likely"), 0.9);
	ck_assert_double_lt(number_at(loop, "components.branch-mispredict.likely"), 0.01);
	ck_assert_double_gt(number_at(procedure, "components.branch-mispredict.likely"), 0.1);
	ck_assert_double_lt(number_at(procedure, "components.dependency.likely"), 0.9);
}

/* Each window took 300 million cycles, and the model has little more than half of them. */
TEST(penalties_are_fitted_to_windows)
{
	const struct hp_report_options options = { .view = HP_VIEW_STACK };
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 400),
	};
	struct fixture *fixture;
	json_t *document;

	follow_loop(300000);
	follow(counted_leaf, counted_leaf_then, 2, 10000, 1);
	follow(counted_leaf_then, counted_hidden, 2, 7500, 1);
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.event_count = followed_count;
	fixture = record_counts(counts, HP_ARRAY_COUNT(counts));
	document = view_of(fixture, HP_VIEW_STACK);
	ck_assert(json_is_true(json_at(document, "penalties.fitted")));
	ck_assert_double_eq(number_at(document, "penalties.windows"), WINDOWS);
	ck_assert_double_eq(number_at(document, "penalties.parts"), WINDOWS);
	ck_assert_double_gt(number_at(document, "penalties.factors.base"), 1.2);
	ck_assert_double_gt(number_at(document, "penalties.table_error.median"), 0.25);
	ck_assert_double_lt(number_at(document, "penalties.left_out_error.p90"), 0.1);
	fixture_output(fixture, &options);
	hp_assert_contains(fixture->output, "# penalties are fitted to 4 parts of 4 windows");
	/* Of most of the code no model knows the time. */
	fixture = record_followed();
	ck_assert(json_is_false(json_at(view_of(fixture, HP_VIEW_STACK), "penalties.fitted")));
	hp_assert_contains(fixture_output(fixture, &options),
			   "# penalties are those of the core's table: fitting them to this "
			   "program needs two long windows");
}

/* The path comes into the loop from above, so that its first turn is timed with what is before it. */
TEST(a_loop_has_the_time_of_its_first_turn)
{
	const struct fixture_count counts[] = { clock_at(counted_back, 2000) };
	struct hp_counted body = { .kind = HP_COUNTED_CYCLES, .at = { offset_of(counted_body) } };
	json_t *loop;

	followed_count = 0;
	follow(counted_loop, counted_back, 3, 10000, 145000);
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		body.counts[lane] = 10000 * 145000ull;
	followed[followed_count++] = body;
	follow(counted_back, counted_end, 2, 10000, 70000);
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.events = followed;
	stratum.event_count = followed_count;
	loop = json_at(
		json_with(json_at(view_of(record_counts(counts, 1), HP_VIEW_STACK), "procedures"),
			  "procedure", "counted_loop"),
		"loops.0");
	assert_near(number_at(loop, "predicted_cycles") / number_at(loop, "cycles"), 1, 0.1);
}

TEST(people_see_loops_that_are_not_all_of_their_procedure)
{
	const struct hp_report_options options = { .view = HP_VIEW_STACK };
	const struct hp_report_options picture = { .view = HP_VIEW_STACK, .format = HP_FORMAT_SVG };
	struct fixture *fixture = record_followed();
	char address[64];

	snprintf(address, sizeof(address), "loop at 0x%" PRIx64, link_address(counted_body));
	hp_assert_contains(fixture_output(fixture, &options), address);
	fixture_output(fixture, &picture);
	hp_assert_contains(fixture->output, "<svg ", address, "prefers-color-scheme:dark",
			   "<title>mispredicted: ");
	/* Without what comes after it the loop is nearly all. */
	fixture = record_counts((const struct fixture_count[]){ clock_at(counted_back, 2000) }, 1);
	hp_assert_lacks(fixture_output(fixture, &options), "loop at");
	hp_assert_contains(fixture->output, "counted_loop");
}

/* Remarks below a table, too, end where the terminal does. */
TEST(remarks_go_on_in_the_next_line_of_a_terminal)
{
	struct hp_report_options options = { .view = HP_VIEW_STACK, .terminal_columns = 70 };

	hp_assert_contains(
		fixture_output(record_followed(), &options),
		"\n# shares of the measured cycles, by a model of the core that followed\n"
		"#  the program's path; to: ranges, which overlap\n");
	options = (struct hp_report_options){ .view = HP_VIEW_STALLS, .terminal_columns = 80 };
	hp_assert_contains(fixture_output(record_followed(), &options),
			   " % of the samples are in blocks whose relative frequency has at least\n"
			   "#  medium confidence\n");
}

/* Cycles per instruction of a part of a procedure are not those that --annotate has of all of it. */
TEST(a_stack_of_a_part_of_a_procedure_says_so)
{
	const struct hp_report_options options = { .view = HP_VIEW_STACK };
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 500),
	};
	struct fixture *fixture = record_followed();

	hp_assert_lacks(fixture_output(fixture, &options), "of its cycles in code");
	followed_count = 0;
	follow(counted_back, counted_end, 2, 10000, 75000);
	stratum.event_count = followed_count;
	fixture = record_counts(counts, HP_ARRAY_COUNT(counts));
	hp_assert_contains(fixture_output(fixture, &options),
			   " cycles per instruction, of the 80 % of its cycles in code that was "
			   "simulated\n");
}

/* pop, which misses each time. */
static const char *accesses_with_aliases(uint64_t aliases)
{
	const struct hp_report_options options = { .view = HP_VIEW_MEMORY };
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 400),
	};
	const enum hp_event_kind kinds[] = { HP_EVENT_ALIAS_4K, HP_EVENT_L1_MISS,
					     HP_EVENT_L2_MISS };

	follow_loop(300000);
	for (size_t i = 0; i < HP_ARRAY_COUNT(kinds); i++)
		followed[followed_count++] = (struct hp_counted){
			.kind = (uint8_t)(HP_COUNTED_EVENT + kinds[i]),
			.at = { offset_of(counted_end) },
			.counts = { i ? 1000 : aliases },
		};
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.event_count = followed_count;
	return fixture_output(record_counts(counts, HP_ARRAY_COUNT(counts)), &options);
}

/* Where a page holds many stores some loads meet one by chance. */
TEST(aliases_are_named_where_they_are_no_chance)
{
	hp_assert_contains(accesses_with_aliases(900), "4K alias");
	hp_assert_lacks(accesses_with_aliases(100), "4K alias");
	hp_assert_contains(accesses_with_aliases(100), "counted_loop");
}

/* Of what counted_end loads the second cache lacks a fifth, and of the half of which it is not known it likely
 * lacks three fifths; it makes a twentieth as many page walks, a
 * part of which are only likely. */
static struct fixture *record_likely_misses(void)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 400),
	};
	const struct {
		enum hp_event_kind kind;
		uint64_t count;
	} met[] = {
		{ HP_EVENT_L1_MISS, 1000 },
		{ HP_EVENT_L2_MISS, 200 },
		{ HP_EVENT_L2_UNKNOWN, 500 },
		{ HP_EVENT_L2_LIKELY_MISS, 300 },
		{ HP_EVENT_TLB2_MISS, 20 },
		{ HP_EVENT_TLB2_UNKNOWN, 50 },
		{ HP_EVENT_LINES, 77 },
		{ HP_EVENT_MET, 1 },
		{ HP_EVENT_TLB2_LIKELY_MISS, 30 },
	};

	follow_loop(300000);
	for (size_t i = 0; i < HP_ARRAY_COUNT(met); i++)
		followed[followed_count++] = (struct hp_counted){
			.kind = (uint8_t)(HP_COUNTED_EVENT + met[i].kind),
			.at = { offset_of(counted_end) },
			.counts = { met[i].count },
		};
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.event_count = followed_count;
	return record_counts(counts, HP_ARRAY_COUNT(counts));
}

TEST(misses_of_second_levels_include_those_that_are_likely)
{
	const struct hp_report_options text = { .view = HP_VIEW_MEMORY };
	const struct hp_report_options json = { .view = HP_VIEW_MEMORY, .format = HP_FORMAT_JSON };
	struct fixture *fixture = record_likely_misses();
	json_t *document = report_json(fixture, &json);

	assert_near(number_at(document, "accesses.0.events.l2_miss.mean"), 0.2, 1e-9);
	assert_near(number_at(document, "accesses.0.events.l2_likely_miss.mean"), 0.3, 1e-9);
	ck_assert_ptr_null(json_at(document, "accesses.0.events.lines"));
	assert_near(number_at(document, "accesses.0.events.tlb2_likely_miss.mean"), 0.03, 1e-9);
	hp_assert_contains(fixture_output(fixture, &text), " 100       50  ");
	hp_assert_contains(fixture_output(fixture, &text), " 5.0 ");
}

TEST(instructions_have_the_events_that_accesses_have)
{
	const struct hp_report_options memory = { .view = HP_VIEW_MEMORY,
						  .format = HP_FORMAT_JSON };
	const struct hp_report_options all = { .view = HP_VIEW_INSTRUCTIONS,
					       .format = HP_FORMAT_JSON };
	struct fixture *fixture = record_likely_misses();
	json_t *access = json_at(report_json(fixture, &memory), "accesses.0");
	json_t *procedure = json_with(json_at(report_json(fixture, &all), "images.0.procedures"),
				      "name", "counted_loop");
	json_t *insn = json_with(json_at(procedure, "instructions"), "address",
				 string_at(access, "address"));

	ck_assert_double_eq(number_at(insn, "simulated"), 1000);
	ck_assert(json_equal(json_at(insn, "events"), json_at(access, "events")));
}

/* Of two windows the second executed three times as much, of which the same number of runs was simulated. */
TEST(events_weigh_as_what_their_windows_executed)
{
	const struct hp_report_options options = { .view = HP_VIEW_MEMORY,
						   .format = HP_FORMAT_JSON };
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 400),
	};
	struct hp_counted missed = { .kind = HP_COUNTED_EVENT + HP_EVENT_L1_MISS,
				     .at = { offset_of(counted_end) },
				     .counts = { [0] = 200, [HP_WINDOW_PARTS] = 600 } };
	json_t *document;

	for (size_t i = 0; i < item_count; i++)
		items[i].counts[HP_WINDOW_PARTS] *= 3;
	follow_loop(300000);
	for (size_t i = 0; i < followed_count; i++)
		if (followed[i].kind == HP_COUNTED_BLOCK)
			followed[i].counts[HP_WINDOW_PARTS] = followed[i].counts[0];
	followed[followed_count++] = missed;
	missed.kind = HP_COUNTED_EVENT + HP_EVENT_L2_MISS;
	followed[followed_count++] = missed;
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.event_count = followed_count;
	document = report_json(record_counts(counts, HP_ARRAY_COUNT(counts)), &options);
	assert_near(number_at(document, "accesses.0.events.l1_miss.mean"), 0.5, 0.01);
	assert_near(number_at(document, "accesses.0.simulated"), 2000, 1e-9);
}

TEST(what_if_says_what_the_program_and_its_procedures_would_save)
{
	const struct hp_report_options options = { .view = HP_VIEW_WHAT_IF,
						   .format = HP_FORMAT_JSON,
						   .what_if = "branch:perfect,l2:64M" };
	json_t *document = report_json(record_followed(), &options);
	json_t *change = json_at(document, "changes.0.change");

	ck_assert_str_eq(string_at(document, "schema"), "hpcprof-what-if/1");
	ck_assert_str_eq(string_at(document, "changes.0.what"), "branch:perfect");
	assert_near(-number_at(change, "likely"), 400 / 2400.0, 0.1);
	ck_assert_double_lt(number_at(change, "low"), number_at(change, "likely"));
	ck_assert_double_gt(number_at(change, "high"), number_at(change, "likely"));
	ck_assert(json_is_null(json_at(document, "changes.1.change.likely")));
	ck_assert(json_is_null(json_at(document, "program.likely")));
	ck_assert_str_eq(string_at(document, "procedures.0.procedure"), "counted_loop");
}

/* The loop takes half as long with 64 MiB: 1000 of 2400 ms. */
TEST(what_was_recorded_of_other_sizes_is_what_they_save)
{
	const struct hp_resizes sizes = { { { HP_PART_L2, 64 << 20 } }, 1 };
	struct hp_report_options options = { .view = HP_VIEW_WHAT_IF,
					     .format = HP_FORMAT_JSON,
					     .what_if = "l2:64M" };
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_end, 400),
	};
	struct fixture *fixture;
	json_t *change;

	follow_loop(300000);
	for (size_t i = 0, count = followed_count; i < count; i++) {
		struct hp_counted resized = followed[i];

		if (resized.kind != HP_COUNTED_BLOCK_CYCLES || resized.counts[0] != 750000000)
			continue;
		resized.kind = HP_COUNTED_RESIZED_CYCLES;
		resized.to.value = hp_resizes_code(&sizes);
		for (unsigned lane = 0; lane < HP_LANES; lane++)
			resized.counts[lane] /= 2;
		followed[followed_count++] = resized;
	}
	ck_assert_uint_eq(followed_count, 10);
	qsort(followed, followed_count, sizeof(*followed), compare_items);
	stratum.event_count = followed_count;
	fixture = record_counts(counts, HP_ARRAY_COUNT(counts));
	change = json_at(report_json(fixture, &options), "program");
	assert_near(-number_at(change, "likely"), 1000 / 2400.0, 0.05);
	ck_assert_double_lt(number_at(change, "low"), number_at(change, "likely"));
	ck_assert_double_gt(number_at(change, "high"), number_at(change, "likely"));
	/* Of other sizes it says nothing. */
	options.what_if = "l2:32M";
	change = json_at(report_json(fixture, &options), "program");
	ck_assert(json_is_null(json_at(change, "likely")));
}

/* --- comparisons of stacks --------------------------------------------------------------------- */

enum { RUNS = 5 };

struct run {
	const char *label;
	uint64_t loop; /* samples there, and after it, where branches are mispredicted */
	uint64_t end;
};

static void record_run(struct fixture *fixture, const struct run *run, size_t number)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, run->loop),
		clock_at(counted_end, run->end),
	};
	const struct fixture_epoch epoch = { .label = run->label,
					     .counts = counts,
					     .count = HP_ARRAY_COUNT(counts),
					     .clock_hz = 3e9,
					     .evidence = &windows,
					     .commands = &command_times,
					     .command_count = 1,
					     .later_ns = number * 10000000000 };

	/* As the samples have it, against 75000 twice in the loop, which runs ten times as
	 * often. */
	follow_loop(1500000 * run->end / run->loop);
	stratum.recording++;
	fixture_add(fixture, &epoch);
}

static void free_stamps(void *stamps)
{
	hp_db_free_stamps(stamps, RUNS);
}

/* Of the candidate's loop, against 2000 samples in it and 400 after it. */
static const struct hp_compared *compare_runs(uint64_t loop, uint64_t end)
{
	static struct hp_comparison *comparison;
	const struct hp_compare_options options = { 0 };
	const struct run runs[HP_SIDES] = { { "before", 2000, 400 }, { "after", loop, end } };
	struct fixture *fixture = fixture_create();
	struct hp_compare_epochs sides[HP_SIDES];

	/* In turns: otherwise the machine might be to blame. */
	for (size_t i = 0; i < (size_t)HP_SIDES * RUNS; i++)
		record_run(fixture, &runs[i % HP_SIDES], i);
	for (size_t i = 0; i < HP_SIDES; i++) {
		char label[16];
		char *word = label;
		char **stamps;
		size_t count;

		snprintf(label, sizeof(label), "%s", runs[i].label);
		hp_assert_ok(hp_db_resolve_apart(fixture->db, &word, 1, &stamps, &count));
		ck_assert_uint_eq(count, RUNS);
		at_end(free_stamps, stamps);
		sides[i] = (struct hp_compare_epochs){ fixture->db, stamps, RUNS, 0 };
	}
	hp_assert_ok(hp_compare(sides, &options, &comparison));
	hp_assert_ok(hp_comparison_add_reasons(comparison, sides, &options));
	for (size_t i = 0; i < comparison->finding_count; i++)
		if (comparison->findings[i]->scope == HP_SCOPE_PROCEDURE)
			return comparison->findings[i];
	ck_abort_msg("no procedure changed");
	return NULL;
}

TEST(a_cause_that_grew_is_named_with_both_ranges)
{
	const struct hp_compared *loop = compare_runs(2000, 1600);

	ck_assert_str_eq(loop->name, "counted_loop");
	ck_assert(loop->has_causes);
	ck_assert_uint_eq(loop->cause_count, 1);
	ck_assert_str_eq(loop->causes[0].name, "branch-mispredict");
	assert_near(loop->causes[0].share[HP_BASE].value, 400 / 2400.0, 0.2);
	assert_near(loop->causes[0].share[HP_CANDIDATE].value, 1600 / 3600.0, 0.2);
	ck_assert_double_gt(loop->causes[0].share[HP_CANDIDATE].low,
			    loop->causes[0].share[HP_BASE].high);
}

TEST(so_is_one_that_shrank_where_the_procedure_did)
{
	const struct hp_compared *loop = compare_runs(2000, 4);

	ck_assert_uint_eq(loop->cause_count, 1);
	ck_assert_str_eq(loop->causes[0].name, "branch-mispredict");
	ck_assert_double_lt(loop->causes[0].share[HP_CANDIDATE].high,
			    loop->causes[0].share[HP_BASE].low);
}

/* More of the same, and a little more of one cause than before. */
TEST(no_cause_is_named_where_all_grew_or_ranges_overlap)
{
	const struct hp_compared *loop = compare_runs(4000, 800);

	ck_assert(loop->has_causes);
	ck_assert_uint_eq(loop->cause_count, 0);
	loop = compare_runs(2300, 500);
	ck_assert(loop->has_causes);
	ck_assert_uint_eq(loop->cause_count, 0);
}

HP_TEST_MAIN("report/followed")

#else

int main(void)
{
	puts("1..0 # skip the code reported on is x86-64 assembler");
	return 0;
}

#endif
