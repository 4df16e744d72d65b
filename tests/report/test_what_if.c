/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What other cores would save, of predictions that are known. */
#include "../support.h"

#include <hpcprof/analyze/what_if.h>

#include <hpcprof/base/number.h>

#include <math.h>

static const struct hp_core *core(void)
{
	static struct hp_core made;

	made = *hp_core_named("zen-3");
	made.l2_cycles = 10;
	made.memory_cycles = 410;
	return &made;
}

/* 1000 cycles: 400 mispredicted, 300 of 2 lines from afar, and 100 of either that the other
 * hides. */
static struct hp_prediction prediction(void)
{
	struct hp_prediction made = { .measured = 1000, .far_lines = 2 };

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		made.predicted[lane] = 1000;
	made.predicted[HP_LANE_WIDTH] = made.predicted[HP_LANE_IDEAL] = 200;
	made.predicted[HP_LANE_NO_MISPREDICT] = 600;
	made.predicted[HP_LANE_NO_FAR] = made.predicted[HP_LANE_NO_DCACHE] = 700;
	for (unsigned lane = HP_LANE_ONLY_MISPREDICT; lane < HP_LANES; lane++)
		made.predicted[lane] = 200;
	made.predicted[HP_LANE_ONLY_MISPREDICT] = 700;
	made.predicted[HP_LANE_ONLY_DCACHE] = 600;
	return made;
}

static struct hp_what_gain gain_of(const char *text, const struct hp_prediction *prediction)
{
	struct hp_what_if what_if;
	struct hp_what_gain gain;

	hp_assert_ok(hp_what_if_parse(text, &what_if));
	gain = hp_what_if_gain(&what_if, core(), prediction);
	ck_assert_double_le(gain.low, gain.high);
	if (isfinite(gain.likely)) {
		ck_assert_double_le(gain.low, gain.likely);
		ck_assert_double_ge(gain.high, gain.likely);
	}
	return gain;
}

TEST(a_perfect_part_saves_what_the_core_without_it_takes_less)
{
	struct hp_prediction made = prediction();
	struct hp_what_gain gain = gain_of("branch:perfect", &made);

	ck_assert_double_eq_tol(gain.likely, 400, 1e-9);
	ck_assert_double_gt(gain.low, 300);
	ck_assert_double_lt(gain.high, 500);
	ck_assert_double_eq_tol(gain_of("l1d:perfect", &made).likely, 300, 1e-9);
	ck_assert_double_eq_tol(gain_of("dtlb:perfect", &made).likely, 0, 1e-9);
}

TEST(what_no_window_saw_may_be_saved_or_not)
{
	struct hp_prediction made = prediction();
	struct hp_what_gain all = gain_of("branch:perfect", &made), some;

	made.apart = 500;
	some = gain_of("branch:perfect", &made);
	ck_assert_double_eq_tol(some.likely, all.likely, 1e-9);
	ck_assert_double_eq_tol(some.low, all.low / 2, 1e-9);
	ck_assert_double_eq_tol(some.high, all.high / 2 + 500, 1e-9);
	made.apart = 2000;
	some = gain_of("branch:perfect,l1d:perfect", &made);
	ck_assert_double_eq_tol(some.high, 1000, 1e-9);
}

TEST(what_was_measured_and_not_predicted_may_be_saved_and_what_was_not_measured_not)
{
	struct hp_prediction made = prediction();
	struct hp_what_gain gain;

	made.measured = 1500;
	gain = gain_of("branch:perfect", &made);
	ck_assert_double_eq_tol(gain.likely, 400, 1e-9);
	ck_assert_double_ge(gain.high, 900);
	made.measured = 500;
	gain = gain_of("branch:perfect", &made);
	ck_assert_double_eq_tol(gain.likely, 200, 1e-9);
	ck_assert_double_eq_tol(gain.low, 0, 1e-9);
}

/* 300 cycles of 400 that the latency has above the second level's. */
TEST(half_the_latency_saves_half_at_least_and_each_miss_at_most)
{
	struct hp_prediction made = prediction();
	struct hp_what_gain gain = gain_of("memory:0.5x", &made);

	ck_assert_double_eq_tol(gain.likely, 300 * 205 / 400.0, 1e-9);
	ck_assert_double_ge(gain.high, 300);
	made.far_lines = 1;
	ck_assert_double_le(gain_of("memory:0.5x", &made).high, 205 * 1.2);
	gain = gain_of("memory:2x", &made);
	ck_assert_double_eq_tol(gain.likely, -300 * 410 / 400.0, 1e-9);
	ck_assert_double_le(gain.low, -410);
	ck_assert_double_lt(gain.high, 0);
}

TEST(several_changes_save_as_much_as_the_best_and_not_more_than_all)
{
	struct hp_prediction made = prediction();
	struct hp_what_gain gain = gain_of("branch:perfect,l2:perfect", &made);

	ck_assert_double_eq_tol(gain.likely, 800, 1);
	ck_assert_double_ge(gain.low, 300);
	ck_assert_double_le(gain.high, 1000);
	gain = gain_of("l1d:perfect,l2:perfect", &made);
	ck_assert_double_lt(gain.likely, 450);
}

TEST(of_a_larger_size_bounds_are_known)
{
	struct hp_prediction made = prediction();
	struct hp_what_gain gain = gain_of("l2:64M", &made);

	ck_assert(isnan(gain.likely));
	ck_assert_double_eq_tol(gain.low, 0, 1e-9);
	ck_assert_double_ge(gain.high, 300);
	ck_assert(isnan(gain_of("l2:64M,branch:perfect", &made).likely));
	ck_assert_double_ge(gain_of("l2:64M,branch:perfect", &made).low, 300);
}

static const struct {
	const char *name, *text;
	enum hp_error_class class;
} refused[] = {
	{ "nothing", "", HP_ERROR_USAGE },
	{ "an unknown part", "l4:perfect", HP_ERROR_USAGE },
	{ "a part of a name", "bran:perfect", HP_ERROR_USAGE },
	{ "no value", "branch", HP_ERROR_USAGE },
	{ "an empty value", "branch:", HP_ERROR_USAGE },
	{ "a size of what has none", "branch:4096", HP_ERROR_USAGE },
	{ "a factor that is no number", "memory:halfx", HP_ERROR_USAGE },
	{ "a factor without its x", "memory:0.5", HP_ERROR_USAGE },
	{ "a factor of 0", "memory:0x", HP_ERROR_USAGE },
	{ "a factor that is too large", "memory:1000x", HP_ERROR_USAGE },
	{ "an empty change after a good one", "branch:perfect,", HP_ERROR_USAGE },
	{ "a size of a part twice", "l2:64M,l2:32M", HP_ERROR_USAGE },
	{ "a perfect buffer", "rob:perfect", HP_ERROR_USAGE },
	{ "a long one",
	  "branch:perfectperfectperfectperfectperfectperfectperfectperfectperfectperfect",
	  HP_ERROR_USAGE },
	{ "too many",
	  "l2:perfect,l2:perfect,l2:perfect,l2:perfect,l2:perfect,l2:perfect,l2:perfect,l2:perfect,"
	  "l2:perfect",
	  HP_ERROR_USAGE },
};

TEST(what_is_not_known_is_refused)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(refused); i++) {
		struct hp_what_if what_if;
		struct hp_error *error = hp_what_if_parse(refused[i].text, &what_if);

		ck_assert_msg(error != NULL, "%s is taken", refused[i].name);
		ck_assert_msg(error->class == refused[i].class, "%s: %s", refused[i].name,
			      error->message);
		hp_error_destroy(error);
	}
}

/* 100 cycles less on the core with other sizes; lines of unknown place are half in memory. */
TEST(what_was_timed_with_other_sizes_is_what_is_saved)
{
	struct hp_prediction made = prediction();
	struct hp_what_gain gain;

	made.has_resized = true;
	made.measured = 1200;
	made.predicted[HP_LANE_MEMORY] = 1400;
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		made.resized[lane] = 900;
	made.resized[HP_LANE_MEMORY] = 1300;
	gain = gain_of("l2:64M", &made);
	ck_assert_double_eq_tol(gain.likely, 100, 1e-9);
	ck_assert_double_gt(gain.low, 50);
	ck_assert_double_lt(gain.high, 150);
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		made.resized[lane] += 200;
	gain = gain_of("rob:64", &made);
	ck_assert_double_eq_tol(gain.likely, -100, 1e-9);
	/* Of one of several, and beside other changes, bounds are known. */
	ck_assert(isnan(gain_of("l2:64M,branch:perfect", &made).likely));
}

static const struct {
	const char *text;
	bool has_resized, is_known;
} checked[] = {
	{ "l2:64M", false, true },	   { "l2:64K", false, false },
	{ "l2:64K", true, true },	   { "rob:4096", false, false },
	{ "rob:4096,l2:64M", true, true }, { "branch:perfect,memory:2x", false, true },
};

TEST(sizes_that_nothing_is_known_of_are_told)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(checked); i++) {
		struct hp_what_if what_if;
		struct hp_error *error;

		hp_assert_ok(hp_what_if_parse(checked[i].text, &what_if));
		error = hp_what_if_check(&what_if, core(), checked[i].has_resized);
		ck_assert_msg(!error == checked[i].is_known, "%s", checked[i].text);
		ck_assert(!error || error->class == HP_ERROR_INSUFFICIENT);
		if (error)
			hp_error_destroy(error);
	}
}

HP_TEST_MAIN("report/what_if")
