/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUs, tracepoints and their encodings, from trees that look like other machines'. */
#include "../support.h"
#include "tree.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

#define DEVICES "/sys/bus/event_source/devices/"

struct expectation {
	const char *text;
	uint32_t type;
	uint64_t config;
	uint64_t config1;
	const char *name;
};

static void check_encodings(const struct tree_file *files, const struct expectation *cases,
			    size_t count)
{
	struct hp_machine machine = tree_of(files);

	for (size_t i = 0; i < count; i++) {
		struct hp_event_list list = { 0 };

		hp_assert_ok(hp_event_parse(cases[i].text, &machine, &list));
		ck_assert_uint_eq(list.count, 1);
		ck_assert_str_eq(list.events[0].name, cases[i].name);
		ck_assert_uint_eq(list.events[0].type, cases[i].type);
		ck_assert_uint_eq(list.events[0].config, cases[i].config);
		ck_assert_uint_eq(list.events[0].config1, cases[i].config1);
		hp_event_list_clear(&list);
	}
}

/* Intel's layout: event in bits 0-7, umask 8-15, inv 23, cmask 24-31 (SDM, IA32_PERFEVTSELx). */
TEST(sapphire_rapids_events_encode_into_its_event_select_register)
{
	static const struct expectation cases[] = {
		{ "cpu/event=0x3c,umask=0x1/", 4, 0x13c, 0, "cpu/event=0x3c,umask=0x1/" },
		{ "cpu/event=0x3c,umask=0x1/upp", 4, 0x13c, 0, "cpu/event=0x3c,umask=0x1/upp" },
		{ "cpu/event=0xa3,umask=0x14,cmask=20/", 4, 0x140014a3, 0,
		  "cpu/event=0xa3,umask=0x14,cmask=20/" },
		{ "cpu/event=0xc0,inv,cmask=1/", 4, 0x18000c0, 0, "cpu/event=0xc0,inv,cmask=1/" },
		{ "cpu/mem-loads/", 4, 0x1cd, 3, "cpu/mem-loads/" },
		{ "cpu/mem-loads,ldlat=30/P", 4, 0x1cd, 30, "cpu/mem-loads,ldlat=30/P" },
		{ "cpu/ldlat=30,mem-loads/", 4, 0x1cd, 30, "cpu/ldlat=30,mem-loads/" },
		{ "mem-loads", 4, 0x1cd, 3, "mem-loads" },
		{ "mem-stores:u", 4, 0x2cd, 0, "mem-stores:u" },
		{ "slots", 4, 0x400, 0, "slots" },
		{ "cpu/cpu-cycles/", 4, 0x3c, 0, "cpu/cpu-cycles/" },
		{ "cpu/cycles/", 0, 0, 0, "cpu/cycles/" },
		{ "cpu/LLC-load-misses/", 3, 0x10002, 0, "cpu/LLC-load-misses/" },
		{ "cpu/r1a8/", 4, 0x1a8, 0, "cpu/r1a8/" },
		{ "cpu/config=0xffffffffffffffff,config1=7/", 4, UINT64_MAX, 7,
		  "cpu/config=0xffffffffffffffff,config1=7/" },
		{ "cpu/event=0xb7,offcore_rsp=0xffffffffffffffff/", 4, 0xb7, UINT64_MAX,
		  "cpu/event=0xb7,offcore_rsp=0xffffffffffffffff/" },
		{ "cpu/event=0x3c,period=1000,name=busy/u", 4, 0x3c, 0, "busy" },
		{ "power/energy-pkg/", 21, 2, 0, "power/energy-pkg/" },
		{ "energy-pkg", 21, 2, 0, "energy-pkg" },
	};

	check_encodings(tree_sapphire_rapids, cases, HP_ARRAY_COUNT(cases));
}

/* AMD's event select has bits 8-11 of the event in bits 32-35 (APM, PERF_CTL). */
TEST(a_field_in_two_parts_gets_its_low_bits_into_the_first)
{
	static const struct expectation cases[] = {
		{ "cpu/event=0x187,umask=0x1/", 4, 0x100000187, 0, "cpu/event=0x187,umask=0x1/" },
		{ "cpu/event=0xfff/", 4, 0xf000000ff, 0, "cpu/event=0xfff/" },
		{ "cpu/event=0x76/", 4, 0x76, 0, "cpu/event=0x76/" },
		{ "ibs_op/cnt_ctl=1/", 11, 0x80000, 0, "ibs_op/cnt_ctl=1/" },
		{ "ibs_op/cnt_ctl,l3missonly/", 11, 0x90000, 0, "ibs_op/cnt_ctl,l3missonly/" },
		{ "ibs_op//", 11, 0, 0, "ibs_op//" },
	};

	check_encodings(tree_zen, cases, HP_ARRAY_COUNT(cases));
}

/* Arm's architectural event numbers: CPU_CYCLES 0x11, INST_RETIRED 0x08, L1D_CACHE_REFILL 0x03. */
TEST(armv8_events_encode_as_architected)
{
	static const struct expectation cases[] = {
		{ "cpu_cycles", 8, 0x11, 0, "cpu_cycles" },
		{ "armv8_pmuv3_0/inst_retired/u", 8, 0x08, 0, "armv8_pmuv3_0/inst_retired/u" },
		{ "l1d_cache_refill:u", 8, 0x03, 0, "l1d_cache_refill:u" },
		{ "armv8_pmuv3_0/event=0x1b,long=1/", 8, 0x1b, 1,
		  "armv8_pmuv3_0/event=0x1b,long=1/" },
		{ "cycles", 0, 0, 0, "cycles" },
	};

	check_encodings(tree_neoverse, cases, HP_ARRAY_COUNT(cases));
}

TEST(named_cycles_and_instructions_have_their_units)
{
	struct hp_machine machine = tree_of(tree_neoverse);
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };

	hp_assert_ok(hp_event_parse("cpu_cycles,inst_retired,l1d_cache_refill", &machine, &list));
	ck_assert_int_eq(list.events[0].unit, HP_UNIT_CYCLES);
	ck_assert_int_eq(list.events[1].unit, HP_UNIT_INSTRUCTIONS);
	ck_assert_int_eq(list.events[2].unit, HP_UNIT_EVENTS);
}

/* The kernel's extended type: the PMU's type in the upper half of config. */
TEST(a_generic_name_on_a_hybrid_machine_is_one_event_for_each_kind_of_core)
{
	struct hp_machine machine = tree_of(tree_alder_lake);
	struct hp_event_list list = { 0 };

	hp_assert_ok(hp_event_parse("cycles:u", &machine, &list));
	ck_assert_uint_eq(list.count, 2);
	ck_assert_str_eq(list.events[0].name, "cpu_atom/cycles/u");
	ck_assert_uint_eq(list.events[0].type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(list.events[0].config, 0xa00000000);
	ck_assert_str_eq(list.events[1].name, "cpu_core/cycles/u");
	ck_assert_uint_eq(list.events[1].config, 0x400000000);
	hp_event_list_clear(&list);

	hp_assert_ok(hp_event_parse("cpu_core/cycles/u,cpu_atom/LLC-loads/", &machine, &list));
	ck_assert_uint_eq(list.events[0].config, 0x400000000);
	ck_assert_uint_eq(list.events[1].type, PERF_TYPE_HW_CACHE);
	ck_assert_uint_eq(list.events[1].config, 0xa00000002);
	hp_event_list_clear(&list);

	hp_assert_ok(hp_event_parse("mem-loads", &machine, &list));
	ck_assert_uint_eq(list.count, 2);
	ck_assert_str_eq(list.events[0].name, "cpu_atom/mem-loads/");
	ck_assert_uint_eq(list.events[0].config, 0x5d0);
	ck_assert_uint_eq(list.events[1].config, 0x1cd);
	hp_event_list_clear(&list);

	/* A group cannot span PMUs: one group for each, and the next one apart. */
	hp_assert_ok(hp_event_parse("{cycles,instructions}:u,{faults}", &machine, &list));
	ck_assert_uint_eq(list.count, 5);
	ck_assert_str_eq(list.events[0].name, "cpu_atom/cycles/u");
	ck_assert_int_eq(list.events[0].group, 0);
	ck_assert_int_eq(list.events[1].group, 1);
	ck_assert_str_eq(list.events[2].name, "cpu_atom/instructions/u");
	ck_assert_int_eq(list.events[2].group, 0);
	ck_assert_int_eq(list.events[3].group, 1);
	ck_assert_int_eq(list.events[4].group, 2);
	hp_event_list_clear(&list);

	hp_assert_ok(hp_event_default(&machine, &list));
	ck_assert_uint_eq(list.count, 2);
	ck_assert(list.events[0].best_precise && list.events[1].best_precise);
	hp_event_list_clear(&list);
}

TEST(wrong_terms_of_a_pmu_are_usage_errors_that_name_its_fields)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "cpu/evnt=0x3c/", "no event and no field 'evnt'" },
		{ "cpu/event=0x100/", "does not fit the field 'event', which has 8 bits" },
		{ "cpu/inv=2/", "does not fit the field 'inv', which has 1 bit" },
		{ "cpu/event=zz/", "'zz' is not a number" },
		{ "cpu/event=/", "empty value" },
		{ "cpu/=3/", "a term without a name" },
		{ "cpu/mem-loads=3/", "no event and no field 'mem-loads'" },
		{ "cpu/energy-pkg/", "no event and no field 'energy-pkg'" },
		{ "power/cycles/", "no event and no field 'cycles'" },
		{ "cpu/../../power/", "no event and no field '..'" },
		{ "energy-pkg.unit", "unknown event" },
	};
	struct hp_machine machine = tree_of(tree_sapphire_rapids);

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event_list list = { 0 };
		struct hp_error *error = hp_event_parse(cases[i].text, &machine, &list);

		ck_assert_msg(error != NULL, "'%s' was accepted", cases[i].text);
		ck_assert_msg(error->class == HP_ERROR_USAGE, "%s", error->message);
		hp_assert_contains(error->message, cases[i].says);
		if (strstr(cases[i].says, "no field"))
			hp_assert_contains(error->advice, "event");
		hp_error_destroy(error);
	}
}

/* POWER's hv_24x7 leaves fields of its events to the user. */
TEST(a_field_that_an_event_leaves_open_must_be_given)
{
	static const struct tree_file files[] = {
		{ DEVICES "hv_24x7/type", "9\n" },
		{ DEVICES "hv_24x7/format/domain", "config:0-3\n" },
		{ DEVICES "hv_24x7/format/core", "config:16-31\n" },
		{ DEVICES "hv_24x7/format/offset", "config:32-63\n" },
		{ DEVICES "hv_24x7/events/PM_PB_CYC", "domain=?,core=?,offset=0x58\n" },
		{ NULL, NULL },
	};
	struct hp_machine machine = tree_of(files);
	struct hp_event_list list = { 0 };

	hp_assert_ok(hp_event_parse("hv_24x7/PM_PB_CYC,domain=2,core=1/", &machine, &list));
	ck_assert_uint_eq(list.events[0].config, 0x5800010002);
	hp_event_list_clear(&list);
	hp_assert_fails(HP_ERROR_USAGE,
			hp_event_parse("hv_24x7/PM_PB_CYC,core=1/", &machine, &list));
	hp_assert_fails(HP_ERROR_USAGE,
			hp_event_parse("hv_24x7/PM_PB_CYC,domain=2,core=?/", &machine, &list));
}

TEST(descriptions_that_make_no_sense_are_errors_and_nothing_worse)
{
	static const struct tree_file files[] = {
		{ DEVICES "odd/type", "7\n" },
		{ DEVICES "odd/format/backwards", "config:7-0\n" },
		{ DEVICES "odd/format/wide", "config:0-64\n" },
		{ DEVICES "odd/format/huge", "config:0-99999999999\n" },
		{ DEVICES "odd/format/nothing", "\n" },
		{ DEVICES "odd/format/word", "config9:0\n" },
		{ DEVICES "odd/format/trailing", "config:0-7,\n" },
		{ DEVICES "odd/format/good", "config:0-63\n" },
		{ DEVICES "odd/events/empty", "" },
		{ DEVICES "odd/events/unknown", "frob=1\n" },
		{ DEVICES "odd/events/comma", "good=1,\n" },
		{ DEVICES "untyped/type", "many\n" },
		{ NULL, NULL },
	};
	static const char *const bad[] = { "odd/backwards=1/", "odd/wide=1/", "odd/huge=1/",
					   "odd/nothing=1/",   "odd/word=1/", "odd/trailing=1/",
					   "odd/unknown/",     "odd/comma/",  "comma" };
	struct hp_machine machine = tree_of(files);
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		hp_assert_fails(HP_ERROR_USAGE, hp_event_parse(bad[i], &machine, &list));
	hp_assert_fails(HP_ERROR_DAMAGED, hp_event_parse("untyped/config=1/", &machine, &list));
	hp_assert_ok(hp_event_parse("odd/empty/,odd/good=5/", &machine, &list));
	ck_assert_uint_eq(list.events[0].config, 0);
	ck_assert_uint_eq(list.events[1].config, 5);
}

static const struct tree_file tracefs[] = {
	{ "/sys/kernel/tracing/events/sched/enable", "0\n" },
	{ "/sys/kernel/tracing/events/sched/sched_switch/id", "316\n" },
	{ "/sys/kernel/tracing/events/sched/sched_wakeup/id", "319\n" },
	{ "/sys/kernel/tracing/events/sched/sched_wakeup_new/id", "318\n" },
	{ NULL, NULL },
};

TEST(tracepoints_are_known_by_the_id_in_tracefs)
{
	struct hp_machine machine = tree_of(tracefs);
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };

	hp_assert_ok(hp_event_parse("sched:sched_switch,sched:sched_switch/period=1/u,"
				    "sched:sched_wake*",
				    &machine, &list));
	ck_assert_uint_eq(list.count, 4);
	ck_assert_uint_eq(list.events[0].type, PERF_TYPE_TRACEPOINT);
	ck_assert_uint_eq(list.events[0].config, 316);
	ck_assert_str_eq(list.events[0].name, "sched:sched_switch");
	ck_assert_str_eq(list.events[1].name, "sched:sched_switch:u");
	ck_assert_uint_eq(list.events[1].period, 1);
	ck_assert_uint_eq(list.events[2].config, 319);
	ck_assert_uint_eq(list.events[3].config, 318);
	ck_assert_str_eq(list.events[3].name, "sched:sched_wakeup_new");
}

TEST(the_old_place_of_tracefs_is_looked_at_too)
{
	static const struct tree_file files[] = {
		{ "/sys/kernel/debug/tracing/events/irq/softirq_entry/id", "120\n" },
		{ NULL, NULL },
	};
	struct hp_machine machine = tree_of(files);
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };

	hp_assert_ok(hp_event_parse("irq:softirq_entry", &machine, &list));
	ck_assert_uint_eq(list.events[0].config, 120);
}

TEST(an_unknown_tracepoint_is_a_usage_error_that_names_a_close_one)
{
	struct hp_machine machine = tree_of(tracefs);
	struct hp_event_list list = { 0 };

	hp_assert_says(HP_ERROR_USAGE, NULL, "sched:sched_switch",
		       hp_event_parse("sched:sched_swich", &machine, &list));
	hp_assert_fails(HP_ERROR_USAGE, hp_event_parse("sched:nothing*", &machine, &list));
	hp_assert_fails(HP_ERROR_USAGE, hp_event_parse("sched:enable", &machine, &list));
	hp_assert_fails(HP_ERROR_USAGE, hp_event_parse("..:sched", &machine, &list));
}

TEST(without_tracefs_all_tracepoints_are_missing)
{
	char *root = temporary_directory();
	struct hp_machine machine = tree_machine(root);

	hp_assert_says(HP_ERROR_NOT_PERMITTED, "tracefs is not mounted", "sudo mount",
		       hp_event_missing_tracepoints(&machine));
	tree_add(root, tracefs);
	hp_assert_ok(hp_event_missing_tracepoints(&machine));
}

TEST(without_kernel_samples_a_tracepoint_is_refused_and_not_made_to_count_nothing)
{
	struct hp_machine machine = tree_of(tracefs);
	struct hp_event_list list = { 0 };

	machine.user_only = true;
	hp_assert_fails(HP_ERROR_NOT_PERMITTED,
			hp_event_parse("sched:sched_switch", &machine, &list));
}

static bool find(const struct hp_event_entry *entry, void *context)
{
	static const char *const wanted[] = { "cpu/mem-loads/", "power/energy-pkg/",
					      "sched:sched_switch" };
	unsigned *seen = context;

	hp_assert_lacks(entry->name, ".unit");
	ck_assert_str_ne(entry->name, "sched:enable");
	for (size_t i = 0; i < HP_ARRAY_COUNT(wanted); i++)
		if (!strcmp(entry->name, wanted[i]))
			*seen |= 1u << i;
	return true;
}

TEST(what_sysfs_and_tracefs_name_is_listed_and_scales_and_switches_are_not)
{
	char *root = temporary_directory();
	struct hp_machine machine = tree_machine(root);
	unsigned seen = 0;

	tree_add(root, tree_sapphire_rapids);
	tree_add(root, tracefs);
	hp_assert_ok(hp_event_enumerate(&machine, find, &seen));
	ck_assert_uint_eq(seen, 7);
}

HP_TEST_MAIN("pmu/sysfs")
