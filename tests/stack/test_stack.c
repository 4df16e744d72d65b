/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/stack/stack.h>

#include <math.h>
#include <string.h>

enum { EVENTS_MOST = 48 };

/* Counts of a table, made by hand. */
static struct {
	const struct hp_stack_table *table;
	struct hp_mux_estimates estimates;
	struct hp_mux_estimate events[EVENTS_MOST];
	double covariance[EVENTS_MOST * EVENTS_MOST];
	uint32_t groups[EVENTS_MOST];
	uint32_t numbers[EVENTS_MOST];
	struct hp_stack stack;
} made;

static void begin(const char *table)
{
	memset(&made, 0, sizeof(made));
	made.table = hp_stack_table_named(table);
	ck_assert(made.table);
	made.estimates = (struct hp_mux_estimates){
		.count = made.table->event_count,
		.events = made.events,
		.covariance = made.covariance,
		.groups = made.groups,
		.group_count = 1,
	};
	for (size_t i = 0; i < made.table->event_count; i++) {
		made.events[i] =
			(struct hp_mux_estimate){ .count = NAN, .verdict = HP_MUX_NOT_COUNTED };
		made.numbers[i] = (uint32_t)i;
	}
}

static size_t number_of(const char *symbol)
{
	for (size_t i = 0; i < made.table->event_count; i++)
		if (strcmp(made.table->events[i].symbol, symbol) == 0)
			return i;
	ck_abort_msg("%s has no %s", made.table->name, symbol);
}

static void count(const char *symbol, double value)
{
	made.events[number_of(symbol)] = (struct hp_mux_estimate){
		.count = value,
		.low = value,
		.high = value,
		.freedom = INFINITY,
		.raw = (uint64_t)value,
		.running = 1,
		.verdict = HP_MUX_EXACT,
	};
}

static void estimate(const char *symbol, double value, double deviation)
{
	size_t event = number_of(symbol);

	count(symbol, value);
	made.events[event].verdict = HP_MUX_ESTIMATED;
	made.events[event].running = 0.5;
	made.events[event].raw = (uint64_t)(value / 2);
	made.covariance[event * made.estimates.count + event] = deviation * deviation;
}

static const struct hp_stack *stack(void)
{
	hp_assert_ok(hp_stack_create(made.table, &made.estimates, made.numbers, &made.stack));
	return &made.stack;
}

static double likely(enum hp_stack_component component)
{
	return made.stack.parts[component].values[HP_STACK_INTERVAL];
}

#define near(found, wanted) ck_assert_msg(fabs((found) - (wanted)) < 1e-9, "%g", (double)(found))

/* 1000 cycles of 6 slots: 1200 retired, 300 of wrong paths, 600 of the front end, 3900 of the back. */
static void count_zen(void)
{
	begin("zen-4");
	count("cycles", 1e9);
	count("instructions", 1e9);
	count("retired", 1.2e9);
	count("dispatched", 1.5e9);
	count("fe", 0.6e9);
	count("no_ops", 0.05e9);
	count("be", 3.9e9);
	count("smt", 0);
	count("misp", 3e6);
	count("resync", 1e6);
	count("not_complete", 0.6e9);
	count("load", 0.4e9);
	count("empty", 0.08e9);
	count("no_retire", 0.7e9);
}

TEST(components_are_cycles_per_instruction_and_add_up)
{
	/* A fifth of the slots was dispatched beside the path, three quarters of it by branches. */
	const double beside = (0.1 - 0.033) * 0.2 * 0.75 * (1 - (0.1 - 0.033));
	const double held = 0.05 * 0.75 * 0.65 / 2;
	double sum = 0;

	count_zen();
	stack();
	near(made.stack.cpi, 1);
	near(likely(HP_STACK_BASE), 0.2);
	/* Three of four redirections are of branches; 11 cycles each to fill the pipeline. */
	near(likely(HP_STACK_MISPREDICT), 0.05 * 0.75 - held + 0.033 + beside);
	near(likely(HP_STACK_RESTART), 0.05 * 0.25);
	near(likely(HP_STACK_FETCH), 0.1 - 0.033 - beside);
	near(likely(HP_STACK_DCACHE), (0.65 + held) * 4 / 6);
	near(likely(HP_STACK_CORE), (0.65 + held) * 2 / 6);
	near(likely(HP_STACK_SMT), 0);
	near(likely(HP_STACK_OTHER), 0);
	for (unsigned i = 0; i < HP_STACK_COMPONENTS; i++)
		sum += isnan(likely(i)) ? 0 : likely(i);
	near(sum, 1);
	ck_assert(made.stack.adds_up);
	ck_assert(!made.stack.violated);
}

/* 1000 cycles of 4 slots, half of which the back end left empty. In 400 nothing began while a load had missed
 * L3, in 400 others one instruction did: TMA takes those for the core's. */
TEST(cycles_stalled_by_a_miss_are_the_misses_as_far_as_the_back_end_lost_any)
{
	begin("skylake-sp");
	for (size_t i = 0; i < made.table->event_count; i++)
		count(made.table->events[i].symbol, 0);
	count("cycles", 1e9);
	count("instructions", 1e9);
	count("retired", 2e9);
	count("issued", 2e9);
	count("fe", 1);
	count("no_retire", 0.4e9);
	count("stalls_total", 0.4e9);
	count("stalls_mem", 0.4e9);
	count("stalls_l1d", 0.4e9);
	count("stalls_l2", 0.4e9);
	count("stalls_l3", 0.4e9);
	count("ports1", 0.4e9);
	stack();
	ck_assert_double_eq_tol(likely(HP_STACK_MEMORY), 0.4, 1e-6);
	ck_assert_double_eq_tol(likely(HP_STACK_CORE), 0.1, 1e-6);
	/* TMA's 0.25 of core bound is the other end of the range. */
	ck_assert_double_ge(made.stack.parts[HP_STACK_CORE].high, 0.25);
	ck_assert(made.stack.adds_up);
	/* More than the back end lost cannot be its. */
	count("retired", 3e9);
	count("issued", 3e9);
	stack();
	ck_assert_double_eq_tol(likely(HP_STACK_MEMORY), 0.25, 1e-6);
	ck_assert_double_eq_tol(likely(HP_STACK_CORE), 0, 1e-6);
}

/* A branch in a hundred instructions refills 13 cycles; what resteers take beyond that waits for code. */
TEST(code_that_a_resteer_waits_for_is_not_the_branchs)
{
	static const char *const names[] = { "skylake-sp", "sapphire-rapids-sampled" };

	for (size_t n = 0; n < HP_ARRAY_COUNT(names); n++) {
		begin(names[n]);
		for (size_t i = 0; i < made.table->event_count; i++)
			count(made.table->events[i].symbol, 0);
		count("cycles", 1e9);
		count("instructions", 1e9);
		count("retired", made.table->width * 0.5e9);
		count(n ? "be" : "issued", n ? 0 : made.table->width * 0.6e9);
		count(n ? "misp_slots" : "fe", made.table->width * (n ? 0.1e9 : 0.4e9));
		if (n)
			count("fe", made.table->width * 0.4e9);
		count("misp", 1e7);
		count("resteer", 0.3e9);
		stack();
		near(likely(HP_STACK_MISPREDICT), 0.1 + 0.13 + 0.27 / 6 * (1 - 0.27));
		count("resteer", 0.05e9);
		stack();
		near(likely(HP_STACK_MISPREDICT), 0.1 + 0.05 + 0.35 / 6 * (1 - 0.35));
	}
}

/* Both threads of a core ran all the time: half of its slots were the other one's. Of its own, this one retired
 * half and lost a quarter each to the front end and to memory. */
static const struct {
	const char *name;
	bool has_metrics;
	const char *own; /* what tells the other thread's slots, and what it counts in 1e9 cycles */
	double value;
} threads[] = {
	{ "skylake-sp", false, "alone", 0 },
	{ "ice-lake-sp", true, "slots", 5 * 0.5e9 },
	{ "ice-lake-sp-sampled", false, "distributed", 0.5e9 },
	{ "sapphire-rapids", true, "slots", 6 * 0.5e9 },
	{ "sapphire-rapids-sampled", false, "distributed", 0.5e9 },
};

static void count_two_threads(size_t i)
{
	double slots = 1e9 * hp_stack_table_named(threads[i].name)->width;

	begin(threads[i].name);
	for (size_t j = 0; j < made.table->event_count; j++)
		count(made.table->events[j].symbol, 0);
	count("cycles", 1e9);
	count("instructions", 1e9);
	count(threads[i].has_metrics ? "perf_ret" : "retired", slots / 4);
	count(threads[i].has_metrics ? "perf_fe" : "fe", slots / 8);
	if (i == 0)
		count("issued", slots / 4);
	else
		count(threads[i].has_metrics ? "perf_be" : "be", slots / 8);
	count("stalls_l1d", 0.25e9);
	count("stalls_l2", 0.25e9);
	count("stalls_l3", 0.25e9);
	count("stalls_mem", 0.25e9);
	if (strncmp(threads[i].name, "sapphire", strlen("sapphire")) == 0)
		count(threads[i].has_metrics ? "perf_mem" : "mem_slots", slots / 8);
	if (i == 0)
		count("clock", 1e7);
	count(threads[i].own, threads[i].value);
}

static void check_two_threads(void)
{
	stack();
	near(made.stack.cpi, 1);
	near(likely(HP_STACK_SMT), 0.5);
	near(likely(HP_STACK_BASE), 0.25);
	near(likely(HP_STACK_FETCH), 0.125);
	near(likely(HP_STACK_MEMORY), 0.125);
	near(likely(HP_STACK_MISPREDICT), 0);
	near(likely(HP_STACK_OTHER), 0);
	ck_assert(made.stack.adds_up);
	/* As the vendor has it: shares of its own slots. */
	for (size_t i = 0; i < made.stack.metric_count; i++)
		if (strcmp(made.stack.metrics[i].name, "tma_retiring") == 0)
			near(made.stack.metrics[i].share, 0.5);
}

TEST(slots_of_the_other_thread_are_its_own)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(threads); i++) {
		count_two_threads(i);
		check_two_threads();
	}
}

/* A core that gives one thread more than half tells nobody. */
TEST(how_the_threads_of_an_older_core_shared_it_is_a_range)
{
	count_two_threads(0);
	stack();
	near(made.stack.parts[HP_STACK_SMT].low, 0);
	near(made.stack.parts[HP_STACK_SMT].high, 0.5);
}

/* Nobody but root may count what both threads did: nothing that is known lacks it. */
TEST(what_only_root_may_count_is_missed_where_it_matters)
{
	count_two_threads(0);
	made.events[number_of("recovery_any")].verdict = HP_MUX_NOT_COUNTED;
	made.events[number_of("recovery_any")].count = NAN;
	stack();
	for (unsigned i = 0; i < HP_STACK_OTHER; i++)
		ck_assert_msg(!made.stack.parts[i].missing, "%u lacks %s", i,
			      made.stack.parts[i].missing);
	made.events[number_of("recovery")].count = NAN;
	stack();
	ck_assert_str_eq(made.stack.parts[HP_STACK_MISPREDICT].missing, "int_misc.recovery_cycles");
}

TEST(a_core_whose_threads_nothing_tells_has_one)
{
	count_two_threads(0);
	made.events[number_of("alone")].count = NAN;
	stack();
	ck_assert(isnan(likely(HP_STACK_SMT)));
	ck_assert_str_eq(made.stack.parts[HP_STACK_SMT].missing,
			 "cpu_clk_unhalted.one_thread_active");
	near(likely(HP_STACK_MEMORY), 0.25);
}

TEST(a_range_covers_both_attributions_and_their_doubt)
{
	const struct hp_stack_part *base = &made.stack.parts[HP_STACK_BASE];

	count_zen();
	stack();
	/* 300 cycles retire something. */
	near(base->low, 0.2 - 0.016);
	near(base->high, 0.3 + 0.016);
}

TEST(vendors_metrics_are_shares_of_the_slots)
{
	double found = NAN;

	count_zen();
	stack();
	for (size_t i = 0; i < made.stack.metric_count; i++)
		if (strcmp(made.stack.metrics[i].name, "frontend_bound") == 0)
			found = made.stack.metrics[i].share;
	near(found, 0.1);
}

TEST(what_is_not_counted_is_a_range_within_another)
{
	const struct hp_stack_part *l2 = &made.stack.parts[HP_STACK_L2];

	count_zen();
	stack();
	ck_assert(l2->is_known);
	ck_assert(isnan(likely(HP_STACK_L2)));
	ck_assert_str_eq(l2->missing, "ls_dmnd_fills_from_sys.local_l2");
	near(l2->low, 0);
	near(l2->high, made.stack.parts[HP_STACK_DCACHE].high);
	/* 14 cycles each are the most. */
	count("fill_l2", 1e6);
	stack();
	ck_assert(!l2->missing);
	near(l2->high, 0.014);
}

TEST(what_nothing_counts_stays_in_other)
{
	count_zen();
	made.events[number_of("be")] =
		(struct hp_mux_estimate){ .count = NAN, .verdict = HP_MUX_NOT_COUNTED };
	stack();
	ck_assert(isnan(likely(HP_STACK_DCACHE)));
	near(likely(HP_STACK_OTHER), 0.65);
	/* In 400 cycles the oldest waited for a load. */
	near(made.stack.parts[HP_STACK_DCACHE].high, 0.4 + 0.025);
	ck_assert_str_eq(made.stack.parts[HP_STACK_DCACHE].missing,
			 "de_no_dispatch_per_slot.backend_stalls");
}

TEST(an_event_that_reads_zero_is_dead)
{
	count_zen();
	count("be", 0);
	stack();
	ck_assert(isnan(likely(HP_STACK_CORE)));
	near(likely(HP_STACK_OTHER), 0.65);
}

TEST(a_stack_that_claims_too_much_says_so)
{
	count_zen();
	count("be", 4.8e9);
	stack();
	ck_assert(!made.stack.adds_up);
	near(made.stack.excess, 0.15);
	near(likely(HP_STACK_OTHER), -0.15);
	/* Nothing is rescaled. */
	near(likely(HP_STACK_BASE), 0.2);
	ck_assert_str_eq(made.stack.violated, "dispatched + fe + be + smt = W * cycles");
}

TEST(intervals_of_counts_become_intervals_of_components)
{
	count_zen();
	made.events[number_of("smt")].verdict = HP_MUX_NOT_COUNTED;
	estimate("no_retire", 0.7e9, 0.01e9);
	stack();
	/* Two standard deviations of 0.01. */
	ck_assert(fabs(made.stack.parts[HP_STACK_BASE].high - (0.3 + 0.016 + 0.0196)) < 1e-4);
	near(made.stack.parts[HP_STACK_BASE].low, 0.2 - 0.016);
}

TEST(a_rare_event_that_adds_little_makes_no_interval_wide)
{
	const struct hp_stack_part *core = &made.stack.parts[HP_STACK_CORE];

	count_zen();
	estimate("not_complete", 0.6e9, 0.01e9);
	estimate("load", 0.4e9, 1e4);
	made.events[number_of("load")].freedom = 3;
	stack();
	/* What was not complete but for loads: two standard deviations of 0.01, not three. */
	ck_assert_msg(core->high < 0.662 * 2 / 6 + 0.025 + 0.015, "%g", core->high);
	ck_assert_msg(core->low < 0.2 - 0.025 - 0.0195, "%g", core->low);
	ck_assert_msg(core->low > 0.2 - 0.025 - 0.0225, "%g", core->low);
}

TEST(a_sum_that_holds_makes_counts_more_precise)
{
	count_zen();
	estimate("be", 3.9e9, 0.3e9);
	stack();
	/* The other slots are exact, so this is what they leave. */
	near(likely(HP_STACK_CORE), (0.65 + 0.05 * 0.75 * 0.65 / 2) * 2 / 6);
	ck_assert(made.stack.parts[HP_STACK_CORE].high - likely(HP_STACK_CORE) < 0.027);
}

TEST(too_little_for_an_interval_is_any_share)
{
	count_zen();
	made.events[number_of("smt")].verdict = HP_MUX_NOT_COUNTED;
	estimate("fe", 0.6e9, 0);
	made.events[number_of("fe")].verdict = HP_MUX_INSUFFICIENT;
	stack();
	near(made.stack.parts[HP_STACK_FETCH].low, 0);
	near(made.stack.parts[HP_STACK_FETCH].high, 1);
	ck_assert(made.stack.adds_up);
}

/* What Eyerman et al. call naive: completion has what events times latency leave, if anything. */
TEST(the_naive_accounting_may_leave_nothing_for_completion)
{
	count_zen();
	count("fill_near", 5e6);
	count("fill_far", 0);
	stack();
	near(made.stack.parts[HP_STACK_MEMORY].values[HP_STACK_NAIVE], 2);
	ck_assert(made.stack.parts[HP_STACK_BASE].values[HP_STACK_NAIVE] < -1);
}

TEST(the_erratum_of_neoverse_n2_is_corrected)
{
	static const char *const names[] = { "neoverse-n2-r0p0", "neoverse-n2" };

	const double beside = 0.19 * 0.2 * (1 - 0.19);
	const double held = 0.1 * 0.27 / 2;

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		double surplus = i == 0 ? 1e9 : 0;

		begin(names[i]);
		count("cycles", 1e9);
		count("instructions", 1e9);
		count("retired", 1e9);
		count("ops", 1.25e9);
		count("front_slots", 1e9 + surplus);
		count("back_slots", 1.5e9);
		count("slots", 2.5e9 + surplus);
		count("misp", 1e7);
		stack();
		near(likely(HP_STACK_BASE), 0.8 * 0.5);
		near(likely(HP_STACK_MISPREDICT), 0.2 * 0.5 - held + 0.04 + beside);
		near(likely(HP_STACK_FETCH), 0.19 - beside);
		near(likely(HP_STACK_CORE), 0.3 - 0.03 + held);
		near(likely(HP_STACK_OTHER), 0);
	}
}

/* 1000 cycles of 4 slots; 400 instructions more were begun than completed. */
TEST(neoverse_n1_tells_wrong_paths_by_what_it_speculated)
{
	const double beside = 0.13 * 0.4 / 1.4 * (1 - 0.13);
	const double held = 0.1 * 0.3 / 2;

	begin("neoverse-n1");
	count("cycles", 1e9);
	count("instructions", 1e9);
	count("speculated", 1.4e9);
	count("misp", 1e7);
	count("front_cycles", 0.2e9);
	count("back_cycles", 0.3e9);
	stack();
	near(likely(HP_STACK_BASE), 0.25);
	near(likely(HP_STACK_MISPREDICT), 0.1 - held + 0.07 + beside);
	near(likely(HP_STACK_FETCH), 0.13 - beside);
	near(likely(HP_STACK_CORE), 0.3 + held);
	near(likely(HP_STACK_OTHER), 0.15);
}

TEST(an_unknown_core_has_two_levels)
{
	begin("generic");
	count("cycles", 3e9);
	count("instructions", 1e9);
	stack();
	near(made.stack.cpi, 3);
	near(made.stack.parts[HP_STACK_BASE].high, 1);
	near(likely(HP_STACK_OTHER), 3);
	ck_assert_str_eq(made.stack.parts[HP_STACK_FETCH].missing, "stalled-cycles-frontend");
	near(made.stack.parts[HP_STACK_FETCH].high, 3);
}

TEST(nothing_counted_is_no_stack)
{
	begin("zen-4");
	stack();
	ck_assert(isnan(made.stack.cpi));
}

TEST(the_worst_comes_first_and_other_last)
{
	enum hp_stack_component order[HP_STACK_COMPONENTS];

	count_zen();
	hp_stack_order(stack(), order);
	ck_assert_uint_eq(order[0], HP_STACK_DCACHE);
	ck_assert_uint_eq(order[1], HP_STACK_CORE);
	ck_assert_uint_eq(order[2], HP_STACK_BASE);
	ck_assert_uint_eq(order[HP_STACK_COMPONENTS - 1], HP_STACK_OTHER);
}

HP_TEST_MAIN("stack/stack")
