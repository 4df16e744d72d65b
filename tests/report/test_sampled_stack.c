/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stall stacks of samples whose events are known: `memory` waits for memory, `code` for code. */
#include "fixture.h"
#include "../json.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <string.h>

enum { MEMORY_AT = 0x10, CODE_AT = 0x90, SIZE = 0x40, THOUSAND = 1000, MOST_COUNTS = 96 };

static char intel[] = "GenuineIntel";
static const struct hp_cpu skylake_sp = {
	.vendor = intel, .family = 6, .model = 0x55, .stepping = 4
};
static char memory_name[] = "memory";
static char code_name[] = "code";
static const struct hp_symbol symbols[] = {
	{ .offset = { MEMORY_AT }, .size = SIZE, .name = memory_name },
	{ .offset = { CODE_AT }, .size = SIZE, .name = code_name },
};

/* Of 1000 cycles of `memory` and 500 of `code`, in thousands: four slots in each. */
static const struct {
	const char *event;
	uint64_t memory, code;
} truth[] = {
	{ "cycles:u", 1000, 500 },
	{ "instructions:u", 400, 400 },
	{ "stalls/uops_retired.retire_slots/u", 400, 400 },
	{ "stalls/uops_issued.any/u", 400, 400 },
	{ "stalls/idq_uops_not_delivered.core/u", 40, 1200 },
	{ "stalls/int_misc.recovery_cycles/u", 1, 1 },
	{ "stalls/br_misp_retired.all_branches/u", 1, 1 },
	{ "stalls/machine_clears.count/u", 0, 1 },
	{ "stalls/int_misc.clear_resteer_cycles/u", 1, 1 },
	{ "stalls/icache_16b.ifdata_stall/u", 2, 200 },
	{ "stalls/icache_16b.ifdata_stall:c1:e/u", 0, 10 },
	{ "stalls/icache_tag.stalls/u", 0, 2 },
	{ "stalls/cycle_activity.stalls_mem_any/u", 850, 10 },
	{ "stalls/cycle_activity.stalls_total/u", 860, 300 },
	{ "stalls/cycle_activity.stalls_l1d_miss/u", 840, 8 },
	{ "stalls/exe_activity.bound_on_stores/u", 1, 1 },
	{ "stalls/cycle_activity.stalls_l2_miss/u", 830, 6 },
	{ "stalls/cycle_activity.stalls_l3_miss/u", 800, 4 },
	{ "stalls/exe_activity.1_ports_util/u", 20, 20 },
	{ "stalls/exe_activity.2_ports_util/u", 20, 20 },
};

static struct fixture_count counts[MOST_COUNTS];
static struct fixture_place places[MOST_COUNTS];
static size_t count_count;

static void add(const char *event, uint64_t offset, uint64_t samples, uint32_t cpu)
{
	ck_assert_uint_lt(count_count, MOST_COUNTS);
	if (!samples)
		return;
	places[count_count] = (struct fixture_place){ .tid = cpu, .cpu = cpu };
	counts[count_count++] =
		(struct fixture_count){ event, &fixture_jit, "lua", 10, THOUSAND, offset, samples };
}

/* `part`: of the samples, so many. `memory` runs on CPU 0, `code` on CPU 1. */
static void add_all(double part, bool with_stalls)
{
	count_count = 0;
	for (size_t i = 0; i < HP_ARRAY_COUNT(truth); i++) {
		if (!with_stalls && strchr(truth[i].event, '/'))
			break;
		add(truth[i].event, MEMORY_AT, (uint64_t)(part * (double)truth[i].memory * 100), 1);
		add(truth[i].event, CODE_AT, (uint64_t)(part * (double)truth[i].code * 100), 2);
	}
}

static struct fixture *recorded(const struct hp_cpu *cpu)
{
	struct fixture *fixture = fixture_create();
	const struct fixture_epoch epoch = {
		.counts = counts,
		.count = count_count,
		.places = places,
		.symbols = symbols,
		.symbol_count = HP_ARRAY_COUNT(symbols),
		.cpu = cpu,
	};

	fixture_add(fixture, &epoch);
	return fixture;
}

static json_t *stacks_of(struct fixture *fixture, const char *by)
{
	struct hp_report_options options = { .view = HP_VIEW_STACK, .format = HP_FORMAT_JSON };

	options.of.by = by;
	return json_parsed(fixture_output(fixture, &options));
}

static double share(json_t *of, const char *component, const char *which)
{
	return number_at(of, "stack.%s.%s", component, which) / number_at(of, "cpi.value");
}

static double sum_of(json_t *of)
{
	double sum = 0;
	const char *name;
	json_t *part;

	json_object_foreach(json_object_get(of, "stack"), name, part)
	{
		json_t *likely = json_object_get(part, "likely");

		if (json_is_number(likely) && !json_object_get(part, "within"))
			sum += json_number_value(likely);
	}
	return sum;
}

TEST(each_procedure_has_the_stack_of_its_own_samples)
{
	json_t *document, *memory, *code;

	add_all(1, true);
	document = stacks_of(recorded(&skylake_sp), NULL);
	ck_assert_str_eq(string_at(document, "schema"), "hpcprof-stall-stack/1");
	ck_assert_str_eq(string_at(document, "core"), "skylake-sp");
	memory = json_with(json_at(document, "rows"), "procedure", "memory");
	code = json_with(json_at(document, "rows"), "procedure", "code");
	ck_assert_double_eq_tol(number_at(memory, "cpi.value"), 2.5, 1e-9);
	ck_assert_double_eq_tol(number_at(code, "cpi.value"), 1.25, 1e-9);
	ck_assert_double_eq_tol(number_at(document, "program.cpi.value"), 1500.0 / 800, 1e-9);
	/* 800 of 1000 cycles had an L3 miss outstanding; 1200 of 2000 slots no instructions. */
	ck_assert_double_gt(share(memory, "memory", "likely"), 0.6);
	ck_assert_double_lt(share(code, "memory", "high"), 0.15);
	ck_assert_double_lt(share(memory, "icache", "high"), 0.1);
	ck_assert_double_gt(share(code, "icache", "likely") + share(code, "fetch", "likely"), 0.55);
	ck_assert_double_eq_tol(sum_of(memory), 2.5, 1e-6);
	ck_assert_double_eq_tol(sum_of(code), 1.25, 1e-6);
	ck_assert_double_eq_tol(sum_of(json_at(document, "program")), 1500.0 / 800, 1e-6);
}

TEST(fewer_samples_make_wider_ranges_around_the_same)
{
	json_t *many, *few;

	add_all(1, true);
	many = json_with(json_at(stacks_of(recorded(&skylake_sp), NULL), "rows"), "procedure",
			 "memory");
	add_all(0.01, true);
	few = json_with(json_at(stacks_of(recorded(&skylake_sp), NULL), "rows"), "procedure",
			"memory");
	ck_assert_double_eq_tol(share(many, "memory", "likely"), share(few, "memory", "likely"),
				0.01);
	ck_assert_double_gt(number_at(few, "cpi.high") - number_at(few, "cpi.low"),
			    5 * (number_at(many, "cpi.high") - number_at(many, "cpi.low")));
	ck_assert_double_lt(share(few, "memory", "low"), share(many, "memory", "low"));
	ck_assert_double_gt(share(few, "memory", "high"), share(many, "memory", "high"));
}

TEST(stacks_are_told_apart_by_what_by_says)
{
	json_t *document, *row;

	add_all(1, true);
	document = stacks_of(recorded(&skylake_sp), "cpu");
	ck_assert_uint_eq(json_array_size(json_at(document, "rows")), 2);
	row = json_at(document, "rows.0");
	ck_assert_double_eq(number_at(row, "cpu"), 0);
	ck_assert_double_gt(share(row, "memory", "likely"), 0.6);
	row = json_at(document, "rows.1");
	ck_assert_double_eq(number_at(row, "cpu"), 1);
	ck_assert_double_lt(share(row, "memory", "likely"), 0.1);
}

TEST(what_was_not_sampled_is_named_and_is_a_range)
{
	size_t kept = 0;
	json_t *document;

	add_all(1, true);
	for (size_t i = 0; i < count_count; i++)
		if (!strstr(counts[i].event, "icache_16b.ifdata_stall/"))
			counts[kept++] = counts[i];
	count_count = kept;
	document = stacks_of(recorded(&skylake_sp), NULL);
	ck_assert_str_eq(string_at(document, "program.stack.icache.not_counted"),
			 "icache_16b.ifdata_stall");
	ck_assert(json_is_null(json_at(document, "program.stack.icache.likely")));
	ck_assert_double_eq_tol(sum_of(json_at(document, "program")), 1500.0 / 800, 1e-6);
}

TEST(cycles_and_instructions_alone_have_two_levels)
{
	struct hp_report_options options = { .view = HP_VIEW_STACK };
	struct fixture *fixture;

	add_all(1, false);
	fixture = recorded(NULL);
	hp_assert_contains(fixture_output(fixture, &options),
			   "program, 1.88 cycles per instruction");
	hp_assert_contains(fixture->output, "only two levels can be told",
			   "2.50 cycles per instruction");
}

TEST(counts_of_some_epochs_only_have_no_ratio_to_cycles_of_all)
{
	static const char *const all[] = { "with", "without", NULL };
	struct hp_report_options options = { .view = HP_VIEW_STACK, .format = HP_FORMAT_JSON };
	struct fixture *fixture = fixture_create();
	struct fixture_epoch epoch = { .label = "with",
				       .counts = counts,
				       .places = places,
				       .symbols = symbols,
				       .symbol_count = HP_ARRAY_COUNT(symbols),
				       .cpu = &skylake_sp };
	json_t *document;

	add_all(1, true);
	epoch.count = count_count;
	fixture_add(fixture, &epoch);
	add_all(1, false);
	epoch.count = count_count;
	epoch.label = "without";
	epoch.later_ns = 1000000000;
	fixture_add(fixture, &epoch);
	hp_assert_ok(fixture_report(fixture, &options, all));
	document = json_parsed(fixture->output);
	ck_assert(json_is_null(json_at(document, "program.stack.base.likely")));
	ck_assert_double_eq_tol(number_at(document, "program.cpi.value"), 1500.0 / 800, 1e-9);
}

TEST(views_of_samples_leave_the_extra_profile_out_unless_asked)
{
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };
	struct fixture *fixture;

	add_all(1, true);
	fixture = recorded(&skylake_sp);
	hp_assert_lacks(fixture_output(fixture, &options), "stalls/");
	hp_assert_contains(fixture->output, "instructions:u");
	options.of.event = "stalls/uops*";
	hp_assert_contains(fixture_output(fixture, &options), "stalls/uops_issued.any/u");
}

TEST(csv_has_a_record_for_each_component_of_each_row)
{
	struct hp_report_options options = { .view = HP_VIEW_STACK, .format = HP_FORMAT_CSV };
	const char *csv;

	add_all(1, true);
	csv = fixture_output(recorded(&skylake_sp), &options);
	hp_assert_contains(csv, "image,procedure,component,cpi,likely,low,high\r\n",
			   "\r\n[jit lua],memory,memory,2.5,", "\r\n,,base,1.875,");
	/* All have the same components. */
	ck_assert_uint_eq(fixture_csv_records(csv) % 3, 0);
}

TEST(windows_have_no_stacks_by_cpu_and_no_counters_no_stack)
{
	struct hp_report_options options = { .view = HP_VIEW_STACK,
					     .stacks = HP_STACKS_OF_WINDOWS };
	static const char *const latest[] = { NULL };
	struct fixture *fixture;

	options.of.by = "cpu";
	add_all(1, true);
	fixture = recorded(&skylake_sp);
	hp_assert_fails(HP_ERROR_USAGE, fixture_report(fixture, &options, latest));
	count_count = 0;
	add("cpu-clock:u", MEMORY_AT, 10, 1);
	fixture = recorded(&skylake_sp);
	options = (struct hp_report_options){ .view = HP_VIEW_STACK,
					      .stacks = HP_STACKS_OF_COUNTERS };
	hp_assert_fails(HP_ERROR_INSUFFICIENT, fixture_report(fixture, &options, latest));
}

static void part(struct hp_stack *stack, enum hp_stack_component component,
		 enum hp_stack_component within, double high)
{
	stack->parts[component] =
		(struct hp_stack_part){ .is_known = true, .within = within, .high = high };
}

TEST(limits_of_causes_are_upper_ends_in_cycles)
{
	struct hp_stack stack = { .cpi = 2, .cycles = 1000 };
	double limits[HP_CAUSE_DYNAMIC_COUNT];

	part(&stack, HP_STACK_DTLB, HP_STACK_OTHER, 0.2);
	part(&stack, HP_STACK_L2, HP_STACK_OTHER, 0.1);
	part(&stack, HP_STACK_L3, HP_STACK_DCACHE, 0.5);
	part(&stack, HP_STACK_MEMORY, HP_STACK_DCACHE, 0.5);
	part(&stack, HP_STACK_DCACHE, HP_STACK_OTHER, 0.6);
	hp_stalled_limits(&stack, limits);
	ck_assert_double_eq_tol(limits[HP_CAUSE_DTLB], 100, 1e-9);
	/* L2 beside the data cache, which has the others. */
	ck_assert_double_eq_tol(limits[HP_CAUSE_DCACHE], 350, 1e-9);
	ck_assert(isinf(limits[HP_CAUSE_MISPREDICT]));
	ck_assert(isinf(limits[HP_CAUSE_STORE_FORWARD]));
	stack.cpi = NAN;
	hp_stalled_limits(&stack, limits);
	ck_assert(isinf(limits[HP_CAUSE_DTLB]));
}

HP_TEST_MAIN("report/sampled_stack")
