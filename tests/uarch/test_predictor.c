/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The branch predictor, on branches whose rate of mispredictions is known by construction. */
#include "../support.h"

#include "../../src/uarch/history.h"

#include <hpcprof/base/number.h>
#include <hpcprof/uarch/path.h>

#include <string.h>

static struct hp_uarch *made(void)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch = hp_uarch_create(&geometry);

	ck_assert_ptr_nonnull(uarch);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	return uarch;
}

/* What one branch did, of its last executions. */
struct tally {
	unsigned executions, mispredicted, unknown;
};

static void add(struct tally *tally, unsigned event)
{
	tally->executions++;
	tally->mispredicted += event == HP_UARCH_MISPREDICTED;
	tally->unknown += event == HP_UARCH_BRANCH_UNKNOWN;
}

static unsigned conditional(struct hp_uarch *uarch, uint64_t ip, bool taken)
{
	return hp_uarch_branch(uarch, ip, ip + 2, HP_UARCH_CONDITIONAL, taken, ip - 100);
}

static double rate(const struct tally *tally)
{
	return (double)tally->mispredicted / tally->executions;
}

/* --- directions ------------------------------------------------------------------------------- */

static bool always(unsigned i, struct hp_random *random)
{
	(void)i, (void)random;
	return true;
}

static bool never(unsigned i, struct hp_random *random)
{
	(void)i, (void)random;
	return false;
}

static bool alternating(unsigned i, struct hp_random *random)
{
	(void)random;
	return i & 1;
}

static bool loop_of_7(unsigned i, struct hp_random *random)
{
	(void)random;
	return i % 7 != 6;
}

static bool loop_of_40(unsigned i, struct hp_random *random)
{
	(void)random;
	return i % 40 != 39;
}

/* Longer than the longest history. */
static bool loop_of_1000(unsigned i, struct hp_random *random)
{
	(void)random;
	return i % 1000 != 999;
}

static bool pattern_of_11(unsigned i, struct hp_random *random)
{
	(void)random;
	return 0x59b >> i % 11 & 1;
}

static bool by_chance(unsigned i, struct hp_random *random)
{
	(void)i;
	return hp_random_next(random) >> 63;
}

static bool mostly(unsigned i, struct hp_random *random)
{
	(void)i;
	return hp_random_between(random, 0, 9) != 0;
}

static const struct direction {
	const char *name;
	bool (*taken)(unsigned i, struct hp_random *random);
	double least, most; /* mispredicted, once learnt */
} directions[] = {
	{ "always taken", always, 0, 0 },
	{ "never taken", never, 0, 0 },
	{ "alternating", alternating, 0, 0 },
	{ "a loop of 7", loop_of_7, 0, 0 },
	{ "a loop of 40", loop_of_40, 0, 0 },
	{ "a loop of 1000", loop_of_1000, 0, 0 },
	{ "a pattern of 11", pattern_of_11, 0, 0 },
	{ "by chance", by_chance, 0.45, 0.55 },
	{ "nine of ten, by chance", mostly, 0.09, 0.15 },
};

TEST(directions_are_mispredicted_as_often_as_can_be_known)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(directions); i++) {
		const struct direction *direction = &directions[i];
		struct hp_random random = hp_random_seeded(11);
		struct hp_uarch *uarch = made();
		struct tally tally = { 0 };

		for (unsigned step = 0; step < 40000; step++) {
			unsigned event =
				conditional(uarch, 0x401000, direction->taken(step, &random));

			if (step >= 20000)
				add(&tally, event);
			(void)conditional(uarch, 0x401020, true); /* the loop around it */
		}
		ck_assert_msg(rate(&tally) >= direction->least && rate(&tally) <= direction->most,
			      "%s: %g", direction->name, rate(&tally));
		ck_assert_uint_eq(tally.unknown, 0);
	}
}

/* Without the loop predictor no history is long enough: it is what knows the loop of 1000. */
TEST(a_long_loop_is_lost_without_the_loop_predictor)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch;
	struct tally tally = { 0 };

	geometry.predictor.loop_entries = 0;
	uarch = hp_uarch_create(&geometry);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	for (unsigned step = 0; step < 100000; step++)
		add(&tally, conditional(uarch, 0x401000, step % 1000 != 999));
	ck_assert_uint_ge(tally.mispredicted, 99);
	ck_assert_uint_le(tally.mispredicted, 200);
}

TEST(a_loop_that_changes_its_length_is_learnt_anew)
{
	struct hp_uarch *uarch = made();
	struct tally tally = { 0 };

	for (unsigned step = 0; step < 30000; step++)
		conditional(uarch, 0x401000, step % 300 != 299);
	for (unsigned step = 0; step < 60000; step++) {
		unsigned event = conditional(uarch, 0x401000, step % 500 != 499);

		if (step >= 30000)
			add(&tally, event);
	}
	ck_assert_uint_eq(tally.mispredicted, 0);
}

/* Longer than can be counted: only its exits are lost, also where loops were trusted before. */
TEST(a_loop_that_is_too_long_to_count_loses_no_more_than_its_exits)
{
	enum { LENGTH = LOOP_LONGEST + 100, ROUNDS = 8 };
	struct hp_uarch *uarch = made();
	struct tally tally = { 0 };

	for (unsigned step = 0; step < 100000; step++)
		conditional(uarch, 0x402040, step % 1000 != 999);
	for (unsigned step = 0; step < LENGTH * ROUNDS; step++)
		add(&tally, conditional(uarch, 0x401000, step % LENGTH != LENGTH - 1));
	ck_assert_uint_ge(tally.mispredicted, ROUNDS - 1);
	ck_assert_uint_le(tally.mispredicted, 2 * ROUNDS);
}

/* The third branch is the exclusive or of two that go by chance: no counter knows it, a history does. */
TEST(a_branch_that_follows_from_others_is_predicted)
{
	struct hp_random random = hp_random_seeded(4);
	struct hp_uarch *uarch = made();
	struct tally chance = { 0 }, follows = { 0 };

	for (unsigned step = 0; step < 40000; step++) {
		bool a = hp_random_next(&random) >> 63;
		bool b = hp_random_next(&random) >> 63;
		unsigned first = conditional(uarch, 0x401000, a);
		unsigned event;

		conditional(uarch, 0x401020, b);
		event = conditional(uarch, 0x401040, a != b);
		if (step < 20000)
			continue;
		add(&chance, first);
		add(&follows, event);
	}
	ck_assert_double_le(rate(&follows), 0.01);
	ck_assert_double_ge(rate(&chance), 0.4);
}

/* A branch that goes as one by chance did, with others between them that are always `taken` or never. */
static double lost_behind(const char *core, unsigned others, bool taken)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_of(hp_core_named(core));
	struct hp_uarch *uarch = hp_uarch_create(&geometry);
	struct hp_random random = hp_random_seeded(4);
	struct tally tally = { 0 };

	ck_assert_ptr_nonnull(uarch);
	for (unsigned step = 0; step < 8000; step++) {
		bool is_taken = hp_random_next(&random) >> 63;
		unsigned event;

		(void)conditional(uarch, 0x401000, is_taken);
		for (unsigned i = 0; i < others; i++)
			(void)conditional(uarch, 0x402000 + i * 4, taken);
		event = conditional(uarch, 0x403000, is_taken);
		if (step >= 4000)
			add(&tally, event);
		(void)conditional(uarch, 0x403020, true);
	}
	hp_uarch_destroy(uarch);
	return rate(&tally);
}

/* As measured on Zen 5. Intel's cores look back at 93 branches, or at 194. */
TEST(what_was_not_taken_is_no_part_of_the_path_and_what_was_taken_is)
{
	ck_assert_double_le(lost_behind("zen-5", 600, false), 0.01);
	ck_assert_double_le(lost_behind("zen-5", 120, true), 0.01);
	ck_assert_double_ge(lost_behind("zen-5", 150, true), 0.4);
	ck_assert_double_ge(lost_behind("skylake-sp", 120, true), 0.4);
	ck_assert_double_le(lost_behind("sapphire-rapids", 150, true), 0.01);
}

/* A hundred branches of one pattern each: they do not disturb each other much. */
TEST(many_branches_are_kept_apart)
{
	struct hp_uarch *uarch = made();
	struct tally tally = { 0 };

	for (unsigned step = 0; step < 3000; step++)
		for (unsigned i = 0; i < 100; i++) {
			unsigned event = conditional(uarch, 0x401000 + i * 37, (i * 7 % 13) & 1);

			if (step >= 1500)
				add(&tally, event);
		}
	ck_assert_double_le(rate(&tally), 0.001);
}

TEST(what_a_branch_does_at_its_first_executions_is_unknown)
{
	struct hp_uarch *uarch = made();
	struct tally tally = { 0 };

	for (unsigned i = 0; i < 500; i++)
		add(&tally, conditional(uarch, 0x401000 + i * 64, false));
	ck_assert_uint_eq(tally.mispredicted, 0);
	ck_assert_uint_ge(tally.unknown, 400);
}

/* --- targets ---------------------------------------------------------------------------------- */

static unsigned jump(struct hp_uarch *uarch, uint64_t ip, uint64_t target)
{
	return hp_uarch_branch(uarch, ip, ip + 2, HP_UARCH_JUMP_INDIRECT, true, target);
}

static unsigned one_target(unsigned i, struct hp_random *random)
{
	(void)i, (void)random;
	return 3;
}

static unsigned round_of_5(unsigned i, struct hp_random *random)
{
	(void)random;
	return i % 5;
}

/* As an interpreter does over one loop of byte codes, some of which occur several times. */
static unsigned sequence_of_12(unsigned i, struct hp_random *random)
{
	static const unsigned sequence[12] = { 0, 1, 2, 1, 3, 1, 2, 4, 0, 1, 5, 5 };

	(void)random;
	return sequence[i % 12];
}

static unsigned any_of_8(unsigned i, struct hp_random *random)
{
	(void)i;
	return (unsigned)(hp_random_next(random) >> 61);
}

static const struct target {
	const char *name;
	unsigned (*target)(unsigned i, struct hp_random *random);
	double least, most;
} targets[] = {
	{ "one target", one_target, 0, 0 },
	{ "five by turns", round_of_5, 0, 0 },
	{ "a sequence of 12", sequence_of_12, 0, 0 },
	{ "eight by chance", any_of_8, 0.8, 0.95 },
};

TEST(targets_are_mispredicted_as_often_as_can_be_known)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(targets); i++) {
		const struct target *target = &targets[i];
		struct hp_random random = hp_random_seeded(8);
		struct hp_uarch *uarch = made();
		struct tally tally = { 0 };

		for (unsigned step = 0; step < 40000; step++) {
			unsigned event = jump(uarch, 0x401000,
					      0x500000 + 64 * target->target(step, &random));

			if (step >= 20000)
				add(&tally, event);
		}
		ck_assert_msg(rate(&tally) >= target->least && rate(&tally) <= target->most,
			      "%s: %g", target->name, rate(&tally));
		ck_assert_uint_eq(tally.unknown, 0);
	}
}

TEST(a_target_may_follow_from_a_direction)
{
	struct hp_random random = hp_random_seeded(2);
	struct hp_uarch *uarch = made();
	struct tally tally = { 0 };

	for (unsigned step = 0; step < 20000; step++) {
		bool a = hp_random_next(&random) >> 63;
		unsigned event;

		conditional(uarch, 0x401000, a);
		event = jump(uarch, 0x401020, a ? 0x500000 : 0x600000);
		if (step >= 10000)
			add(&tally, event);
	}
	ck_assert_double_le(rate(&tally), 0.01);
}

TEST(direct_jumps_and_calls_are_never_mispredicted)
{
	struct hp_uarch *uarch = made();

	ck_assert_uint_eq(hp_uarch_branch(uarch, 1, 3, HP_UARCH_JUMP, true, 0x1000), 0);
	ck_assert_uint_eq(hp_uarch_branch(uarch, 1, 6, HP_UARCH_CALL, true, 0x2000), 0);
}

/* The share that has the event, of so many jumps by turns, after some rounds. */
static double share_of(unsigned event, const char *core, unsigned jumps)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_of(hp_core_named(core));
	struct hp_uarch *uarch = hp_uarch_create(&geometry);
	unsigned with = 0;

	ck_assert_ptr_nonnull(uarch);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	for (unsigned round = 0; round < 8; round++)
		for (unsigned i = 0; i < jumps; i++) {
			uint64_t ip = 0x10000 + 48 * i;
			bool has_event = hp_uarch_branch(uarch, ip, ip + 2, HP_UARCH_JUMP, true,
							 ip + 48) == event;

			with += round >= 4 && has_event;
		}
	return with / 4.0 / jumps;
}

TEST(the_targets_of_many_branches_come_late)
{
	ck_assert_double_le(share_of(HP_UARCH_TARGET_LATE, "sapphire-rapids", 200), 0.05);
	ck_assert_double_ge(share_of(HP_UARCH_TARGET_LATE, "sapphire-rapids", 512), 0.95);
	/* None is known to be late. */
	ck_assert_double_eq(share_of(HP_UARCH_TARGET_LATE, "zen-5", 4096), 0);
}

TEST(of_more_branches_than_the_buffer_holds_no_target_is_known)
{
	ck_assert_double_le(share_of(HP_UARCH_TARGET_MISS, "sapphire-rapids", 8192), 0.1);
	ck_assert_double_ge(share_of(HP_UARCH_TARGET_MISS, "sapphire-rapids", 24576), 0.95);
	/* How many it holds is not known. */
	ck_assert_double_eq(share_of(HP_UARCH_TARGET_MISS, "zen-5", 24576), 0);
}

TEST(branches_that_are_not_taken_need_no_target)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_of(hp_core_named("sapphire-rapids"));
	struct hp_uarch *uarch = hp_uarch_create(&geometry);

	ck_assert_ptr_nonnull(uarch);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	for (unsigned i = 0; i < 20000; i++)
		ck_assert_uint_eq(conditional(uarch, 0x10000 + 16 * (i % 2000), false) &
					  HP_UARCH_TARGET_LATE,
				  0);
}

/* --- returns ---------------------------------------------------------------------------------- */

/* Calls to this depth from different places, and returns. */
static struct tally nest(struct hp_uarch *uarch, unsigned depth)
{
	struct tally tally = { 0 };

	for (unsigned i = 0; i < depth; i++)
		hp_uarch_branch(uarch, 0x1000 * i, 0x1000 * i + 5, HP_UARCH_CALL, true,
				0x1000 * (i + 1));
	for (unsigned i = depth; i-- > 0;)
		add(&tally, hp_uarch_branch(uarch, 0x1000 * (i + 1), 0x1000 * (i + 1) + 1,
					    HP_UARCH_RETURN, true, 0x1000 * i + 5));
	return tally;
}

TEST(returns_are_predicted_as_deep_as_the_stack)
{
	struct tally tally = nest(made(), 32);

	ck_assert_uint_eq(tally.mispredicted + tally.unknown, 0);
	tally = nest(made(), 40);
	ck_assert_uint_eq(tally.mispredicted, 8);
}

TEST(returns_to_before_the_beginning_are_unknown_and_to_elsewhere_mispredicted)
{
	struct hp_uarch *uarch = made();

	ck_assert_uint_eq(nest(uarch, 4).mispredicted, 0);
	ck_assert_uint_eq(hp_uarch_branch(uarch, 0x9000, 0x9001, HP_UARCH_RETURN, true, 0x100),
			  HP_UARCH_BRANCH_UNKNOWN);
	hp_uarch_branch(uarch, 0x1000, 0x1005, HP_UARCH_CALL, true, 0x2000);
	ck_assert_uint_eq(hp_uarch_branch(uarch, 0x2000, 0x2001, HP_UARCH_RETURN, true, 0x3000),
			  HP_UARCH_MISPREDICTED);
}

/* call 1f; 1: pop: no return follows. */
TEST(a_call_of_the_next_instruction_is_no_call)
{
	struct hp_uarch *uarch = made();

	hp_uarch_branch(uarch, 0x1000, 0x1005, HP_UARCH_CALL, true, 0x2000);
	hp_uarch_branch(uarch, 0x2000, 0x2005, HP_UARCH_CALL, true, 0x2005);
	ck_assert_uint_eq(hp_uarch_branch(uarch, 0x2010, 0x2011, HP_UARCH_RETURN, true, 0x1005), 0);
}

/* --- what is random, but repeats --------------------------------------------------------------- */

/* A branch at random, and those that lead back to it. Returns the event of the first one. */
static unsigned turn_of_direction(struct hp_uarch *uarch, struct hp_random *random)
{
	unsigned event = conditional(uarch, 0x1000, hp_random_next(random) >> 63);

	conditional(uarch, 0x1020, true);
	return event;
}

/* The same of a jump to one of 16 places. */
static unsigned turn_of_target(struct hp_uarch *uarch, struct hp_random *random)
{
	uint64_t place = 0x2000 + (hp_random_next(random) >> 60) * 20;
	unsigned event = jump(uarch, 0x1000, place);

	hp_uarch_branch(uarch, place, place + 5, HP_UARCH_JUMP, true, 0x3000);
	conditional(uarch, 0x3020, true);
	return event;
}

/* So many turns, the same ones round after round: what is lost of the last rounds. */
static double lost_of_repeated(unsigned (*turn)(struct hp_uarch *, struct hp_random *),
			       const char *core, unsigned length)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_of(hp_core_named(core));
	struct hp_uarch *uarch = hp_uarch_create(&geometry);
	struct tally tally = { 0 };

	ck_assert_ptr_nonnull(uarch);
	for (unsigned round = 0; round < 20; round++) {
		struct hp_random random = hp_random_seeded(9);

		for (unsigned i = 0; i < length; i++) {
			unsigned event = turn(uarch, &random);

			if (round >= 12)
				add(&tally, event);
		}
	}
	hp_uarch_destroy(uarch);
	return rate(&tally);
}

/* As measured on the cores that have a name (src/isa/machine/sizes.c). */
TEST(what_repeats_is_learnt_as_far_as_the_tables_reach)
{
	static const struct {
		unsigned (*turn)(struct hp_uarch *, struct hp_random *);
		const char *core;
		unsigned known, lost; /* turns */
	} reaches[] = {
		{ turn_of_direction, "generic-x86-64", 4096, 32768 },
		{ turn_of_direction, "zen-4", 32768, 131072 },
		{ turn_of_direction, "zen-5", 16384, 65536 },
		{ turn_of_direction, "sapphire-rapids", 8192, 65536 },
		{ turn_of_target, "zen-4", 2048, 4096 },
		{ turn_of_target, "zen-5", 1024, 2048 },
		{ turn_of_target, "sapphire-rapids", 1024, 2048 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(reaches); i++) {
		const char *core = reaches[i].core;

		ck_assert_double_lt(lost_of_repeated(reaches[i].turn, core, reaches[i].known), 0.1);
		ck_assert_double_gt(lost_of_repeated(reaches[i].turn, core, reaches[i].lost), 0.3);
	}
}

/* Their targets are in the target buffer, which is larger than the tables of what the history tells. */
TEST(many_jumps_that_have_one_target_each_are_foretold)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_of(hp_core_named("zen-5"));
	struct hp_uarch *uarch = hp_uarch_create(&geometry);
	struct tally tally = { 0 };

	ck_assert_ptr_nonnull(uarch);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	for (unsigned round = 0; round < 40; round++) {
		struct hp_random random = hp_random_seeded(round);

		for (unsigned i = 0; i < 2000; i++) {
			uint64_t number = hp_random_next(&random) % 1000;
			unsigned event = jump(uarch, 0x10000 + 40 * number, 0x80000 + 72 * number);

			if (round >= 20)
				add(&tally, event);
		}
	}
	ck_assert_double_lt(rate(&tally), 0.25);
}

TEST(what_only_a_long_history_foretells_comes_late)
{
	struct hp_uarch *uarch = made();
	unsigned late = 0, at_once = 0;

	for (unsigned round = 0; round < 20; round++) {
		struct hp_random random = hp_random_seeded(9);

		for (unsigned i = 0; i < 4096; i++) {
			late += conditional(uarch, 0x1000, hp_random_next(&random) >> 63) ==
				HP_UARCH_BRANCH_LATE;
			at_once += conditional(uarch, 0x1020, true) == 0;
		}
	}
	ck_assert_uint_gt(late, 20 * 4096 * 25 / 100);
	ck_assert_uint_gt(at_once, 20 * 4096 * 99 / 100);
}

TEST(targets_that_only_the_history_foretells_come_late)
{
	struct hp_uarch *uarch = made();
	unsigned late = 0;

	for (unsigned i = 0; i < 2000; i++)
		late += hp_uarch_branch(uarch, 0x3000, 0x3002, HP_UARCH_JUMP_INDIRECT, true,
					0x4000 + 64 * (i % 4)) == HP_UARCH_TARGET_LATE;
	ck_assert_uint_gt(late, 1800);
}

/* Counters of a branch that alternates do as well at one of two values as at the other, and stay
 * there: what came before must not decide how often the branch is late. */
TEST(what_a_short_history_foretells_is_in_time_whatever_came_before)
{
	static const unsigned periods[] = { 2, 3, 4, 8, 16 };

	for (unsigned p = 0; p < sizeof(periods) / sizeof(*periods); p++)
		for (unsigned start = 0; start < 32; start++) {
			struct hp_uarch *uarch = made();
			unsigned late = 0;

			for (unsigned i = 0; i < 5; i++)
				conditional(uarch, 0x1000, start >> i & 1);
			for (unsigned i = 0; i < 4000; i++) {
				unsigned event =
					conditional(uarch, 0x1000, i % periods[p] < periods[p] / 2);

				late += i >= 1000 && event == HP_UARCH_BRANCH_LATE;
				conditional(uarch, 0x1020, true);
			}
			ck_assert_msg(late < 30, "period %u after %x: %u of 3000 late", periods[p],
				      start, late);
		}
}

/* --- the history ------------------------------------------------------------------------------ */

static void pass(struct uarch_history *history, struct hp_random *random, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t ip = hp_random_between(random, 0, 1000);

		uarch_history_add(history, ip, hp_random_between(random, 0, 1000));
	}
}

static struct uarch_history new_history(void)
{
	const struct hp_uarch_predictor sizes = { .tagged_tables = 7,
						  .tagged_entries = 512,
						  .shortest_history = 3,
						  .longest_history = HISTORY_MOST };
	struct uarch_history history;

	uarch_history_create(&history, &sizes);
	ck_assert_uint_eq(history.length[0], 3);
	ck_assert_uint_eq(history.length[6], HISTORY_MOST);
	return history;
}

/* Two paths that meet: each length has forgotten where they came from once so many branches lie behind, and
 * not before. */
TEST(a_path_is_known_by_as_many_branches_as_it_covers)
{
	struct hp_random random = hp_random_seeded(6);
	struct uarch_history one = new_history(), other = new_history();

	pass(&one, &random, 2000);
	pass(&other, &random, 1700);
	for (unsigned common = 1; common <= HISTORY_MOST; common++) {
		uint64_t ip = hp_random_between(&random, 0, 1000);

		uarch_history_add(&one, ip, ip + 7);
		uarch_history_add(&other, ip, ip + 7);
		for (unsigned t = 0; t < 7; t++)
			ck_assert_int_eq(one.hash.at[t] == other.hash.at[t],
					 common >= one.length[t]);
	}
}

/* Also where the same few branches come again and again, as in a loop. */
TEST(a_path_is_known_by_the_order_of_its_branches_and_where_they_go)
{
	struct uarch_history one = new_history(), other = new_history(), third = new_history();

	for (unsigned i = 0; i < 64; i++) {
		uarch_history_add(&one, 0x1000, 0x900);
		uarch_history_add(&other, 0x1000, 0x900);
		uarch_history_add(&third, 0x1000, 0x900);
	}
	uarch_history_add(&one, 0x2000, 0x3000);
	uarch_history_add(&other, 0x2000, 0x3040);
	uarch_history_add(&one, 0x1000, 0x900);
	uarch_history_add(&other, 0x1000, 0x900);
	uarch_history_add(&third, 0x1000, 0x900);
	uarch_history_add(&third, 0x2000, 0x3000);
	for (unsigned t = 0; t < 7; t++) {
		ck_assert_uint_ne(one.hash.at[t], other.hash.at[t]);
		ck_assert_uint_ne(one.hash.at[t], third.hash.at[t]);
	}
}

/* --- hybrid ------------------------------------------------------------------------------------ */

static struct hp_uarch *made_hybrid(void)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch;

	geometry.predictor.is_hybrid = true;
	geometry.predictor.base_entries = 4096;
	geometry.predictor.loop_entries = 0;
	uarch = hp_uarch_create(&geometry);
	ck_assert_ptr_nonnull(uarch);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	return uarch;
}

static struct tally hybrid_tally(bool (*goes)(unsigned, struct hp_random *))
{
	struct hp_random random = hp_random_seeded(7);
	struct hp_uarch *uarch = made_hybrid();
	struct tally tally = { 0 };

	for (unsigned i = 0; i < 4000; i++) {
		unsigned event = conditional(uarch, 0x1000, goes(i, &random));

		if (i >= 2000)
			add(&tally, event);
	}
	return tally;
}

TEST(the_hybrid_predictor_knows_what_repeats_within_its_history)
{
	struct tally tally = hybrid_tally(alternating);

	ck_assert_uint_eq(tally.mispredicted, 0);
	tally = hybrid_tally(always);
	ck_assert_uint_eq(tally.mispredicted, 0);
	tally = hybrid_tally(by_chance);
	ck_assert(rate(&tally) > 0.4);
}

/* --- wrong paths ------------------------------------------------------------------------------- */

/* What is guessed in between changes nothing of what is predicted behind it. */
static void check_straying(struct hp_uarch *uarch, struct hp_uarch *other)
{
	struct hp_random random = hp_random_seeded(3);

	for (unsigned i = 0; i < 3000; i++) {
		bool is_taken = hp_random_next(&random) >> 40 & 1;
		uint64_t target = 0x9000 + (i % 3) * 64;

		ck_assert_uint_eq(conditional(uarch, 0x1000 + i % 5 * 16, is_taken),
				  conditional(other, 0x1000 + i % 5 * 16, is_taken));
		ck_assert_uint_eq(hp_uarch_branch(uarch, 0x2000, 0x2005, HP_UARCH_CALL_INDIRECT,
						  true, target),
				  hp_uarch_branch(other, 0x2000, 0x2005, HP_UARCH_CALL_INDIRECT,
						  true, target));
		hp_uarch_stray(uarch);
		for (unsigned j = 0; j < i % 40; j++)
			(void)hp_uarch_guess(uarch, 0x3000 + j * 8, 0x3004 + j * 8,
					     (enum hp_uarch_branch_kind)(j % 6), 0x5000);
		hp_uarch_rejoin(uarch);
		ck_assert_uint_eq(
			hp_uarch_branch(uarch, target, target + 1, HP_UARCH_RETURN, true, 0x2005),
			hp_uarch_branch(other, target, target + 1, HP_UARCH_RETURN, true, 0x2005));
	}
}

TEST(nobody_learns_from_a_path_that_is_not_taken)
{
	check_straying(made(), made());
	check_straying(made_hybrid(), made_hybrid());
}

TEST(a_guess_is_what_would_be_predicted)
{
	struct hp_uarch *uarch = made();

	for (unsigned i = 0; i < 100; i++) {
		(void)conditional(uarch, 0x1000, true);
		(void)hp_uarch_branch(uarch, 0x2000, 0x2005, HP_UARCH_CALL_INDIRECT, true, 0x9000);
		(void)hp_uarch_branch(uarch, 0x9000, 0x9001, HP_UARCH_RETURN, true, 0x2005);
		ck_assert_uint_eq(hp_uarch_predicted(uarch), 0x2005);
	}
	hp_uarch_stray(uarch);
	ck_assert_uint_eq(hp_uarch_guess(uarch, 0x1000, 0x1002, HP_UARCH_CONDITIONAL, 0x1100),
			  0x1100);
	ck_assert_uint_eq(hp_uarch_guess(uarch, 0x2000, 0x2005, HP_UARCH_CALL_INDIRECT, 0), 0x9000);
	ck_assert_uint_eq(hp_uarch_guess(uarch, 0x9000, 0x9001, HP_UARCH_RETURN, 0), 0x2005);
	hp_uarch_rejoin(uarch);
}

HP_TEST_MAIN("uarch/predictor")
