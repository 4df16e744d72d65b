/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accountings, shown cycles that are made by hand: what each charges to what. */
#include "../support.h"

#include "../../src/cycle/accountings.h"

#include <math.h>

static const struct insn branch_insn = { .is_branch = true }, plain_insn;
static struct view view;

SETUP
{
	view = (struct view){ 0 };
}

static void pass(struct watcher *watcher, uint64_t cycles)
{
	watcher->cycles(watcher, &view, cycles);
}

static void ck_spent(const struct watcher *watcher, enum hp_cycle_part part, double cycles)
{
	ck_assert_msg(fabs(watcher->spent[part] - cycles) < 1e-9, "%s: %g, expected %g",
		      hp_cycle_part_name(part), watcher->spent[part], cycles);
}

/* --- POWER5 and slots -------------------------------------------------------------------------- */

TEST(power5_blames_only_cycles_without_a_completion)
{
	struct watcher power5;

	power5_create(&power5);
	view.is_empty = true;
	view.last_event = HP_CYCLE_BRANCH;
	pass(&power5, 5);
	view.retired = 1;
	pass(&power5, 7);
	view = (struct view){ .head_waits = HP_CYCLE_L2D, .last_event = HP_CYCLE_BRANCH };
	pass(&power5, 11);
	ck_spent(&power5, HP_CYCLE_BRANCH, 5);
	ck_spent(&power5, HP_CYCLE_L2D, 11);
}

TEST(slots_are_parts_of_cycles)
{
	struct slots slots;

	dispatch_slots_create(&slots, 4);
	view.dispatched = 1;
	view.is_full = true;
	view.head_waits = view.full_waits = HP_CYCLE_L2D;
	pass(&slots.watcher, 8);
	ck_spent(&slots.watcher, HP_CYCLE_L2D, 6);
	/* What is dispatched beside the path is lost, too. */
	view = (struct view){ .strayed = 4, .is_strayed = true };
	pass(&slots.watcher, 3);
	ck_spent(&slots.watcher, HP_CYCLE_BRANCH, 3);
	view = (struct view){ .code_lacks = HP_CYCLE_L1I };
	pass(&slots.watcher, 2);
	ck_spent(&slots.watcher, HP_CYCLE_L1I, 2);

	commit_slots_create(&slots, 4);
	view = (struct view){ .retired = 3, .head_waits = HP_CYCLE_UNITS };
	pass(&slots.watcher, 4);
	ck_spent(&slots.watcher, HP_CYCLE_UNITS, 1);
}

TEST(naive_accounting_knows_of_no_overlap)
{
	struct hp_cycle_config config;
	struct hp_cycle_counts counts = { .mispredicts = 10 };
	double spent[HP_CYCLE_PARTS] = { 0 };

	hp_assert_ok(hp_cycle_config_named("eyerman2006", &config));
	counts.latencies[HP_CYCLE_L2D] = 250;
	counts.latencies[HP_CYCLE_L1I] = 9;
	counts.strayed_latencies[HP_CYCLE_L1I] = 18;
	naive_charge(&counts, &config, false, spent);
	ck_assert(spent[HP_CYCLE_BRANCH] == 50 && spent[HP_CYCLE_L2D] == 250 &&
		  spent[HP_CYCLE_L1I] == 9);
	naive_charge(&counts, &config, true, spent);
	ck_assert(spent[HP_CYCLE_L1I] == 27);
}

/* --- FMT --------------------------------------------------------------------------------------- */

static const struct fmt_corrections as_printed,
	until_resolution = { .stops_at_resolution = true },
	misses_first = { .stops_at_resolution = true, .misses_come_first = true },
	corrected = { true, true, true, true };

static const struct flight wrong = {
	.insn = &branch_insn, .row = 1, .id = 5, .is_mispredicted = true
};

/* A mispredicted branch is in the buffer for 7 cycles, fetch waits for code in 3 of them, on the
 * wrong path; after its resolution for 5 more until something is dispatched, 2 of which fetch waits
 * for code; 3 later it retires, and so does the branch behind it. */
static void mispredict(struct watcher *watcher)
{
	const struct flight next = {
		.insn = &branch_insn, .row = 2, .id = 9, .is_behind_miss = true
	};

	if (watcher->fetched_branch)
		watcher->fetched_branch(watcher, &wrong);
	watcher->dispatched_branch(watcher, &wrong);
	view = (struct view){ .row = 2, .is_strayed = true, .fetched_id = 8, .dispatched_id = 6 };
	pass(watcher, 4);
	view.code_waits = HP_CYCLE_L1I;
	pass(watcher, 3);
	view = (struct view){
		.row = 2, .is_recovering = true, .fetched_id = 8, .dispatched_id = 5
	};
	watcher->resolved(watcher, &wrong, &view);
	view.code_waits = HP_CYCLE_L1I;
	pass(watcher, 2);
	view.code_waits = HP_CYCLE_BASE;
	view.fetched_id = 9;
	pass(watcher, 3);
	if (watcher->fetched_branch)
		watcher->fetched_branch(watcher, &next);
	view.is_recovering = false;
	view.dispatched_id = 9;
	watcher->dispatched_branch(watcher, &next);
	pass(watcher, 3);
	watcher->retired(watcher, &wrong, &view);
	watcher->retired(watcher, &next, &view);
}

TEST(as_printed_a_branch_counts_until_it_retires)
{
	static struct fmt fmt;

	fmt_create(&fmt, as_printed);
	mispredict(&fmt.watcher);
	ck_spent(&fmt.watcher, HP_CYCLE_BRANCH, 7 + 5 + 3);
	/* What was missed beside the path is nobody's. */
	ck_spent(&fmt.watcher, HP_CYCLE_L1I, 2);
}

TEST(until_its_resolution_it_counts_less)
{
	static struct fmt fmt;

	fmt_create(&fmt, until_resolution);
	mispredict(&fmt.watcher);
	ck_spent(&fmt.watcher, HP_CYCLE_BRANCH, 7 + 5);
	ck_spent(&fmt.watcher, HP_CYCLE_L1I, 2);
}

TEST(corrected_no_cycle_counts_twice)
{
	static struct fmt fmt;
	static struct sfmt sfmt;

	fmt_create(&fmt, corrected);
	mispredict(&fmt.watcher);
	ck_spent(&fmt.watcher, HP_CYCLE_BRANCH, 7 + 3);
	ck_spent(&fmt.watcher, HP_CYCLE_L1I, 2);
	sfmt_create(&sfmt, true);
	mispredict(&sfmt.watcher);
	ck_spent(&sfmt.watcher, HP_CYCLE_BRANCH, 7 + 3);
	ck_spent(&sfmt.watcher, HP_CYCLE_L1I, 2);
}

/* All counters are cleared when the branch retires: those of the path behind it are lost. */
TEST(the_shared_table_as_printed_forgets_what_came_before_the_branch_retired)
{
	static struct sfmt sfmt;

	sfmt_create(&sfmt, false);
	mispredict(&sfmt.watcher);
	ck_spent(&sfmt.watcher, HP_CYCLE_BRANCH, 7 + 5 + 3);
	ck_spent(&sfmt.watcher, HP_CYCLE_L1I, 0);
}

TEST(the_shared_table_adds_what_was_missed_when_an_instruction_behind_it_retires)
{
	const struct flight first = { .insn = &plain_insn, .id = 1, .is_behind_miss = true };
	const struct flight second = { .insn = &plain_insn, .id = 2, .is_behind_miss = true };
	static struct sfmt sfmt;

	sfmt_create(&sfmt, true);
	view = (struct view){ .code_waits = HP_CYCLE_ITLB, .dispatched_id = 2 };
	pass(&sfmt.watcher, 6);
	sfmt.watcher.retired(&sfmt.watcher, &first, &view);
	ck_spent(&sfmt.watcher, HP_CYCLE_ITLB, 6);
	/* Its bit was cleared with that of the first. */
	pass(&sfmt.watcher, 4);
	sfmt.watcher.retired(&sfmt.watcher, &second, &view);
	ck_spent(&sfmt.watcher, HP_CYCLE_ITLB, 6);
}

/* Fetch waits for 9 cycles, in the first 2 of which decode takes what was fetched before. */
static void miss_behind_a_buffer(struct watcher *watcher)
{
	const struct flight branch = { .insn = &branch_insn, .id = 1, .is_behind_miss = true };

	view = (struct view){ .code_waits = HP_CYCLE_L1I, .dispatched_id = 1, .is_fed = true };
	pass(watcher, 2);
	view.is_fed = false;
	pass(watcher, 7);
	watcher->retired(watcher, &branch, &view);
}

TEST(code_that_misses_costs_nothing_while_the_fetch_buffer_feeds_decode)
{
	static struct fmt fmt;
	static struct sfmt sfmt;

	fmt_create(&fmt, misses_first);
	miss_behind_a_buffer(&fmt.watcher);
	ck_spent(&fmt.watcher, HP_CYCLE_L1I, 9);
	fmt_create(&fmt, corrected);
	miss_behind_a_buffer(&fmt.watcher);
	ck_spent(&fmt.watcher, HP_CYCLE_L1I, 7);
	sfmt_create(&sfmt, false);
	miss_behind_a_buffer(&sfmt.watcher);
	ck_spent(&sfmt.watcher, HP_CYCLE_L1I, 9);
	sfmt_create(&sfmt, true);
	miss_behind_a_buffer(&sfmt.watcher);
	ck_spent(&sfmt.watcher, HP_CYCLE_L1I, 7);
}

TEST(a_full_buffer_is_the_back_ends)
{
	static struct fmt fmt;

	fmt_create(&fmt, corrected);
	fmt.watcher.dispatched_branch(&fmt.watcher, &wrong);
	view = (struct view){ .is_full = true,
			      .head_waits = HP_CYCLE_L2D,
			      .full_waits = HP_CYCLE_L2D,
			      .code_waits = HP_CYCLE_L1I };
	pass(&fmt.watcher, 9);
	fmt.watcher.resolved(&fmt.watcher, &wrong, &view);
	fmt.watcher.retired(&fmt.watcher, &wrong, &view);
	ck_spent(&fmt.watcher, HP_CYCLE_L2D, 9);
	ck_spent(&fmt.watcher, HP_CYCLE_BRANCH, 0);
	ck_spent(&fmt.watcher, HP_CYCLE_L1I, 0);
}

/* Many instructions wait for a load; when it is done they retire, and the buffer stays full for a while. */
TEST(what_waited_for_a_unit_follows_it)
{
	static struct fmt fmt, printed;
	static struct sfmt sfmt;
	struct watcher *const watchers[] = { &fmt.watcher, &sfmt.watcher, &printed.watcher };

	fmt_create(&fmt, corrected);
	sfmt_create(&sfmt, true);
	fmt_create(&printed, (struct fmt_corrections){ 0 });
	for (size_t i = 0; i < HP_ARRAY_COUNT(watchers); i++) {
		view = (struct view){ .is_full = true, .full_waits = HP_CYCLE_UNITS };
		pass(watchers[i], 3);
		view.full_waits = HP_CYCLE_BASE;
		pass(watchers[i], 1);
		pass(watchers[i], 9);
		/* There is room: what comes later has not waited. */
		view.full_waits = HP_CYCLE_UNITS;
		pass(watchers[i], 1);
		view.is_full = false;
		pass(watchers[i], 1);
		view = (struct view){ .is_full = true, .full_waits = HP_CYCLE_BASE };
		pass(watchers[i], 5);
		/* Nor does a miss of the second cache have such a wake. */
		view.full_waits = HP_CYCLE_L2D;
		pass(watchers[i], 4);
		view.full_waits = HP_CYCLE_BASE;
		pass(watchers[i], 5);
	}
	ck_spent(&fmt.watcher, HP_CYCLE_UNITS, 3 + 2 + 1);
	ck_spent(&sfmt.watcher, HP_CYCLE_UNITS, 3 + 2 + 1);
	ck_spent(&printed.watcher, HP_CYCLE_UNITS, 3 + 1);
	ck_spent(&fmt.watcher, HP_CYCLE_L2D, 4);
}

HP_TEST_MAIN("cycle/accountings")
