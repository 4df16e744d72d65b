/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What else tells how often code ran, what nothing tells of, and what optimisers get of it. */
#include "counted.h"

#include <hpcprof/report/export.h>

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#ifdef __x86_64__

SETUP
{
	count_all();
}

/* --- branch records, registers, probes --------------------------------------------------------- */

static void range(enum hp_counted_kind kind, const char *from, const char *to, uint64_t count)
{
	const uint64_t counts[WINDOWS] = { count / 4, count / 4, count / 4, count / 4 };

	is_relative = true;
	edge(kind, from, to, counts);
}

/* The leaf takes 5 cycles to its branch, or on to its end, whichever way it goes, and the end alone
 * 2: from 1.8e9 and 0.18e9 cycles it was entered 3.6e8 times, and went straight on in 2.7e8.
 * Records stand for half of the samples. */
TEST(branch_records_with_cycles_tell_how_often_code_ran)
{
	const struct fixture_count counts[] = {
		{ "cycles:u", &self, "t", 0, 1000000, offset_of(counted_back), 4000 },
		{ "cycles:u", &self, "t", 0, 1000000, offset_of(counted_leaf_then), 4000 },
	};
	const struct fixture_epoch epoch = { .counts = counts,
					     .count = HP_ARRAY_COUNT(counts),
					     .evidence = &windows,
					     .commands = &command_times,
					     .command_count = 1 };
	const struct hp_report_options options = { .view = HP_VIEW_ANNOTATE,
						   .of.listed = "counted_leaf",
						   .all = true };
	struct fixture *fixture = fixture_create();
	json_t *leaf;

	item_count = 0;
	range(HP_COUNTED_RANGE, counted_leaf, counted_leaf_end, 300);
	range(HP_COUNTED_RANGE_CYCLES, counted_leaf, counted_leaf_end, 1500);
	range(HP_COUNTED_RANGE, counted_leaf, counted_leaf_jump, 100);
	range(HP_COUNTED_RANGE_CYCLES, counted_leaf, counted_leaf_jump, 500);
	range(HP_COUNTED_RANGE_TIME, counted_leaf, counted_leaf, 1800000000);
	range(HP_COUNTED_RANGE, counted_leaf_end, counted_leaf_end, 100);
	range(HP_COUNTED_RANGE_CYCLES, counted_leaf_end, counted_leaf_end, 200);
	range(HP_COUNTED_RANGE_TIME, counted_leaf_end, counted_leaf_end, 180000000);
	sort_items();
	stratum = (struct hp_window_stratum){
		.recording = 77, .command = command, .ranges = items, .range_count = item_count
	};
	for (unsigned i = 0; i < WINDOWS; i++)
		stratum.record_cycles[i * PARTS] = 1000000000;
	hp_assert_ok(hp_window_evidence_check(&windows));
	fixture_add(fixture, &epoch);
	leaf = listed(fixture, "counted_leaf");
	ck_assert(has_source(leaf, "counters"));
	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 2 * 3.6e8, 0.02, .low_below = 2 * 3.6e8 / 1.05,
					 .high_above = 2 * 3.6e8 * 1.05 });
	assert_near(executions(leaf, counted_leaf_then, "estimate"), 2 * 2.7e8, 0.02);
	assert_contains(fixture_output(fixture, &options), "2.0 cycles by branch records");
}

static struct hp_counted outcome(enum hp_counted_kind kind, const char *at, const char *to,
				 uint64_t by_registers, uint64_t by_records)
{
	struct hp_counted item = { .kind = (uint8_t)kind,
				   .is_relative = true,
				   .at = { offset_of(at) },
				   .to = { offset_of(to) } };

	item.counts[HP_OUTCOMES_OF_REGISTERS] = by_registers;
	item.counts[HP_OUTCOMES_OF_RECORDS] = by_records;
	return item;
}

/* Nothing else is known but where control went. */
static void know_outcomes(struct hp_counted outcomes[2], uint64_t followed)
{
	stratum = (struct hp_window_stratum){ .recording = 77,
					      .command = command,
					      .outcomes = outcomes,
					      .outcome_count = 2,
					      .followed = followed };
}

/* Samples come where time is spent, and their registers tell of what is near; records of all. */
TEST(branch_records_are_believed_before_registers)
{
	static const struct {
		const char *name;
		uint64_t taken[2]; /* by registers, by records */
		uint64_t straight[2];
		double probability;
	} rows[] = {
		{ "registers alone", { 500, 0 }, { 500, 0 }, 0.5 },
		{ "records alone", { 0, 100 }, { 0, 900 }, 0.1 },
		{ "both", { 500, 100 }, { 500, 900 }, 0.1 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		struct hp_counted outcomes[] = {
			outcome(HP_COUNTED_TAKEN, counted_leaf_jump, counted_leaf_end,
				rows[i].taken[0], rows[i].taken[1]),
			outcome(HP_COUNTED_FALL, counted_leaf_jump, counted_leaf_then,
				rows[i].straight[0], rows[i].straight[1]),
		};
		json_t *leaf;
		double taken_share;

		know_outcomes(outcomes, 1000);
		leaf = listed(record(0), "counted_leaf");
		ck_assert_msg(has_source(leaf, "registers"), "%s", rows[i].name);
		taken_share = number_at(leaf, "cfg.edge_list.1.probability");
		ck_assert_msg(fabs(taken_share - rows[i].probability) <= rows[i].probability / 4,
			      "%s: %g, not %g", rows[i].name, taken_share, rows[i].probability);
	}
}

/* The jump goes to either of the two instructions behind it. */
TEST(registers_tell_where_indirect_jumps_go)
{
	const struct fixture_count counts[] = { clock_at(counted_hidden, 1000) };
	struct hp_counted outcomes[] = {
		outcome(HP_COUNTED_INDIRECT_JUMP, counted_hidden_jump, counted_hidden_target, 1600,
			0),
		outcome(HP_COUNTED_INDIRECT_JUMP, counted_hidden_jump, counted_hidden_target + 1,
			400, 0),
	};
	json_t *hidden;

	know_outcomes(outcomes, 2000);
	hidden = listed(record_counts(counts, 1), "counted_hidden");
	ck_assert(has_source(hidden, "registers"));
	assert_near(number_at(hidden, "cfg.edge_list.0.probability"), 0.8, 0.1);
	assert_near(number_at(hidden, "cfg.edge_list.1.probability"), 0.2, 0.25);
}

/* In each of four moments of 5 ms the leaf was entered 50 times: 40000 times in 4 s. What was never
 * hit may have run at other times. */
TEST(probes_tell_how_often_what_they_hit_ran_and_nothing_of_what_they_did_not)
{
	static const uint64_t hits[WINDOWS] = { 50, 52, 48, 50 };
	static const uint64_t moments[WINDOWS] = { 5000000, 5000000, 5000000, 5000000 };
	struct fixture *fixture;
	json_t *leaf;
	json_t *loop;

	item_count = 0;
	edge(HP_COUNTED_PROBE, counted_leaf, counted_leaf, hits);
	edge(HP_COUNTED_PROBE_TIME, counted_leaf, counted_leaf, moments);
	edge(HP_COUNTED_PROBE_TIME, counted_loop, counted_loop, moments);
	sort_items();
	stratum = (struct hp_window_stratum){ .recording = 77,
					      .command = command,
					      .time_ns = 4000000000,
					      .probes = items,
					      .probe_count = item_count };
	fixture = record(0);
	leaf = listed(fixture, "counted_leaf");
	ck_assert(has_source(leaf, "probes"));
	assert_figure(json_at(instruction_at(leaf, counted_leaf), "executions"), "the leaf",
		      (struct expected){ 40000, 0.1, .low_below = 40000 / 1.05,
					 .high_above = 40000 * 1.05 });
	loop = listed(fixture, "counted_loop");
	ck_assert(!has_source(loop, "probes"));
	ck_assert(has_null(json_at(instruction_at(loop, counted_loop), "executions")));
}

/* --- what windows did not see -------------------------------------------------------------------- */

/* The windows never saw the branch taken: it was not often, and nobody says never. */
TEST(what_no_window_saw_has_an_upper_end)
{
	json_t *leaf;
	double end;

	for (size_t i = item_count; i-- > 0;) {
		if (items[i].at.value == offset_of(counted_leaf_then) ||
		    items[i].kind == HP_COUNTED_FALL)
			set_counts(&items[i], around);
		if (items[i].at.value == offset_of(counted_leaf_end) ||
		    (items[i].kind == HP_COUNTED_TAKEN &&
		     items[i].to.value == offset_of(counted_leaf_end)))
			forget_item(i);
	}
	leaf = listed(record(0), "counted_leaf");
	assert_near(executions(leaf, counted_leaf_then, "estimate"), 40000, 0.02);
	end = number_at(leaf, "cfg.edge_list.1.high");
	ck_assert_double_gt(end, 1);
	ck_assert_double_lt(end, 4000);
}

/* In windows the branch was always taken, but half of the leaf's samples are where it was not: that
 * ran when there was no window, and nobody knows how often. */
TEST(what_samples_found_and_no_window_did_is_not_said_to_be_rare)
{
	const struct fixture_count counts[] = {
		clock_at(counted_back, 2000),
		clock_at(counted_leaf_then, 1000),
		clock_at(counted_leaf_end, 1000),
	};
	json_t *leaf;
	json_t *high;

	for (size_t i = item_count; i-- > 0;) {
		bool is_jump = items[i].at.value == offset_of(counted_leaf_jump);
		bool is_end = items[i].at.value == offset_of(counted_leaf_end) &&
			      items[i].kind == HP_COUNTED_BLOCK;

		if (is_jump || is_end)
			set_counts(&items[i], around);
		if (items[i].at.value == offset_of(counted_leaf_then) ||
		    (is_jump && items[i].kind == HP_COUNTED_FALL))
			forget_item(i);
	}
	take_ticks();
	ticks[1].at.value = ticks[1].to.value = offset_of(counted_leaf_end);
	put_ticks(0, 0, WINDOWS, 0, 67);
	put_ticks(1, 0, WINDOWS, 0, 33);
	leaf = listed(record_counts(counts, HP_ARRAY_COUNT(counts)), "counted_leaf");
	high = json_at(instruction_at(leaf, counted_leaf_then), "executions.high");
	ck_assert(json_is_null(high) || json_number_value(high) > 20000);
	high = json_at(instruction_at(leaf, counted_leaf_end), "executions.high");
	ck_assert(json_is_null(high) || json_number_value(high) > 60000);
}

/* Windows seldom have the beginning of a process, and ten of them began ten times in 4 s. */
TEST(many_short_processes_are_known_less_well_than_one_long_one)
{
	double low[2];

	for (unsigned i = 0; i < 2; i++) {
		command_times.processes = i ? 20 : 1;
		low[i] = executions(listed(record(0), "counted_leaf"), counted_leaf, "low");
	}
	ck_assert_double_gt(low[0], 40000 * 0.7);
	ck_assert_double_lt(low[1], 0.8 * low[0]);
}

/* Makes one byte of the latest epoch's evidence another one. */
static void damage_evidence(const struct fixture *fixture, long at, int whence)
{
	char path[PATH_MAX];
	char **list;
	size_t count;
	FILE *file;
	int byte;

	hp_assert_ok(hp_db_resolve(fixture->db, NULL, 0, &list, &count));
	snprintf(path, sizeof(path), "%s/%s/evidence", hp_db_path(fixture->db), list[0]);
	hp_db_free_stamps(list, count);
	file = fopen(path, "r+");
	ck_assert_ptr_nonnull(file);
	fseek(file, at, whence);
	byte = fgetc(file);
	fseek(file, at, whence);
	fputc(byte ^ 1, file);
	fclose(file);
}

TEST(damaged_counts_leave_a_report_of_time)
{
	struct fixture *fixture = record(0);
	json_t *leaf;

	damage_evidence(fixture, 40, SEEK_SET);
	leaf = listed(fixture, "counted_leaf");
	ck_assert(!has_source(leaf, "shadow"));
	ck_assert(has_source(leaf, "time"));
	assert_contains(fixture->warnings, "the counts are lost");
}

/* The last section is of one list. */
TEST(damage_to_one_list_leaves_the_others)
{
	struct fixture *fixture = record(0);

	damage_evidence(fixture, -1, SEEK_END);
	ck_assert(has_source(listed(fixture, "counted_leaf"), "shadow"));
	assert_contains(fixture->warnings, "this part is lost; everything else is intact");
}

/* --- for optimisers --------------------------------------------------------------------------- */

/* The count of the line that begins so, in the exported text; 0 without one. */
static double exported(struct fixture *fixture, const char *format, const char *line)
{
	const struct hp_export_options options = { .format = format, .of.image = self.path };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	char *found;
	double count;

	ck_assert(out != NULL);
	hp_assert_ok(hp_export(fixture->db, NULL, 0, &options, NULL, out));
	fclose(out);
	found = strstr(text, line);
	count = found ? strtod(found + strlen(line), NULL) : 0;
	free(text);
	return count;
}

/* "BEGIN FROM BETWEEN TO END" in hexadecimal. */
static const char *line_of(const char *begin, const char *from, const char *between, const char *to,
			   const char *end)
{
	static char line[64];

	snprintf(line, sizeof(line), "%s%" PRIx64 "%s%" PRIx64 "%s", begin, link_address(from),
		 between, link_address(to), end);
	return line;
}

/* Windows saw the leaf's branch taken more often than they came by what it goes to. */
TEST(optimisers_get_counts_that_balance)
{
	static const uint64_t often[WINDOWS] = { 270, 271, 259, 260 };
	struct fixture *fixture;
	double taken;
	double fallen;
	double called;

	for (size_t i = 0; i < item_count; i++)
		if (items[i].kind == HP_COUNTED_TAKEN &&
		    items[i].at.value == offset_of(counted_leaf_jump))
			set_counts(&items[i], often);
	fixture = record(0);
	taken = exported(fixture, "bolt",
			 line_of("B ", counted_leaf_jump, " ", counted_leaf_end, " "));
	fallen = exported(fixture, "bolt",
			  line_of("F ", counted_leaf_jump, " ", counted_leaf_then, " "));
	called = exported(fixture, "llvm-profgen",
			  line_of("", counted_leaf, "-", counted_leaf_jump, ":"));
	assert_near(called, 40000, 0.05);
	assert_near(taken + fallen, called, 0.0001);
	assert_near(exported(fixture, "bolt",
			     line_of("F ", counted_leaf_then, " ", counted_leaf_end, " ")),
		    fallen, 0.0001);
}

/* Of the leaf there are samples alone: half of the time, in as many instructions as the loop. */
TEST(optimisers_are_told_of_what_was_sampled_and_not_counted)
{
	size_t kept = 0;

	for (size_t i = 0; i < item_count; i++)
		if (items[i].at.value < offset_of(counted_leaf) ||
		    items[i].at.value >= offset_of(counted_hidden))
			items[kept++] = items[i];
	item_count = stratum.item_count = kept;
	ck_assert_double_gt(exported(record(0), "llvm-profgen",
				     line_of("", counted_leaf, "-", counted_leaf_jump, ":")),
			    1000);
}

HP_TEST_MAIN("report/evidence")

#else

int main(void)
{
	puts("1..0 # skip the code reported on is x86-64 assembler");
	return 0;
}

#endif
