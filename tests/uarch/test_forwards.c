/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How soon loads have what stores have written, on a core that renames memory, and calls on it. */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/uarch/path.h>
#include <hpcprof/uarch/timing.h>

#include <elf.h>
#include <math.h>

enum { ROUNDS = 4000, MOST_INSNS = 6, MOST_BYTES = 64, LINE = 64 };

/* A round of instructions; the first store of it is loaded by its last load. */
struct round {
	const char *name;
	uint8_t code[MOST_BYTES];
	unsigned insns;
	unsigned copies; /* of the round, in other code */
	double cycles;
	double few_cycles; /* the same where the code is one copy */
};

/* Three products of one register, of three cycles each. */
#define PRODUCT	 0x48, 0x6b, 0xc0, 1
#define PRODUCTS PRODUCT, PRODUCT, PRODUCT

/* The paths take what scripts/machine/measure_core measures on Zen 5: 7 cycles from register to register, of
 * which one is the store's. */
static const struct round rounds[] = {
	{ "named alike", { 0x48, 0x89, 0x43, 8, 0x48, 0x8b, 0x43, 8 }, 2, 64, 0.5, 0.5 },
	{ "of 4 bytes", { 0x89, 0x43, 8, 0x8b, 0x43, 8 }, 2, 64, 0.5, 0.5 },
	{ "by another base", { 0x48, 0x89, 0x43, 8, 0x48, 0x8b, 0x41, 8 }, 2, 64, 7, 0.5 },
	{ "by another index", { 0x48, 0x89, 0x04, 0x13, 0x48, 0x8b, 0x04, 0x33 }, 2, 64, 7, 0.5 },
	{ "behind another base",
	  { 0x48, 0x83, 0xc3, 1, 0x48, 0x89, 0x43, 8, 0x48, 0x8b, 0x43, 8 },
	  3,
	  64,
	  7,
	  1 },
	{ "a byte", { 0x88, 0x43, 8, 0x0f, 0xb6, 0x43, 8 }, 2, 64, 7, 7 },
	{ "push and pop", { 0x50, 0x58 }, 2, 64, 0.5, 0.5 },
};

static struct hp_timing *timing;
static struct hp_lanes spent;
static double ticks, ticks_without_failures;

static bool is_shared; /* another thread of the core is busy */

static void begin(const char *core_name)
{
	static struct hp_core core;
	struct hp_uarch_geometry geometry = hp_uarch_geometry_of(hp_core_named(core_name));

	core = *hp_core_named(core_name);
	if (is_shared)
		hp_uarch_share(&geometry, &core);
	timing = hp_timing_create(&core, &geometry);
	ck_assert_ptr_nonnull(timing);
	at_end((void (*)(void *))hp_timing_destroy, timing);
	ticks = ticks_without_failures = 0;
	spent = (struct hp_lanes){ 0 };
}

static void step(const struct hp_timed_insn *insn, const struct hp_timed_access *access)
{
	hp_timing_insn(timing, insn, access, access != NULL, &spent);
	ticks += spent.at[HP_LANE_AS_IS];
	ticks_without_failures += spent.at[HP_LANE_NO_STORE_FORWARD];
	spent = (struct hp_lanes){ 0 };
	if (hp_timing_is_due(timing))
		hp_timing_rebase(timing);
}

static void decode(const char *core, const uint8_t *code, unsigned count, uint64_t address,
		   struct hp_timed_insn *made)
{
	const struct hp_isa *isa = hp_isa_of(EM_X86_64);
	struct hp_insn insn;

	for (unsigned i = 0; i < count; i++) {
		ck_assert(isa->decode(code, MOST_BYTES, address, &insn));
		hp_timed_insn_make(hp_core_named(core), isa, NULL, &insn, &made[i]);
		code += insn.length;
		address += insn.length;
	}
}

static bool loads(const struct hp_timed_insn *insn)
{
	return insn->latency >= 4;
}

/* Cycles per round; each copy of the code is at an address of its own. */
static double time_round(const char *core, const struct round *round, unsigned copies)
{
	static struct hp_timed_insn made[64][MOST_INSNS];
	uint64_t store = 0;

	begin(core);
	for (unsigned copy = 0; copy < copies; copy++)
		decode(core, round->code, round->insns, 0x1000 + 64 * (uint64_t)copy, made[copy]);
	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct hp_timed_insn *insns = made[i % copies];

		store++;
		for (unsigned k = 0; k + 2 < round->insns; k++)
			step(&insns[k], NULL);
		ck_assert(loads(&insns[round->insns - 1]));
		step(&insns[round->insns - 2],
		     &(struct hp_timed_access){ .store = store, .is_store = true });
		step(&insns[round->insns - 1],
		     &(struct hp_timed_access){ .store = store, .events = HP_UARCH_FORWARDED });
	}
	return ticks / HP_TIMING_TICKS / ROUNDS;
}

TEST(memory_is_renamed_where_its_name_or_its_load_is_known)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(rounds); i++) {
		const struct round *round = &rounds[i];
		double many = time_round("zen-5", round, round->copies);
		double few = time_round("zen-5", round, 1);

		ck_assert_msg(fabs(many - round->cycles) < 0.1, "%s: %.2f, expected %.2f",
			      round->name, many, round->cycles);
		ck_assert_msg(fabs(few - round->few_cycles) < 0.1, "%s, one: %.2f, expected %.2f",
			      round->name, few, round->few_cycles);
	}
}

/* What measure_core measures on Golden Cove: of nine cycles of products, none are added by a store and a load that is
 * renamed, and five by others. */
static const struct round of_golden_cove[] = {
	{ .name = "of 8 bytes",
	  .code = { PRODUCTS, 0x48, 0x89, 0x43, 8, 0x48, 0x8b, 0x41, 8 },
	  .cycles = 9 },
	{ .name = "of 4 bytes", .code = { PRODUCTS, 0x89, 0x43, 8, 0x8b, 0x41, 8 }, .cycles = 9 },
	{ .name = "a word",
	  .code = { PRODUCTS, 0x66, 0x89, 0x43, 8, 0x0f, 0xb7, 0x41, 8 },
	  .cycles = 14 },
	{ .name = "a byte", .code = { PRODUCTS, 0x88, 0x43, 8, 0x0f, 0xb6, 0x41, 8 }, .cycles = 9 },
	{ .name = "a byte of 8",
	  .code = { PRODUCTS, 0x48, 0x89, 0x43, 8, 0x0f, 0xb6, 0x41, 8 },
	  .cycles = 9 },
	{ .name = "by an index",
	  .code = { PRODUCTS, 0x48, 0x89, 0x43, 8, 0x48, 0x8b, 0x44, 0x11, 8 },
	  .cycles = 14 },
	{ .name = "with its sign",
	  .code = { PRODUCTS, 0x89, 0x43, 8, 0x48, 0x63, 0x41, 8 },
	  .cycles = 15 },
};

TEST(golden_cove_renames_loads_that_need_only_the_register)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(of_golden_cove); i++) {
		struct round round = of_golden_cove[i];
		double cycles;

		round.insns = 5;
		cycles = time_round("sapphire-rapids", &round, 64);
		ck_assert_msg(fabs(cycles - round.cycles) < 0.1, "%s: %.2f, expected %.2f",
			      round.name, cycles, round.cycles);
	}
}

/* Of another register, so the chain of the pairs that are timed does not wait for them. */
static const struct round by_base_beside = { .code = { 0x48, 0x89, 0x53, 8, 0x48, 0x8b, 0x51, 8 } };
static const struct round of_byte_beside = { .code = { 0x88, 0x53, 8, 0x0f, 0xb6, 0x51, 8 } };
static const struct round by_stack_beside = { .code = { 0x52, 0x5a } };

/* Cycles per pair by another base, of so many whose loads are of one set and so many of the other; with as
 * many pairs beside them, of other code, whose loads are from so many stores ago. */
static double time_sets(unsigned first, unsigned second, const struct round *beside,
			unsigned others, unsigned ago)
{
	static struct hp_timed_insn made[64][MOST_INSNS], other[64][MOST_INSNS];
	uint64_t store = 64;

	begin("zen-5");
	for (unsigned i = 0; i < first + second; i++)
		decode("zen-5", rounds[2].code, 2, 0x1000 + 32 * (uint64_t)i + (i >= first),
		       made[i]);
	for (unsigned i = 0; i < others; i++)
		decode("zen-5", beside->code, 2, 0x1810 + 32 * (uint64_t)i, other[i]);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned i = round % (first + second);

		store++;
		step(&made[i][0], &(struct hp_timed_access){ .store = store, .is_store = true });
		step(&made[i][1],
		     &(struct hp_timed_access){ .store = store, .events = HP_UARCH_FORWARDED });
		if (i >= others)
			continue;
		store++;
		step(&other[i][0], &(struct hp_timed_access){ .store = store, .is_store = true });
		step(&other[i][1], &(struct hp_timed_access){ .store = store - ago,
							      .events = HP_UARCH_FORWARDED });
	}
	return ticks / HP_TIMING_TICKS / ROUNDS;
}

/* As scripts/machine/measure_core finds on Zen 5. */
TEST(twenty_pairs_of_each_set_are_remembered)
{
	ck_assert_double_eq_tol(time_sets(20, 0, NULL, 0, 0), 0.5, 0.1);
	ck_assert_double_eq_tol(time_sets(21, 0, NULL, 0, 0), 7, 0.1);
	ck_assert_double_eq_tol(time_sets(20, 20, NULL, 0, 0), 0.5, 0.1);
	ck_assert_double_eq_tol(time_sets(22, 22, NULL, 0, 0), 7, 0.1);
}

/* So loads whose addresses have the same low bits are of either set if they are of several pages. */
TEST(pages_are_spread_over_the_sets)
{
	static struct hp_timed_insn made[64][MOST_INSNS];

	begin("zen-5");
	for (unsigned i = 0; i < 30; i++)
		decode("zen-5", rounds[2].code, 2, 0x1000 * (uint64_t)(1 + i), made[i]);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		step(&made[i % 30][0], &(struct hp_timed_access){ .store = i, .is_store = true });
		step(&made[i % 30][1],
		     &(struct hp_timed_access){ .store = i, .events = HP_UARCH_FORWARDED });
	}
	ck_assert_double_eq_tol(ticks / HP_TIMING_TICKS / ROUNDS, 0.5, 0.1);
}

TEST(loads_that_are_not_renamed_are_remembered_in_vain)
{
	ck_assert_double_lt(time_sets(12, 0, &by_base_beside, 8, 22), 1.5);
	ck_assert_double_eq_tol(time_sets(12, 0, &by_base_beside, 12, 22), 7, 0.1);
	ck_assert_double_eq_tol(time_sets(12, 0, &of_byte_beside, 12, 22), 7, 0.1);
}

TEST(loads_that_the_stack_pointer_names_take_no_room)
{
	ck_assert_double_lt(time_sets(12, 0, &by_stack_beside, 12, 22), 1.5);
}

/* Cycles per pair, with other stores between its store and its load, and four products of what is loaded,
 * which take longer than these stores. Each copy is at an address of its own. */
static double time_behind_stores(unsigned others, unsigned copies)
{
	static const uint8_t product[MOST_BYTES] = { 0x48, 0x6b, 0xc0, 1 };
	static struct hp_timed_insn all[64][MOST_INSNS];
	struct hp_timed_insn products[1];
	uint64_t store = 0;

	begin("zen-5");
	for (unsigned copy = 0; copy < copies; copy++)
		decode("zen-5", rounds[0].code, 2, 0x1000 + 64 * (uint64_t)copy, all[copy]);
	decode("zen-5", product, 1, 0x100, products);
	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct hp_timed_insn *made = all[i % copies];
		uint64_t first = ++store;

		step(&made[0], &(struct hp_timed_access){ .store = first, .is_store = true });
		for (unsigned k = 0; k < others; k++)
			step(&made[0],
			     &(struct hp_timed_access){ .store = ++store, .is_store = true });
		step(&made[1],
		     &(struct hp_timed_access){ .store = first, .events = HP_UARCH_FORWARDED });
		for (unsigned k = 0; k < 4; k++)
			step(products, NULL);
	}
	return ticks / HP_TIMING_TICKS / ROUNDS;
}

/* By name or not; what scripts/machine/measure_core finds on Zen 5. */
TEST(memory_is_renamed_among_the_last_16_stores)
{
	ck_assert_double_eq_tol(time_behind_stores(15, 1), 12, 0.1);
	ck_assert_double_eq_tol(time_behind_stores(16, 1), 19, 0.1);
	/* Of many loads a name alone tells, and only among 8. */
	ck_assert_double_eq_tol(time_behind_stores(8, 64), 12, 0.1);
	ck_assert_double_eq_tol(time_behind_stores(9, 64), 19, 0.1);
}

TEST(while_another_thread_is_busy_it_is_renamed_among_half_as_many)
{
	is_shared = true;
	ck_assert_double_eq_tol(time_behind_stores(7, 1), 12, 0.1);
	ck_assert_double_eq_tol(time_behind_stores(8, 1), 19, 0.1);
	is_shared = false;
}

TEST(cores_of_which_that_is_not_known_forward_all_alike)
{
	const double alike = time_round("zen-4", &rounds[0], 64);

	ck_assert_double_eq_tol(time_round("zen-4", &rounds[2], 64), alike, 0.01);
	ck_assert_double_eq_tol(time_round("zen-4", &rounds[2], 1), alike, 0.01);
}

/* One load of what one of several stores has written, these in any order. */
static double time_stores(unsigned places)
{
	static struct hp_timed_insn made[64][MOST_INSNS];
	uint32_t random = 1;

	begin("zen-5");
	for (unsigned i = 0; i < places; i++)
		decode("zen-5", rounds[2].code, 2, 0x1000 + 64 * i, made[i]);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		random = random * 1103515245 + 12345;
		step(&made[(random >> 16) % places][0],
		     &(struct hp_timed_access){ .store = i, .is_store = true });
		step(&made[0][1],
		     &(struct hp_timed_access){ .store = i, .events = HP_UARCH_FORWARDED });
	}
	return ticks / HP_TIMING_TICKS / ROUNDS;
}

TEST(a_load_is_remembered_with_each_of_its_stores)
{
	ck_assert_double_lt(time_stores(1), 1.1);
	ck_assert_double_lt(time_stores(8), 1.1);
	ck_assert_double_gt(time_stores(60), 4);
}

/* Pairs of a call and a return take four cycles, two jumps one. */
TEST(fetch_waits_behind_calls_and_returns)
{
	static const uint8_t code[][MOST_BYTES] = { { 0xe8, 0, 0, 0, 0 }, { 0xc3 }, { 0xeb, 0 } };
	struct hp_timed_insn made[3];

	for (unsigned i = 0; i < 3; i++)
		decode("zen-5", code[i], 1, 0x1000 + 64 * i, &made[i]);
	begin("zen-5");
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		step(&made[0], &(struct hp_timed_access){ .store = i, .is_store = true });
		hp_timing_branch(timing, 0, true);
		step(&made[1],
		     &(struct hp_timed_access){ .store = i, .events = HP_UARCH_FORWARDED });
		hp_timing_branch(timing, 0, true);
	}
	ck_assert_double_eq_tol(ticks / HP_TIMING_TICKS / ROUNDS, 4, 0.02);
	begin("zen-5");
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		step(&made[2], NULL);
		hp_timing_branch(timing, 0, true);
	}
	ck_assert_double_eq_tol(ticks / HP_TIMING_TICKS / ROUNDS, 0.5, 0.02);
}

TEST(what_fails_to_be_forwarded_costs_all_beyond_the_best)
{
	struct hp_timed_insn made[MOST_INSNS];

	begin("zen-5");
	decode("zen-5", rounds[2].code, 2, 0x1000, made);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		step(&made[0], &(struct hp_timed_access){ .store = i, .is_store = true });
		step(&made[1],
		     &(struct hp_timed_access){ .store = i, .events = HP_UARCH_FORWARD_FAILED });
	}
	ck_assert_double_eq_tol(ticks / HP_TIMING_TICKS / ROUNDS, 15, 0.1);
	ck_assert_double_eq_tol(ticks_without_failures / HP_TIMING_TICKS / ROUNDS, 1, 0.1);
}

/* Rename is eight wide, but long runs of code are issued more slowly. */
TEST(long_runs_of_code_are_issued_as_fast_as_is_sustained)
{
	static const uint8_t code[MOST_BYTES] = { 0x48, 0x89, 0xd8 }; /* mov rax, rbx */
	struct hp_timed_insn made;

	begin("zen-5");
	decode("zen-5", code, 1, 0x1000, &made);
	for (uint64_t i = 0; i < ROUNDS; i++)
		step(&made, NULL);
	ck_assert_double_eq_tol(ticks / HP_TIMING_TICKS / ROUNDS,
				10.0 / hp_core_named("zen-5")->issued_in_ten, 0.005);
	ck_assert_double_gt(ticks / HP_TIMING_TICKS / ROUNDS, 1.05 / 8);
}

HP_TEST_MAIN("uarch/forwards")
