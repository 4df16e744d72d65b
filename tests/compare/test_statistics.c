/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tests that verdicts rest on: against closed forms, and on data of which the truth is
 * known. */
#include "../../src/compare/distribution.h"
#include "../../src/compare/statistics.h"
#include "made_up.h"

#include <math.h>

/* --- data of which the truth is known ------------------------------------------------------ */

enum { REPLICATES = 5, PROCEDURES = 30 };

/* A program's procedures, each five times on both sides. */
struct program {
	double counts[PROCEDURES][2 * REPLICATES];
	double exposures[2 * REPLICATES];
	struct counts procedures[PROCEDURES];
};

/* Procedure p has 20 * (p + 1) samples a replicate; runs differ by `run_deviation`, all of a run
 * together, and the last procedure's candidate costs `factor` as much. */
static void draw(struct program *program, struct hp_random *random, double run_deviation,
		 double factor)
{
	double all = 20.0 * PROCEDURES * (PROCEDURES + 1) / 2;

	for (size_t r = 0; r < 2 * REPLICATES; r++) {
		double run = exp(run_deviation * made_up_normal(random));

		program->exposures[r] = 1;
		for (size_t p = 0; p < PROCEDURES; p++) {
			double mean = 20 * ((double)p + 1) * run;

			if (r >= REPLICATES && p == PROCEDURES - 1)
				mean *= factor;
			program->counts[p][r] = made_up_count(random, mean, 1);
		}
	}
	for (size_t p = 0; p < PROCEDURES; p++)
		program->procedures[p] = (struct counts){
			.counts = program->counts[p],
			.exposures = program->exposures,
			.replicates = { REPLICATES, REPLICATES },
			.share = 20 * ((double)p + 1) / all,
		};
}

static const struct run_prior assumed = { .deviation = COMPARE_RUN_DEVIATION,
					  .freedom = INFINITY,
					  .pace.inflation = 1 };
static const struct dispersion by_default = {
	COMPARE_DISPERSION, COMPARE_RUN_DEVIATION, 2, 0, INFINITY, INFINITY
};

/* --- distributions --------------------------------------------------------------------------- */

TEST(students_t_of_one_and_two_degrees_has_a_closed_form)
{
	for (double t = 0.01; t < 1000; t *= 1.7) {
		ck_assert_double_eq_tol(student_beyond(t, 1), 1 - 2 / M_PI * atan(t), 1e-12);
		ck_assert_double_eq_tol(student_beyond(-t, 2), 1 - t / sqrt(2 + t * t), 1e-12);
	}
	ck_assert_double_eq_tol(student_beyond(0, 7), 1, 1e-12);
}

TEST(students_t_of_many_degrees_is_normal)
{
	ck_assert_double_eq_tol(student_quantile(0.05, INFINITY), 1.959963984540054, 1e-9);
	ck_assert_double_eq_tol(student_beyond(2, 1e5), erfc(2 / M_SQRT2), 1e-4);
	ck_assert_double_eq_tol(student_beyond(2, 999999), student_beyond(2, 1000001), 1e-6);
}

TEST(so_much_lies_beyond_a_quantile)
{
	static const double shares[] = { 0.999, 0.5, 0.05, 1e-3, 1e-9, 1e-30 };
	static const double freedoms[] = { 0.3, 1, 2.5, 8, 200, 1e5, INFINITY };

	for (size_t i = 0; i < HP_ARRAY_COUNT(shares); i++)
		for (size_t j = 0; j < HP_ARRAY_COUNT(freedoms); j++) {
			double quantile = student_quantile(shares[i], freedoms[j]);
			double beyond = student_beyond(quantile, freedoms[j]);

			ck_assert_msg(fabs(beyond / shares[i] - 1) < 1e-8,
				      "%g beyond the quantile of %g by %g degrees", beyond,
				      shares[i], freedoms[j]);
		}
	ck_assert(isnan(student_quantile(0, 8)));
	ck_assert(isnan(student_quantile(1, 8)));
	ck_assert(isnan(student_quantile(0.05, 0)));
}

/* Tables of 97.5 % quantiles (Abramowitz and Stegun 26.10). */
TEST(quantiles_are_those_of_the_tables)
{
	ck_assert_double_eq_tol(student_quantile(0.05, 1), 12.706, 5e-4);
	ck_assert_double_eq_tol(student_quantile(0.05, 4), 2.776, 5e-4);
	ck_assert_double_eq_tol(student_quantile(0.05, 8), 2.306, 5e-4);
	ck_assert_double_eq_tol(student_quantile(0.05, 30), 2.042, 5e-4);
	ck_assert_double_eq_tol(student_quantile(0.01, 8), 3.355, 5e-4);
}

TEST(derivatives_of_the_gamma_function)
{
	const double euler = 0.5772156649015329;

	ck_assert_double_eq_tol(digamma(1), -euler, 1e-9);
	ck_assert_double_eq_tol(digamma(0.5), -euler - 2 * log(2), 1e-9);
	ck_assert_double_eq_tol(trigamma(1), M_PI * M_PI / 6, 1e-9);
	ck_assert_double_eq_tol(trigamma(0.5), M_PI * M_PI / 2, 1e-9);
	for (double x = 0.01; x < 1e4; x *= 3)
		ck_assert_double_eq_tol(trigamma_inverse(trigamma(x)) / x, 1, 1e-6);
}

/* --- many tests ------------------------------------------------------------------------------ */

TEST(discovery_rates_by_hand)
{
	const double p[] = { 0.03, NAN, 0.01, 0.5, 0.04 };
	double q[5];

	hp_assert_ok(discovery_rates(p, 5, q));
	/* 0.01 * 4 / 1; 0.03 * 4 / 2 is more than 0.04 * 4 / 3, which therefore holds for both. */
	ck_assert_double_eq_tol(q[2], 0.04, 1e-12);
	ck_assert_double_eq_tol(q[0], 0.16 / 3, 1e-12);
	ck_assert_double_eq_tol(q[4], 0.16 / 3, 1e-12);
	ck_assert_double_eq_tol(q[3], 0.5, 1e-12);
	ck_assert_double_nan(q[1]);
}

/* --- runs ------------------------------------------------------------------------------------ */

/* All ways to deal `count` ranks, `base` of them to the base: how many are as far out as
 * `pairs`. */
static double brute_force_p(size_t base, size_t candidate, double pairs)
{
	size_t count = base + candidate;
	double all = 0;
	double out = 0;

	for (unsigned deal = 0; deal < 1u << count; deal++) {
		double won = 0;

		if ((size_t)__builtin_popcount(deal) != base)
			continue;
		for (size_t i = 0; i < count; i++)
			for (size_t j = i + 1; j < count; j++)
				won += (deal >> i & 1) && !(deal >> j & 1);
		all++;
		out += fmin(won, (double)(base * candidate) - won) <= pairs;
	}
	return out / all;
}

/* In every second round all of the base are cheaper: of five and five, 2 of 252 deals. */
TEST(rank_sums_are_counted_exactly)
{
	struct hp_random random = hp_random_seeded(1);

	for (int round = 0; round < 50; round++) {
		double costs[10];
		struct run_costs sides[HP_SIDES] = { { costs, 1 + (size_t)round % 5 },
						     { costs + 5, 1 + (size_t)round / 5 % 5 } };
		double pairs = 0;

		for (size_t i = 0; i < 10; i++)
			costs[i] = made_up_uniform(&random) + (round % 2 && i >= 5);
		for (size_t i = 0; i < sides[0].count; i++)
			for (size_t j = 0; j < sides[1].count; j++)
				pairs += sides[0].costs[i] < sides[1].costs[j];
		pairs = fmin(pairs, (double)(sides[0].count * sides[1].count) - pairs);
		/* Both tails are as heavy, and overlap in the middle alone. */
		ck_assert_double_eq_tol(rank_sum_p(sides),
					brute_force_p(sides[0].count, sides[1].count, pairs),
					1e-12 + (rank_sum_p(sides) > 0.9 ? 0.5 : 0));
	}
}

/* Every way to give signs to so many ranks. */
static double signs_below(size_t count, double sum)
{
	size_t ways = (size_t)1 << count;
	size_t below = 0;

	for (size_t way = 0; way < ways; way++) {
		size_t ranks = 0;

		for (size_t rank = 1; rank <= count; rank++)
			ranks += way >> (rank - 1) & 1 ? rank : 0;
		below += (double)ranks <= sum;
	}
	return (double)below / (double)ways;
}

TEST(signed_ranks_are_counted_exactly)
{
	struct hp_random random = hp_random_seeded(2);
	const size_t partners[] = { 3, 1, 0, 2, 7, 6, 5, 4 };

	for (int round = 0; round < 50; round++) {
		size_t count = round % 2 ? 8 : 4;
		double costs[16];
		const struct run_costs sides[HP_SIDES] = { { costs, count }, { costs + 8, count } };
		double all = (double)(count * (count + 1)) / 2;
		double dearer = 0;

		for (size_t i = 0; i < 16; i++)
			costs[i] = exp(made_up_normal(&random) + (i > 7) * 0.1 * round);
		for (size_t i = 0; i < count; i++) {
			double own = log(costs[8 + partners[i]] / costs[i]);

			for (size_t j = 0; own > 0 && j < count; j++)
				dearer += fabs(log(costs[8 + partners[j]] / costs[j])) <= own;
		}
		dearer = fmin(dearer, all - dearer);
		ck_assert_double_eq_tol(signed_rank_p(sides, partners),
					fmin(1, 2 * signs_below(count, dearer)), 1e-12);
	}
}

enum { MOST_PAIRS = 8 };

/* Runs that took turns, A B B A, base's i-th beside the candidate's i-th: tested as the program's
 * are, or (`paired` is NULL) as pairs whatever they share, without a trend. */
static struct log_ratio compare_turns(double costs[HP_SIDES][MOST_PAIRS], size_t count,
				      bool *paired)
{
	const size_t partners[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const struct run_costs sides[HP_SIDES] = { { costs[0], count }, { costs[1], count } };
	double adjusted[HP_SIDES][MOST_PAIRS], times[HP_SIDES][MOST_PAIRS];
	double pace_of[HP_SIDES][MOST_PAIRS];
	const struct run_costs paced[HP_SIDES] = { { adjusted[0], count }, { adjusted[1], count } };
	struct run_prior prior = assumed;

	for (size_t side = 0; side < HP_SIDES; side++) {
		prior.pace.of[side] = pace_of[side];
		for (size_t i = 0; i < count; i++)
			times[side][i] = (double)(2 * i + (i % 2 != side));
	}
	if (paired) {
		pace_fit_trend(sides, (double *const[]){ times[0], times[1] }, &prior.pace);
		*paired = pace_fit_pairs(sides, partners, &prior.pace);
	} else {
		pace_take_pairs(sides, partners, &prior.pace);
	}
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < count; i++)
			adjusted[side][i] = costs[side][i] / pace_of[side][i];
	return compare_runs(paced, &prior);
}

/* Student's own test of pairs: mean difference over its deviation. */
TEST(pairs_that_share_much_are_tested_by_their_differences)
{
	const double grown[] = { 0.1, 0.12, 0.08, 0.11, 0.09 }; /* mean 0.1, variance 0.00025 */
	double costs[HP_SIDES][MOST_PAIRS] = { { 1.0, 1.5, 2.2, 0.8, 1.2 } };
	struct log_ratio ratio;
	bool paired;

	for (size_t i = 0; i < 5; i++)
		costs[HP_CANDIDATE][i] = costs[HP_BASE][i] * exp(grown[i]);
	ratio = compare_turns(costs, 5, &paired);
	ck_assert(paired);
	ck_assert_double_eq_tol(ratio.value, 0.1, 1e-12);
	ck_assert_double_eq_tol(ratio.deviation, sqrt(0.00025 / 5), 1e-9);
	ck_assert_double_eq_tol(ratio.freedom, 4, 1e-9);
	ck_assert_double_eq_tol(ratio.p, student_beyond(0.1 / sqrt(0.00025 / 5), 4), 1e-9);
}

/* The test is chosen by the data that it is of: no more alarms for that, whatever pairs share. */
TEST(choosing_pairs_by_the_data_makes_no_alarms)
{
	enum { ROUNDS = 20000 };
	const size_t counts[] = { 4, 5, 8 };
	const double shared[] = { 0, 0.5, 1, 3 }; /* deviation, over that of one run */
	struct hp_random random = hp_random_seeded(9);

	for (size_t of = 0; of < HP_ARRAY_COUNT(counts) * HP_ARRAY_COUNT(shared); of++) {
		size_t count = counts[of / HP_ARRAY_COUNT(shared)];
		double much = shared[of % HP_ARRAY_COUNT(shared)];
		size_t alarms = 0;
		size_t pairs = 0;

		for (int round = 0; round < ROUNDS; round++) {
			double costs[HP_SIDES][MOST_PAIRS];
			bool paired;

			for (size_t i = 0; i < count; i++) {
				double both = much * made_up_normal(&random);

				for (size_t side = 0; side < HP_SIDES; side++)
					costs[side][i] =
						exp(0.05 * (both + made_up_normal(&random)));
			}
			alarms += compare_turns(costs, count, &paired).p <= 0.025;
			pairs += paired;
		}
		printf("# %zu pairs that share %.1f: %.2f %% alarms where 2.5 %% are due, pairs in "
		       "%.0f %%\n",
		       count, much, 100.0 * (double)alarms / ROUNDS,
		       100.0 * (double)pairs / ROUNDS);
		ck_assert_double_le((double)alarms / ROUNDS, 0.035);
	}
}

TEST(runs_that_share_nothing_are_no_pairs)
{
	double costs[HP_SIDES][MOST_PAIRS] = { { 1.0, 1.02, 0.98, 1.01, 0.99 },
					       { 1.01, 0.98, 1.02, 0.99, 1.0 } };
	bool paired;

	compare_turns(costs, 5, &paired);
	ck_assert(!paired);
}

static double share_found(double factor, double deviation, size_t base, size_t candidate)
{
	enum { ROUNDS = 4000 };
	struct hp_random random = hp_random_seeded(7);
	size_t found = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double costs[2][10];
		const struct run_costs sides[HP_SIDES] = { { costs[0], base },
							   { costs[1], candidate } };

		for (size_t i = 0; i < 10; i++) {
			costs[0][i] = 1e9 * exp(deviation * made_up_normal(&random));
			costs[1][i] = 1e9 * factor * exp(deviation * made_up_normal(&random));
		}
		found += compare_runs(sides, &assumed).p <= COMPARE_FALSE_ALARMS / 2;
	}
	return (double)found / ROUNDS;
}

TEST(equal_runs_are_seldom_called_different)
{
	const double allowed = COMPARE_FALSE_ALARMS / 2;

	for (size_t runs = 3; runs <= 10; runs += 2)
		ck_assert_double_le(share_found(1, 0.02, runs, runs), allowed * 1.2);
	ck_assert_double_le(share_found(1, 0.02, 1, 1), allowed * 1.2);
	ck_assert_double_le(share_found(1, 0.02, 2, 2), allowed * 1.5);
	ck_assert_double_le(share_found(1, 0.02, 5, 1), allowed * 1.5);
}

TEST(five_percent_in_runs_that_differ_by_one_is_found)
{
	ck_assert_double_ge(share_found(1.05, 0.01, 5, 5), 0.99);
	ck_assert_double_ge(share_found(0.95, 0.01, 5, 5), 0.99);
}

TEST(intervals_of_runs_hold_the_truth)
{
	enum { ROUNDS = 4000 };
	struct hp_random random = hp_random_seeded(3);
	size_t held = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double costs[2][5];
		const struct run_costs sides[HP_SIDES] = { { costs[0], 5 }, { costs[1], 5 } };
		struct log_ratio ratio;
		struct hp_measured change;

		for (size_t i = 0; i < 5; i++) {
			costs[0][i] = exp(0.03 * made_up_normal(&random));
			costs[1][i] = 1.2 * exp(0.01 * made_up_normal(&random));
		}
		ratio = compare_runs(sides, &assumed);
		change = log_ratio_change(&ratio);
		held += change.low <= 0.2 && change.high >= 0.2;
	}
	ck_assert_double_ge((double)held / ROUNDS, 0.94);
	ck_assert_double_le((double)held / ROUNDS, 0.97);
}

TEST(as_many_runs_as_are_said_to_be_needed_do_and_none_help_against_drift)
{
	const double base[] = { 0.97, 1.03, 1.0 };
	const struct run_costs sides[HP_SIDES] = { { base, 3 }, { base, 3 } };
	struct run_prior prior = assumed;
	double deviation = pooled_deviation(sides, &prior.pace);
	size_t runs = runs_needed(sides, &prior, 0.05, COMPARE_FALSE_ALARMS / 2);

	ck_assert_uint_ge(runs, 4);
	/* The rank test's half costs some of it. */
	if (runs <= 10)
		ck_assert_double_ge(share_found(1.05, deviation, runs, runs), 0.7);
	prior.drift = 0.02;
	prior.drift_freedom = INFINITY;
	ck_assert_uint_eq(runs_needed(sides, &prior, 0.03, 0.025), 0);
}

/* --- counts ---------------------------------------------------------------------------------- */

TEST(dispersion_is_learned_from_all_procedures)
{
	struct hp_random random = hp_random_seeded(11);
	double even = 0;
	double deviation = 0;
	static struct program program;

	for (int round = 0; round < 40; round++) {
		struct dispersion learned;

		draw(&program, &random, 0.05, 1);
		hp_assert_ok(
			learn_dispersion(program.procedures, PROCEDURES, &by_default, &learned));
		even += learned.even / 40;
		deviation += learned.deviation / 40;
	}
	ck_assert_double_ge(even, 0.95);
	ck_assert_double_le(even, 1.5);
	ck_assert_double_ge(deviation, 0.04);
	ck_assert_double_le(deviation, 0.06);
}

TEST(few_procedures_leave_what_is_assumed)
{
	struct hp_random random = hp_random_seeded(5);
	static struct program program;
	struct dispersion learned;

	draw(&program, &random, 0, 1);
	hp_assert_ok(learn_dispersion(program.procedures, 3, &by_default, &learned));
	ck_assert_mem_eq(&learned, &by_default, sizeof(learned));
}

/* Programs in which a procedure is found: any that did not change, and the last, which did. */
struct found {
	double wrong;
	double right;
};

/* Adds one program, which is so much of all. */
static void look_at(const struct program *program, double part, struct found *found)
{
	struct dispersion dispersion;
	double p[PROCEDURES];
	double q[PROCEDURES];
	bool wrong = false;

	hp_assert_ok(learn_dispersion(program->procedures, PROCEDURES, &by_default, &dispersion));
	for (size_t i = 0; i < PROCEDURES; i++)
		p[i] = compare_counts(&program->procedures[i], &dispersion).p;
	hp_assert_ok(discovery_rates(p, PROCEDURES, q));
	for (size_t i = 0; i + 1 < PROCEDURES; i++)
		wrong = wrong || q[i] <= COMPARE_FALSE_ALARMS / 2;
	found->wrong += wrong * part;
	found->right += (q[PROCEDURES - 1] <= COMPARE_FALSE_ALARMS / 2) * part;
}

static struct found search(double run_deviation, double factor, size_t base, size_t candidate)
{
	enum { ROUNDS = 600 };
	struct hp_random random = hp_random_seeded(13);
	struct found found = { 0 };
	static struct program program;

	for (int round = 0; round < ROUNDS; round++) {
		draw(&program, &random, run_deviation, factor);
		for (size_t i = 0; i < PROCEDURES; i++) {
			program.procedures[i].counts = &program.counts[i][REPLICATES - base];
			program.procedures[i].exposures = &program.exposures[REPLICATES - base];
			program.procedures[i].replicates[HP_BASE] = base;
			program.procedures[i].replicates[HP_CANDIDATE] = candidate;
		}
		look_at(&program, 1.0 / ROUNDS, &found);
	}
	return found;
}

TEST(unchanged_procedures_are_seldom_found)
{
	ck_assert_double_le(search(0, 1, 5, 5).wrong, 0.04);
	ck_assert_double_le(search(0.02, 1, 5, 5).wrong, 0.04);
	ck_assert_double_le(search(0.05, 1, 3, 3).wrong, 0.04);
	ck_assert_double_le(search(0.02, 1, 1, 1).wrong, 0.04);
	ck_assert_double_le(search(0, 1, 1, 5).wrong, 0.04);
}

TEST(a_procedure_that_costs_more_is_found)
{
	/* 600 samples a replicate: 3000 a side, and a change of ten percent is 3.9 deviations. */
	ck_assert_double_ge(search(0, 1.15, 5, 5).right, 0.95);
	ck_assert_double_ge(search(0.01, 1.15, 5, 5).right, 0.9);
	ck_assert_double_ge(search(0, 0.85, 5, 5).right, 0.95);
}

TEST(what_appears_from_nothing_has_a_least_size)
{
	const double counts[] = { 0, 0, 90, 110 };
	const double exposures[] = { 1, 1, 1, 1 };
	const struct counts appeared = { counts, exposures, { 2, 2 }, 0.1, 0, NULL };
	struct log_ratio ratio = compare_counts(&appeared, &by_default);
	struct hp_measured change = log_ratio_change(&ratio);

	ck_assert_double_le(ratio.p, 0.01);
	ck_assert_double_ge(change.low, 0);
	ck_assert(isfinite(change.high));
}

/* --- counts of runs that ran at the same time ------------------------------------------------ */

/* As draw makes them, but what a pair has in common each procedure has to another extent, as when
 * caches are cold; runs differ beyond that by `own`. */
static void draw_pairs(struct program *program, struct hp_random *random, double own, double factor)
{
	static const size_t partners[REPLICATES] = { 0, 1, 2, 3, 4 };

	draw(program, random, 0, 1);
	for (size_t pair = 0; pair < REPLICATES; pair++) {
		double common = 0.3 * made_up_normal(random);
		double apart[HP_SIDES] = { own * made_up_normal(random),
					   own * made_up_normal(random) };

		for (size_t p = 0; p < PROCEDURES; p++)
			for (size_t side = 0; side < HP_SIDES; side++) {
				double mean = 20 * ((double)p + 1) *
					      exp(common * (double)(p % 3) + apart[side]);

				if (side == HP_CANDIDATE && p == PROCEDURES - 1)
					mean *= factor;
				program->counts[p][side * REPLICATES + pair] =
					made_up_count(random, mean, 1);
			}
	}
	for (size_t p = 0; p < PROCEDURES; p++)
		program->procedures[p].partners = partners;
}

static struct found search_pairs(double own, double factor)
{
	enum { ROUNDS = 2000 };
	struct hp_random random = hp_random_seeded(17);
	struct found found = { 0 };
	static struct program program;

	for (int round = 0; round < ROUNDS; round++) {
		draw_pairs(&program, &random, own, factor);
		look_at(&program, 1.0 / ROUNDS, &found);
	}
	return found;
}

TEST(what_pairs_have_in_common_is_no_alarm)
{
	ck_assert_double_le(search_pairs(0, 1).wrong, 0.04);
	ck_assert_double_le(search_pairs(0.01, 1).wrong, 0.04);
	ck_assert_double_le(search_pairs(0.03, 1).wrong, 0.04);
}

TEST(nor_does_it_hide_a_procedure_that_costs_more)
{
	/* Nearly as without it (a_procedure_that_costs_more_is_found), though pairs of this
	 * procedure differ by 60 %. */
	ck_assert_double_ge(search_pairs(0, 1.15).right, 0.9);
	ck_assert_double_ge(search_pairs(0.01, 1.15).right, 0.85);
}

/* Of two pairs of 100 samples each the candidate has 60 and 40: half is expected, and each is two
 * deviations (of 5) away from that. */
TEST(dispersion_of_pairs_by_hand)
{
	const double counts[] = { 40, 60, 40, 60 };
	const double exposures[] = { 1, 1, 1, 1 };
	const size_t partners[] = { 1, 0 };
	const struct counts crossed = { counts, exposures, { 2, 2 }, 0, 0, partners };
	const struct counts all = { counts, exposures, { 2, 2 }, 0, 0, NULL };
	double freedom;

	ck_assert_double_eq_tol(own_dispersion(&crossed, &freedom), 8, 1e-12);
	ck_assert_double_eq_tol(freedom, 1, 1e-12);
	/* 10 away from 50 each, whoever ran beside whom. */
	ck_assert_double_eq_tol(own_dispersion(&all, &freedom), 4, 1e-12);
	ck_assert_double_eq_tol(freedom, 2, 1e-12);
}

TEST(few_pairs_are_worth_what_is_assumed_and_little_more)
{
	double costs[HP_SIDES][MOST_PAIRS] = { { 1, 2 }, { 1.1, 2.2 } };
	const struct log_ratio ratio = compare_turns(costs, 2, NULL);

	ck_assert_double_eq_tol(ratio.value, log(1.1), 1e-12);
	/* Two assumed degrees, and the one of two pairs, which do not differ at all. */
	ck_assert_double_eq_tol(ratio.freedom, 3, 1e-9);
	ck_assert_double_eq_tol(ratio.deviation,
				COMPARE_RUN_DEVIATION * sqrt(2.0 / 3.0 * (0.5 + 0.5)), 1e-12);
}

HP_TEST_MAIN("compare/statistics")
