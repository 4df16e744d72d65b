/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that were never seen at an instruction, by what others had; all are drawn. */
#include "../support.h"
#include "draws.h"

#include "../../src/infer/rare_events.h"

enum { INSNS = 4000, WINDOWS = 6, EACH = 500 };

static struct hp_grouped counts[INSNS];
static double rates[INSNS]; /* events per window */
static struct hp_grouped runs;

static void run_in(size_t windows)
{
	runs = (struct hp_grouped){ 0 };
	for (size_t j = 0; j < windows; j++)
		runs.counts[j] = EACH;
}

/* So many in a thousand miss, from hardly ever to often; the others never do. */
static struct rare_events *learn(struct hp_random *random, unsigned missing, size_t windows)
{
	static struct rare_events rare;

	rare = (struct rare_events){ 0 };
	run_in(windows);
	for (size_t i = 0; i < INSNS; i++) {
		counts[i] = (struct hp_grouped){ 0 };
		rates[i] = i % 1000 < missing ? 100 * exp(-8 * uniform(random)) : 0;
		for (size_t j = 0; j < windows; j++)
			counts[i].counts[j] = poisson(random, rates[i]);
		rare_events_expose(&rare, HP_EVENT_L2I_MISS, &runs);
		if (hp_grouped_sum(&counts[i]) > 0)
			rare_events_meet(&rare, HP_EVENT_L2I_MISS, &counts[i], &runs);
	}
	return &rare;
}

TEST(what_was_never_seen_is_bounded_by_what_others_had_once)
{
	struct hp_random random = hp_random_seeded(23);
	const unsigned missing[] = { 2, 50, 500 };

	for (size_t k = 0; k < HP_ARRAY_COUNT(missing); k++) {
		const struct rare_events *rare = learn(&random, missing[k], WINDOWS);
		double most = rare_events_most(rare, HP_EVENT_L2I_MISS, &runs);
		size_t never = 0, held = 0;

		for (size_t i = 0; i < INSNS; i++) {
			if (hp_grouped_sum(&counts[i]) > 0)
				continue;
			never++;
			held += WINDOWS * rates[i] <= most;
		}
		ck_assert_uint_ge(10 * held, 9 * never);
		/* The fewer have any, the less; one alone tells 3 in all executions. */
		ck_assert_double_lt(most, 20 * 0.2 * missing[k] / 1000 + 0.02);
	}
}

TEST(others_tell_nothing_of_what_ran_in_one_window)
{
	struct hp_random random = hp_random_seeded(23);
	const struct rare_events *rare = learn(&random, 2, WINDOWS);

	run_in(1);
	ck_assert(isinf(rare_events_most(rare, HP_EVENT_L2I_MISS, &runs)));
	rare = learn(&random, 2, 1);
	run_in(WINDOWS);
	ck_assert_double_gt(rare_events_most(rare, HP_EVENT_L2I_MISS, &runs), 3);
}

TEST(nor_of_code_that_runs_much_more_often)
{
	struct hp_random random = hp_random_seeded(23);
	const struct rare_events *rare = learn(&random, 2, WINDOWS);

	runs.counts[0] = 1e6;
	ck_assert_double_gt(rare_events_most(rare, HP_EVENT_L2I_MISS, &runs), 3);
}

TEST(nor_of_branches_and_data)
{
	struct hp_random random = hp_random_seeded(23);
	const struct rare_events *rare = learn(&random, 2, WINDOWS);

	ck_assert(isinf(rare_events_most(rare, HP_EVENT_MISPREDICTED, &runs)));
	ck_assert(isinf(rare_events_most(rare, HP_EVENT_L2_MISS, &runs)));
}

HP_TEST_MAIN("infer/rare_events")
