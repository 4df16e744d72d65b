/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/stack/phases.h>

#include <math.h>
#include <string.h>

enum { WIDTH = 6, TEN_MINUTES = 6000 /* intervals of 100 ms */, SERIES = 12, CHANGES_MOST = 200 };

/* --- synthetic stacks ------------------------------------------------------------------------- */

struct synthetic {
	double *values;
	size_t count;
	size_t changes[CHANGES_MOST];
	size_t change_count;
};

static double uniform(struct hp_random *random)
{
	return (double)hp_random_between(random, 1, 1u << 30) / (double)(1u << 30);
}

static double normal(struct hp_random *random)
{
	return sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

/* Stretches of 10 to 300 intervals, and changes of 3 to 8 standard deviations of two components, or
 * one stretch; noise with some memory. */
static struct synthetic make(uint64_t seed, bool changes, double memory)
{
	struct hp_random random = hp_random_seeded(seed);
	struct synthetic made = { .count = TEN_MINUTES,
				  .values = calloc(TEN_MINUTES * WIDTH, sizeof(double)) };
	double means[WIDTH] = { 0.3, 0.2, 0.1, 0.5, 0.05, 0.4 };
	double noise[WIDTH] = { 0 };
	size_t next = changes ? hp_random_between(&random, 10, 300) : SIZE_MAX;

	ck_assert(made.values);
	for (size_t i = 0; i < made.count; i++) {
		if (i == next) {
			size_t which = hp_random_between(&random, 0, WIDTH - 1);
			double change = 0.01 * (3 + 5 * uniform(&random));

			means[which] += uniform(&random) < 0.5 ? change : -change;
			means[(which + 1) % WIDTH] += change;
			made.changes[made.change_count++] = i;
			next = i + hp_random_between(&random, 10, 300);
		}
		for (size_t j = 0; j < WIDTH; j++) {
			noise[j] = memory * noise[j] +
				   sqrt(1 - memory * memory) * 0.01 * normal(&random);
			made.values[i * WIDTH + j] = means[j] + noise[j];
		}
	}
	return made;
}

struct score {
	size_t hits, found, changes;
};

/* A change is found within an interval of where it is. */
static void judge(const struct synthetic *made, struct score *score)
{
	size_t *ends;
	size_t count;

	hp_assert_ok(hp_phases_find(made->values, made->count, WIDTH, 1.5, &ends, &count));
	ck_assert_uint_eq(ends[count - 1], made->count);
	score->found += count - 1;
	score->changes += made->change_count;
	for (size_t i = 0; i + 1 < count; i++)
		for (size_t j = 0; j < made->change_count; j++)
			if (ends[i] + 1 >= made->changes[j] && ends[i] <= made->changes[j] + 1) {
				score->hits++;
				break;
			}
	free(ends);
}

static struct score judge_all(bool changes, double memory)
{
	struct score score = { 0 };

	for (uint64_t i = 0; i < SERIES; i++) {
		struct synthetic made = make(1 + i, changes, memory);

		judge(&made, &score);
		free(made.values);
	}
	return score;
}

TEST(changes_are_found_and_no_others)
{
	struct score score = judge_all(true, 0);
	double precision = (double)score.hits / (double)score.found;
	double recall = (double)score.hits / (double)score.changes;
	double f1 = 2 * precision * recall / (precision + recall);

	printf("# %zu changes: F1 %.3f (precision %.3f, recall %.3f)\n", score.changes, f1,
	       precision, recall);
	ck_assert_msg(f1 >= 0.95, "F1 %.3f", f1);
}

TEST(ten_minutes_without_a_change_have_at_most_one)
{
	static const double memories[] = { 0, 0.3, 0.6 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(memories); i++) {
		struct score score = judge_all(false, memories[i]);

		printf("# memory %.1f: %zu false changes in %d times 10 minutes\n", memories[i],
		       score.found, SERIES);
		ck_assert_msg(score.found <= SERIES, "%zu", score.found);
	}
}

/* --- small ones ------------------------------------------------------------------------------- */

static size_t phases_of(const double *values, size_t count, size_t *second_ends)
{
	size_t *ends;
	size_t phases;

	hp_assert_ok(hp_phases_find(values, count, 1, 1.5, &ends, &phases));
	*second_ends = phases > 1 ? ends[0] : 0;
	free(ends);
	return phases;
}

TEST(one_step_is_two_phases)
{
	double values[40];
	size_t end;

	for (size_t i = 0; i < HP_ARRAY_COUNT(values); i++)
		values[i] = (i < 17 ? 1 : 2) + 0.01 * (double)(i * 7 % 5);
	ck_assert_uint_eq(phases_of(values, HP_ARRAY_COUNT(values), &end), 2);
	ck_assert_uint_eq(end, 17);
}

TEST(a_constant_is_one_phase)
{
	double values[40];
	size_t end;

	for (size_t i = 0; i < HP_ARRAY_COUNT(values); i++)
		values[i] = 3;
	ck_assert_uint_eq(phases_of(values, HP_ARRAY_COUNT(values), &end), 1);
}

TEST(what_is_too_short_is_one_phase)
{
	const double values[] = { 1, 9, 1, 9 };
	size_t end;

	ck_assert_uint_eq(phases_of(values, HP_ARRAY_COUNT(values), &end), 1);
	ck_assert_uint_eq(phases_of(values, 1, &end), 1);
	ck_assert_uint_eq(phases_of(values, 0, &end), 0);
}

TEST(a_single_outlier_is_no_phase)
{
	double values[60];
	size_t end;

	for (size_t i = 0; i < HP_ARRAY_COUNT(values); i++)
		values[i] = 1 + 0.01 * (double)(i * 7 % 5);
	values[30] = 1.05;
	ck_assert_uint_eq(phases_of(values, HP_ARRAY_COUNT(values), &end), 1);
}

HP_TEST_MAIN("stack/phases")
