/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths whose time is known by construction, timed on all lanes. */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/isa/duty.h>
#include <hpcprof/uarch/path.h>
#include <hpcprof/uarch/timing.h>

#include <elf.h>
#include <math.h>
#include <string.h>

enum { TURNS = 4000, A = 0, B = 1, C = 2 };

static const struct hp_core core = {
	.name = "made-up",
	.issue_width = 4,
	.retire_width = 8,
	.fetch_width = 8,
	.decode_width = 4,
	.reorder_slots = 64,
	.miss_buffers = 8,
	.page_walkers = 2,
	.l1_cycles = 4,
	.l2_cycles = 14,
	.l3_cycles = 54,
	.memory_cycles = 404,
	.l2_tlb_cycles = 7,
	.walk_cycles = 60,
	.mispredict_cycles = 20,
	.late_branch_cycles = 3,
	.late_target_cycles = 5,
	.resteer_cycles = 9,
	.forward_cycles = 4,
	.blocked_cycles = 18,
};
static struct hp_timing *timing;
static struct hp_lanes spent;
static double sums[HP_LANES]; /* ticks */
static bool rebases_always;

SETUP
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	geometry.store_entries = 16;
	timing = hp_timing_create(&core, &geometry);
	ck_assert_ptr_nonnull(timing);
	at_end((void (*)(void *))hp_timing_destroy, timing);
	rebases_always = false;
}

static void put_aside(void)
{
	for (unsigned lane = 0; lane < HP_LANES; lane++) {
		sums[lane] += spent.at[lane];
		spent.at[lane] = 0;
	}
}

static void step(const struct hp_timed_insn *insn, const struct hp_timed_access *access)
{
	hp_timing_insn(timing, insn, access, access != NULL, &spent);
	if (rebases_always || hp_timing_is_due(timing)) {
		put_aside();
		hp_timing_rebase(timing);
	}
}

static double cycles(enum hp_lane lane)
{
	put_aside();
	return sums[lane] / HP_TIMING_TICKS / TURNS;
}

static void ck_cycles(enum hp_lane lane, double expected)
{
	double found = cycles(lane);

	ck_assert_msg(fabs(found - expected) <= 0.02 * expected + 0.02,
		      "lane %d: %.3f, expected %.3f", (int)lane, found, expected);
}

/* One cycle, from one register to another. */
static struct hp_timed_insn plain(uint8_t from, uint8_t to, uint16_t latency)
{
	return (struct hp_timed_insn){ .operand_count = 1,
				       .operands = { from },
				       .result_count = 1,
				       .results = { to },
				       .slots = 1,
				       .latency = latency };
}

static struct hp_timed_insn load_of(uint8_t address, uint8_t to)
{
	return (struct hp_timed_insn){ .address_count = 1,
				       .addresses = { address },
				       .result_count = 1,
				       .results = { to },
				       .slots = 1,
				       .latency = 4,
				       .late = 4 };
}

TEST(independent_instructions_are_as_fast_as_the_core_is_wide)
{
	const struct hp_timed_insn insn = plain(A, B, 1);

	for (int i = 0; i < TURNS; i++)
		step(&insn, NULL);
	ck_cycles(HP_LANE_AS_IS, 0.25);
	ck_cycles(HP_LANE_WIDTH, 0.25);
}

TEST(a_chain_waits_for_its_operands)
{
	const struct hp_timed_insn insn = plain(A, A, 3);

	for (int i = 0; i < TURNS; i++)
		step(&insn, NULL);
	ck_cycles(HP_LANE_AS_IS, 3);
	ck_cycles(HP_LANE_IDEAL, 3);
	ck_cycles(HP_LANE_WIDTH, 0.25);
}

TEST(a_unit_serves_one_at_a_time)
{
	struct hp_timed_insn insn = plain(A, B, 1);

	insn.use_count = 1;
	insn.units[0] = 3;
	insn.busy[0] = 1;
	for (int i = 0; i < TURNS; i++)
		step(&insn, NULL);
	ck_cycles(HP_LANE_AS_IS, 0.5);
	ck_cycles(HP_LANE_NO_PORT, 0.25);
}

TEST(divisions_wait_for_the_divider)
{
	struct hp_timed_insn insn = plain(A, B, 20);

	insn.duty = HP_DUTY_DIVIDE;
	insn.use_count = 1;
	insn.units[0] = 4;
	insn.busy[0] = 10;
	for (int i = 0; i < TURNS; i++)
		step(&insn, NULL);
	ck_cycles(HP_LANE_AS_IS, 10);
	ck_cycles(HP_LANE_NO_PORT, 10);
	ck_cycles(HP_LANE_NO_DIVIDER, 0.25);
}

/* addsd with a load: the sum is a chain, and what it adds is not. */
TEST(a_load_does_not_wait_for_what_it_is_added_to)
{
	struct hp_timed_insn insn = load_of(A, B);

	insn.operand_count = 1;
	insn.operands[0] = B;
	insn.latency = 7;
	insn.duty = HP_DUTY_FP;
	for (uint64_t i = 0; i < TURNS; i++)
		step(&insn, &(struct hp_timed_access){ .line = i, .events = HP_UARCH_L1_MISS });
	ck_cycles(HP_LANE_AS_IS, 3);
	ck_cycles(HP_LANE_NO_DCACHE, 3);
	ck_cycles(HP_LANE_NO_FP, 10.0 / 8);
}

TEST(without_floating_point_a_chain_through_memory_is_shorter)
{
	struct hp_timed_insn insn = load_of(A, B);

	insn.operand_count = 1;
	insn.operands[0] = B;
	insn.latency = 7;
	insn.duty = HP_DUTY_FP;
	for (uint64_t i = 0; i < TURNS; i++)
		step(&insn, &(struct hp_timed_access){ .line = 1 });
	ck_cycles(HP_LANE_AS_IS, 3);
	ck_cycles(HP_LANE_NO_FP, 1);
}

TEST(without_synchronization_a_fence_keeps_no_unit_busy)
{
	struct hp_timed_insn insn = { .slots = 1, .latency = 58, .duty = HP_DUTY_SYNC };

	insn.is_serializing = insn.is_fencing = true;
	insn.use_count = 1;
	insn.units[0] = 4;
	insn.busy[0] = 58;
	for (int i = 0; i < TURNS; i++)
		step(&insn, NULL);
	ck_assert_double_ge(cycles(HP_LANE_AS_IS), 58);
	ck_cycles(HP_LANE_NO_SYNC, 0.25);
}

TEST(code_comes_late_behind_a_branch_that_its_history_foretells)
{
	const struct hp_timed_insn insn = plain(A, B, 1);

	for (int i = 0; i < TURNS; i++) {
		step(&insn, NULL);
		hp_timing_branch(timing, HP_UARCH_BRANCH_LATE, true);
	}
	ck_cycles(HP_LANE_AS_IS, 3.125);
	ck_cycles(HP_LANE_NO_FETCH, 0.25);
	ck_cycles(HP_LANE_NO_MISPREDICT, 3.125);
}

/* Which is hidden where code takes as long to be fetched. */
TEST(a_target_that_its_history_foretells_comes_some_cycles_after_the_last_turn)
{
	const struct hp_timed_insn insn = plain(A, B, 1);

	for (int i = 0; i < 2 * TURNS; i++) {
		step(&insn, NULL);
		if (i % 2)
			hp_timing_branch(timing, HP_UARCH_TARGET_LATE, true);
	}
	ck_cycles(HP_LANE_AS_IS, 6);
	ck_cycles(HP_LANE_NO_FETCH, 0.5);
	for (int i = 0; i < 64 * TURNS; i++) {
		step(&insn, NULL);
		if (i % 64 == 63)
			hp_timing_branch(timing, HP_UARCH_TARGET_LATE, true);
	}
	ck_cycles(HP_LANE_AS_IS, 6 + 16);
}

TEST(behind_a_branch_that_the_target_buffer_does_not_have_fetch_begins_anew)
{
	const struct hp_timed_insn insn = plain(A, B, 1);

	for (int i = 0; i < TURNS; i++) {
		step(&insn, NULL);
		hp_timing_branch(timing, HP_UARCH_TARGET_MISS, true);
	}
	ck_cycles(HP_LANE_AS_IS, 9 + 1.0 / 8);
	ck_cycles(HP_LANE_NO_FETCH, 0.25);
}

TEST(behind_such_a_branch_lines_are_not_asked_for_ahead)
{
	const struct hp_timed_insn insn = plain(A, B, 1);

	for (int i = 0; i < TURNS; i++) {
		hp_timing_fetch(timing, HP_UARCH_L1I_MISS);
		step(&insn, NULL);
		hp_timing_branch(timing, HP_UARCH_TARGET_MISS, true);
	}
	ck_cycles(HP_LANE_AS_IS, 9 + core.l2_cycles + 1.0 / 8);
	ck_cycles(HP_LANE_NO_ICACHE, 9 + 1.0 / 8);
}

TEST(a_mispredicted_branch_costs_what_the_core_says)
{
	const struct hp_timed_insn insn = plain(A, B, 1);

	for (int i = 0; i < TURNS; i++) {
		step(&insn, NULL);
		hp_timing_branch(timing, HP_UARCH_MISPREDICTED, false);
	}
	ck_cycles(HP_LANE_AS_IS, 20);
	ck_cycles(HP_LANE_ONLY_MISPREDICT, 20);
	ck_cycles(HP_LANE_NO_MISPREDICT, 0.25);
	ck_cycles(HP_LANE_IDEAL, 0.25);
}

static const struct chased {
	const char *name;
	unsigned events;
	double as_is, in_memory, without_far, in_third;
} chased[] = {
	{ "first level", 0, 4, 4, 4, 4 },
	{ "second level", HP_UARCH_L1_MISS, 14, 14, 14, 14 },
	{ "third level or memory", HP_UARCH_L1_MISS | HP_UARCH_L2_MISS, 54, 404, 14, 54 },
	{ "likely second level", HP_UARCH_L1_MISS | HP_UARCH_L2_UNKNOWN | HP_UARCH_L3_UNKNOWN, 14,
	  404, 14, 14 },
	{ "unknown",
	  HP_UARCH_L1_UNKNOWN | HP_UARCH_L2_UNKNOWN | HP_UARCH_L2_LIKELY_MISS | HP_UARCH_L3_UNKNOWN,
	  54, 404, 14, 54 },
	{ "likely memory",
	  HP_UARCH_L1_MISS | HP_UARCH_L2_MISS | HP_UARCH_L3_UNKNOWN | HP_UARCH_L3_LIKELY_MISS, 404,
	  404, 14, 54 },
	{ "memory", HP_UARCH_L1_MISS | HP_UARCH_L2_MISS | HP_UARCH_L3_MISS, 404, 404, 14, 404 },
	{ "brought in time", HP_UARCH_L1_MISS | HP_UARCH_L2_MISS | HP_UARCH_PREFETCHED, 4, 4, 4,
	  4 },
};

TEST(chased_loads_take_as_long_as_their_level)
{
	const struct hp_timed_insn insn = load_of(A, A);

	for (size_t i = 0; i < HP_ARRAY_COUNT(chased); i++) {
		const struct chased *one = &chased[i];

		hp_timing_reset(timing);
		put_aside();
		memset(sums, 0, sizeof(sums));
		for (uint64_t j = 0; j < TURNS; j++)
			step(&insn, &(struct hp_timed_access){ .line = j, .events = one->events });
		ck_cycles(HP_LANE_AS_IS, one->as_is);
		ck_cycles(HP_LANE_MEMORY, one->in_memory);
		ck_cycles(HP_LANE_NO_FAR, one->without_far);
		ck_cycles(HP_LANE_THIRD, one->in_third);
		ck_cycles(HP_LANE_NO_DCACHE, 4);
		ck_cycles(HP_LANE_IDEAL, 4);
		ck_cycles(HP_LANE_ONLY_DCACHE, one->as_is);
	}
}

/* Loads that wait for nothing, each of another line, to which these events happen. */
static void load_many_lines(unsigned events)
{
	const struct hp_timed_insn insn = load_of(A, B);

	for (uint64_t i = 0; i < TURNS; i++)
		step(&insn, &(struct hp_timed_access){ .line = i, .events = events });
}

TEST(independent_misses_share_the_buffers)
{
	load_many_lines(HP_UARCH_L1_MISS | HP_UARCH_L2_MISS);
	ck_cycles(HP_LANE_AS_IS, 50.0 / 8);
	ck_cycles(HP_LANE_MEMORY, 400.0 / 8);
	ck_cycles(HP_LANE_NO_DCACHE, 0.25);
}

TEST(independent_page_walks_share_the_walkers)
{
	load_many_lines(HP_UARCH_DTLB_MISS | HP_UARCH_TLB2_MISS);
	ck_cycles(HP_LANE_AS_IS, 60.0 / 2);
	ck_cycles(HP_LANE_NO_DTLB, 0.25);
}

TEST(a_line_that_is_on_its_way_is_waited_for)
{
	const struct hp_timed_insn first = load_of(A, B), second = load_of(A, C);
	const struct hp_timed_insn use = plain(C, A, 1);

	for (uint64_t i = 0; i < TURNS; i++) {
		step(&first, &(struct hp_timed_access){ .line = i, .events = HP_UARCH_L1_MISS });
		step(&second, &(struct hp_timed_access){ .line = i });
		step(&use, NULL);
	}
	ck_cycles(HP_LANE_AS_IS, 15);
	ck_cycles(HP_LANE_NO_DCACHE, 5);
}

TEST(lanes_that_need_more_than_a_line_per_cycle_do_not_wait_for_prediction)
{
	const struct hp_timed_insn insn = plain(A, B, 1);

	/* Each instruction is in another line, and four are issued in a cycle. */
	for (int i = 0; i < TURNS; i++) {
		hp_timing_fetch(timing, i % 200 ? 0 : HP_UARCH_L1I_MISS);
		step(&insn, NULL);
	}
	ck_cycles(HP_LANE_WIDTH, 0.25);
	ck_cycles(HP_LANE_NO_ICACHE, 0.25);
}

TEST(pages_are_found_before_lines)
{
	const struct hp_timed_insn insn = load_of(A, A);

	for (uint64_t i = 0; i < TURNS; i++)
		step(&insn,
		     &(struct hp_timed_access){ .line = i,
						.events = HP_UARCH_L1_MISS | HP_UARCH_DTLB_MISS |
							  HP_UARCH_TLB2_MISS });
	ck_cycles(HP_LANE_AS_IS, 74);
	ck_cycles(HP_LANE_NO_DTLB, 14);
	ck_cycles(HP_LANE_NO_DCACHE, 64);
	ck_cycles(HP_LANE_ONLY_DTLB, 64);
}

TEST(a_load_waits_for_the_store_that_has_its_bytes)
{
	const struct hp_timed_insn store = {
		.operand_count = 1, .operands = { A }, .slots = 1, .latency = 1
	};
	const struct hp_timed_insn load = load_of(B, A);

	for (uint64_t i = 1; i <= TURNS; i++) {
		step(&store, &(struct hp_timed_access){ .store = i, .is_store = true });
		step(&load,
		     &(struct hp_timed_access){ .store = i, .events = HP_UARCH_FORWARD_FAILED });
	}
	ck_cycles(HP_LANE_AS_IS, 19);
	ck_cycles(HP_LANE_NO_STORE_FORWARD, 5);
	ck_cycles(HP_LANE_ONLY_STORE, 19);
	ck_cycles(HP_LANE_WIDTH, 0.5);
}

/* Each store has its data at once, but leaves behind a chain that the load then goes on with. */
TEST(a_load_that_cannot_be_forwarded_waits_until_its_store_has_left)
{
	const struct hp_timed_insn chain = plain(A, A, 30);
	const struct hp_timed_insn store = { .slots = 1, .latency = 1 };
	const struct hp_timed_insn load = load_of(B, C), on = { .operand_count = 2,
								.operands = { A, C },
								.result_count = 1,
								.results = { A },
								.slots = 1,
								.latency = 1 };

	for (uint64_t i = 1; i <= TURNS; i++) {
		step(&chain, NULL);
		step(&store, &(struct hp_timed_access){ .store = i, .is_store = true });
		step(&load,
		     &(struct hp_timed_access){ .store = i, .events = HP_UARCH_FORWARD_FAILED });
		step(&on, NULL);
	}
	ck_cycles(HP_LANE_AS_IS, 30 + 18 + 1);
	ck_cycles(HP_LANE_NO_STORE_FORWARD, 30 + 1);
}

TEST(stores_that_miss_fill_the_store_buffer)
{
	const struct hp_timed_insn store = { .slots = 1, .latency = 1 };

	for (uint64_t i = 1; i <= TURNS; i++)
		step(&store,
		     &(struct hp_timed_access){ .line = i,
						.store = i,
						.is_store = true,
						.events = HP_UARCH_L1_MISS | HP_UARCH_L2_MISS });
	ck_cycles(HP_LANE_AS_IS, 50.0 / 8);
	ck_cycles(HP_LANE_NO_STORE_BUFFER, 0.25);
	ck_cycles(HP_LANE_NO_DCACHE, 50.0 / 8);
}

/* Its line is awaited in the store buffer, its page before it retires. */
TEST(a_store_ends_when_its_address_is_translated)
{
	const struct hp_timed_insn store = { .slots = 1, .latency = 1 };
	const struct hp_timed_insn serial = { .slots = 1, .latency = 1, .is_serializing = true };

	for (uint64_t i = 1; i <= TURNS; i++) {
		step(&store, &(struct hp_timed_access){ .line = i,
							.store = i,
							.is_store = true,
							.events = HP_UARCH_DTLB_MISS |
								  HP_UARCH_TLB2_MISS });
		step(&serial, NULL);
	}
	ck_assert_double_eq_tol(cycles(HP_LANE_AS_IS), cycles(HP_LANE_NO_DTLB) + 60, 2);
	ck_assert_double_eq_tol(cycles(HP_LANE_AS_IS), cycles(HP_LANE_NO_STORE_BUFFER), 1);
}

/* Each load waits for the one before it, but the lines have been requested: eight at a time. */
TEST(what_an_instruction_prefetched_comes_when_its_line_does)
{
	const struct hp_timed_insn prefetch = { .slots = 1, .latency = 1 };
	const struct hp_timed_insn load = load_of(A, A);
	const unsigned misses = HP_UARCH_L1_MISS | HP_UARCH_L2_MISS;

	for (uint64_t i = 0; i < TURNS; i++) {
		step(&prefetch,
		     &(struct hp_timed_access){ .line = i, .is_prefetch = true, .events = misses });
		step(&load, &(struct hp_timed_access){ .line = i,
						       .events = misses | HP_UARCH_PREFETCHED });
	}
	ck_cycles(HP_LANE_AS_IS, 50.0 / 8);
	ck_cycles(HP_LANE_NO_DCACHE, 4);
}

TEST(a_prefetch_waits_for_its_page_and_not_for_its_line)
{
	const struct hp_timed_insn prefetch = { .slots = 1, .latency = 1 };
	const struct hp_timed_insn serial = { .slots = 1, .latency = 1, .is_serializing = true };

	for (uint64_t i = 0; i < TURNS; i++) {
		step(&prefetch, &(struct hp_timed_access){
					.line = i,
					.is_prefetch = true,
					.events = HP_UARCH_L1_MISS | HP_UARCH_L2_MISS |
						  HP_UARCH_DTLB_MISS | HP_UARCH_TLB2_MISS });
		step(&serial, NULL);
	}
	ck_assert_double_eq_tol(cycles(HP_LANE_AS_IS), cycles(HP_LANE_NO_DTLB) + 60, 2);
	ck_assert_double_lt(cycles(HP_LANE_NO_DTLB), 10);
}

/* Cycles per store of many that hit. */
static double cycles_per_store(uint8_t width)
{
	const struct hp_timed_insn store = { .slots = 1, .latency = 1 };
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_core other = core;

	other.stored_width = width;
	timing = hp_timing_create(&other, &geometry);
	ck_assert_ptr_nonnull(timing);
	memset(sums, 0, sizeof(sums));
	for (uint64_t i = 1; i <= TURNS; i++)
		step(&store, &(struct hp_timed_access){ .store = i, .is_store = true });
	hp_timing_destroy(timing);
	return cycles(HP_LANE_AS_IS);
}

TEST(stores_leave_the_store_buffer_as_fast_as_the_core_can)
{
	ck_assert_double_eq_tol(cycles_per_store(0), 1, 0.05);
	ck_assert_double_eq_tol(cycles_per_store(2), 0.5, 0.05);
}

/* A mixture of all. */
static void mix(void)
{
	const struct hp_timed_insn add = plain(A, B, 1), load = load_of(B, C);
	uint32_t random = 1;

	for (uint64_t i = 1; i <= TURNS; i++) {
		random = random * 1103515245 + 12345;
		hp_timing_fetch(timing, random >> 20 & 7 ? 0 : HP_UARCH_L1I_MISS);
		step(&add, NULL);
		step(&load, &(struct hp_timed_access){
				    .line = random >> 16 & 63,
				    .events = random >> 24 & 7 ? 0 : HP_UARCH_L1_MISS });
		hp_timing_branch(timing, random >> 28 ? 0 : HP_UARCH_MISPREDICTED,
				 random >> 27 & 1);
	}
}

static void take_core(const struct hp_core *other)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	timing = hp_timing_create(other, &geometry);
	ck_assert_ptr_nonnull(timing);
	at_end((void (*)(void *))hp_timing_destroy, timing);
}

/* A jump of half a cycle, and an indirect one. */
static void check_indirect(uint8_t indirect_cycles, double expected)
{
	struct hp_timed_insn insn = plain(A, B, 1);
	struct hp_core other = core;

	other.taken_width = 2;
	other.indirect_cycles = indirect_cycles;
	take_core(&other);
	memset(sums, 0, sizeof(sums));
	for (int i = 0; i < 2 * TURNS; i++) {
		insn.is_indirect = i % 2;
		step(&insn, NULL);
		hp_timing_branch(timing, 0, true);
	}
	ck_cycles(HP_LANE_AS_IS, expected);
}

TEST(an_indirect_jump_takes_a_cycle_where_others_take_half)
{
	check_indirect(0, 0.5 + 1);
}

TEST(it_takes_more_where_the_core_says_so)
{
	check_indirect(2, 0.5 + 2);
}

/* Two instructions of one cycle on two units, the second of which may need the first's result. */
static double pairs(const struct hp_timed_insn *first, const struct hp_timed_insn *second)
{
	struct hp_core other = core;

	other.chained_units = 3;
	other.chained_span = 2;
	take_core(&other);
	memset(sums, 0, sizeof(sums));
	for (int i = 0; i < TURNS; i++) {
		step(first, NULL);
		step(second, NULL);
	}
	return cycles(HP_LANE_AS_IS);
}

TEST(what_follows_an_operation_at_once_keeps_its_unit_longer)
{
	struct hp_timed_insn first = plain(A, B, 1), second = plain(B, C, 1),
			     other = plain(A, C, 1);

	first.use_count = second.use_count = other.use_count = 1;
	first.units[0] = second.units[0] = other.units[0] = 3;
	first.busy[0] = second.busy[0] = other.busy[0] = 1;
	ck_assert_double_eq_tol(pairs(&first, &second), 1, 0.02);
	first.is_chained = second.is_chained = other.is_chained = true;
	ck_assert_double_eq_tol(pairs(&first, &second), 1.5, 0.02);
	ck_assert_double_eq_tol(pairs(&first, &other), 1, 0.02);
	/* The result of something else comes no sooner than it is needed. */
	first.is_chained = false;
	ck_assert_double_eq_tol(pairs(&first, &second), 1, 0.02);
}

TEST(moving_the_origin_of_time_changes_nothing)
{
	double before[HP_LANES];

	mix();
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		before[lane] = cycles((enum hp_lane)lane);
	memset(sums, 0, sizeof(sums));
	hp_timing_reset(timing);
	rebases_always = true;
	mix();
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		ck_cycles((enum hp_lane)lane, before[lane]);
	ck_assert_double_gt(cycles(HP_LANE_AS_IS), cycles(HP_LANE_NO_MISPREDICT));
	ck_assert_double_gt(cycles(HP_LANE_AS_IS), cycles(HP_LANE_NO_ICACHE));
}

TEST(millions_of_instructions_do_not_overflow)
{
	const struct hp_timed_insn insn = load_of(A, A);

	for (uint64_t i = 0; i < 100 * TURNS; i++)
		step(&insn,
		     &(struct hp_timed_access){ .line = i,
						.events = HP_UARCH_L1_MISS | HP_UARCH_L2_MISS |
							  HP_UARCH_L3_MISS });
	ck_cycles(HP_LANE_AS_IS, 40400);
}

TEST(instructions_are_made_of_decoded_ones)
{
	static const uint8_t code[] = {
		0x48, 0x39, 0xd8,	/* cmp rax, rbx */
		0x75, 0x02,		/* jne */
		0x55,			/* push rbp */
		0x48, 0x03, 0x04, 0x8b, /* add rax, [rbx + rcx * 4] */
	};
	const struct hp_core *zen = hp_core_named("zen-4");
	const struct hp_isa *isa = hp_isa_of(EM_X86_64);
	struct hp_timed_insn made[4];
	struct hp_insn insns[4];
	size_t at = 0;

	for (size_t i = 0; i < 4; i++) {
		ck_assert(isa->decode(code + at, sizeof(code) - at, 0x1000 + at, &insns[i]));
		at += insns[i].length;
		hp_timed_insn_make(zen, isa, i ? &insns[i - 1] : NULL, &insns[i], &made[i]);
	}
	/* The pair is one micro-op. */
	ck_assert_uint_eq(made[0].slots, 1);
	ck_assert_uint_eq(made[1].slots, 0);
	ck_assert_uint_eq(made[1].latency, 0);
	ck_assert_uint_gt(made[1].operand_count, 0);
	/* Nobody waits for the stack pointer that a push moves. */
	ck_assert_uint_eq(made[2].result_count, 0);
	ck_assert_uint_eq(made[3].address_count, 2);
	ck_assert_uint_eq(made[3].late, zen->l1_cycles);
	ck_assert_uint_gt(made[3].use_count, 0);
}

TEST(operations_of_registers_on_any_unit_are_chained)
{
	static const struct {
		uint8_t code[4];
		size_t bytes;
		bool is_chained;
	} rows[] = {
		{ { 0x48, 0x01, 0xd0 }, 3, true },	  /* add rax, rdx */
		{ { 0x48, 0x8d, 0x40, 0x08 }, 4, true },  /* lea rax, [rax + 8] */
		{ { 0x48, 0x03, 0x03 }, 3, false },	  /* add rax, [rbx] */
		{ { 0x48, 0xc1, 0xe0, 0x03 }, 4, false }, /* shl rax, 3: not on all units */
		{ { 0x48, 0x89, 0xd0 }, 3, false },	  /* mov rax, rdx */
	};
	const struct hp_isa *isa = hp_isa_of(EM_X86_64);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct hp_timed_insn made;
		struct hp_insn insn;

		ck_assert(isa->decode(rows[i].code, rows[i].bytes, 0x1000, &insn));
		hp_timed_insn_make(hp_core_named("zen-5"), isa, NULL, &insn, &made);
		ck_assert_msg(made.is_chained == rows[i].is_chained, "row %zu", i);
		hp_timed_insn_make(hp_core_named("zen-4"), isa, NULL, &insn, &made);
		ck_assert(!made.is_chained);
	}
}

HP_TEST_MAIN("uarch/timing")
