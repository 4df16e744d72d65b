/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that need nothing of the machine, and the grammar around them. */
#include "../support.h"
#include "tree.h"

#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

/* No /proc and no /sys: what is found is found in the tables. */
static struct hp_machine bare_machine(void)
{
	static char nowhere[] = "/nonexistent";

	return tree_machine(nowhere);
}

static struct hp_machine ordinary_machine(void)
{
	struct hp_machine machine = bare_machine();

	machine.paranoid = 2;
	machine.privileged = false;
	machine.user_only = true;
	machine.system_wide = false;
	return machine;
}

static struct hp_event_list parse(const char *text)
{
	struct hp_machine machine = bare_machine();
	struct hp_event_list list = { 0 };

	hp_assert_ok(hp_event_parse(text, &machine, &list));
	return list;
}

/* The encodings are the kernel's: <linux/perf_event.h> and perf_event_open(2). */
TEST(generic_names_and_their_aliases_encode_as_the_kernel_numbers_them)
{
	static const struct {
		const char *text;
		const char *name;
		uint32_t type;
		uint64_t config;
	} cases[] = {
		{ "cycles", "cycles", PERF_TYPE_HARDWARE, 0 },
		{ "cpu-cycles", "cycles", PERF_TYPE_HARDWARE, 0 },
		{ "instructions", "instructions", PERF_TYPE_HARDWARE, 1 },
		{ "cache-references", "cache-references", PERF_TYPE_HARDWARE, 2 },
		{ "cache-misses", "cache-misses", PERF_TYPE_HARDWARE, 3 },
		{ "branches", "branches", PERF_TYPE_HARDWARE, 4 },
		{ "branch-instructions", "branches", PERF_TYPE_HARDWARE, 4 },
		{ "branch-misses", "branch-misses", PERF_TYPE_HARDWARE, 5 },
		{ "bus-cycles", "bus-cycles", PERF_TYPE_HARDWARE, 6 },
		{ "stalled-cycles-frontend", "stalled-cycles-frontend", PERF_TYPE_HARDWARE, 7 },
		{ "idle-cycles-backend", "stalled-cycles-backend", PERF_TYPE_HARDWARE, 8 },
		{ "ref-cycles", "ref-cycles", PERF_TYPE_HARDWARE, 9 },
		{ "cpu-clock", "cpu-clock", PERF_TYPE_SOFTWARE, 0 },
		{ "task-clock", "task-clock", PERF_TYPE_SOFTWARE, 1 },
		{ "page-faults", "page-faults", PERF_TYPE_SOFTWARE, 2 },
		{ "faults", "page-faults", PERF_TYPE_SOFTWARE, 2 },
		{ "cs", "context-switches", PERF_TYPE_SOFTWARE, 3 },
		{ "migrations", "cpu-migrations", PERF_TYPE_SOFTWARE, 4 },
		{ "minor-faults", "minor-faults", PERF_TYPE_SOFTWARE, 5 },
		{ "major-faults", "major-faults", PERF_TYPE_SOFTWARE, 6 },
		{ "alignment-faults", "alignment-faults", PERF_TYPE_SOFTWARE, 7 },
		{ "emulation-faults", "emulation-faults", PERF_TYPE_SOFTWARE, 8 },
		{ "dummy", "dummy", PERF_TYPE_SOFTWARE, 9 },
		{ "bpf-output", "bpf-output", PERF_TYPE_SOFTWARE, 10 },
		{ "cgroup-switches", "cgroup-switches", PERF_TYPE_SOFTWARE, 11 },
		{ "r1a8", "r1a8", PERF_TYPE_RAW, 0x1a8 },
		{ "rFFFFFFFFFFFFFFFF", "rFFFFFFFFFFFFFFFF", PERF_TYPE_RAW, UINT64_MAX },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event_list list = parse(cases[i].text);

		ck_assert_uint_eq(list.count, 1);
		ck_assert_str_eq(list.events[0].name, cases[i].name);
		ck_assert_uint_eq(list.events[0].type, cases[i].type);
		ck_assert_uint_eq(list.events[0].config, cases[i].config);
		ck_assert(!list.events[0].exclude_user && !list.events[0].exclude_kernel);
		ck_assert_int_eq(list.events[0].group, -1);
		hp_event_list_clear(&list);
	}
}

/* perf_event_open(2): id | operation << 8 | result << 16. */
TEST(cache_names_encode_as_cells_of_the_kernels_matrix)
{
	static const struct {
		const char *name;
		uint64_t config;
	} cases[] = {
		{ "L1-dcache-loads", 0x00000 },
		{ "L1-dcache-load-misses", 0x10000 },
		{ "L1-dcache-stores", 0x00100 },
		{ "L1-dcache-prefetch-misses", 0x10200 },
		{ "l1d-loads-misses", 0x10000 },
		{ "L1-icache-load-misses", 0x10001 },
		{ "LLC-loads", 0x00002 },
		{ "LLC-store-misses", 0x10102 },
		{ "L2-read-miss", 0x10002 },
		{ "dTLB-load-misses", 0x10003 },
		{ "d-tlb-write", 0x00103 },
		{ "iTLB-load-misses", 0x10004 },
		{ "branch-loads", 0x00005 },
		{ "branch-load-misses", 0x10005 },
		{ "bpu-misses", 0x10005 },
		{ "node-prefetches", 0x00206 },
		{ "L1-dcache", 0x00000 },
		{ "LLC-misses", 0x10002 },
		{ "LLC-speculative-read-refs", 0x00202 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event_list list = parse(cases[i].name);

		ck_assert_uint_eq(list.count, 1);
		ck_assert_uint_eq(list.events[0].type, PERF_TYPE_HW_CACHE);
		ck_assert_uint_eq(list.events[0].config, cases[i].config);
		hp_event_list_clear(&list);
	}
}

TEST(modifiers_choose_levels_and_precision_and_show_in_the_name)
{
	static const struct {
		const char *text;
		const char *name;
		bool user, kernel, hypervisor; /* excluded */
		uint8_t precise;
		bool best;
	} cases[] = {
		{ "cycles", "cycles", false, false, false, 0, false },
		{ "cycles:u", "cycles:u", false, true, true, 0, false },
		{ "cycles:k", "cycles:k", true, false, true, 0, false },
		{ "cycles:h", "cycles:h", true, true, false, 0, false },
		{ "cycles:ku", "cycles:uk", false, false, true, 0, false },
		{ "cycles:p", "cycles:p", false, false, false, 1, false },
		{ "cycles:upp", "cycles:upp", false, true, true, 2, false },
		{ "cycles:pppu", "cycles:uppp", false, true, true, 3, false },
		{ "cycles:uP", "cycles:uP", false, true, true, 3, true },
		{ "cycles/period=5/u", "cycles:u", false, true, true, 0, false },
		{ "cycles/period=5/:u", "cycles:u", false, true, true, 0, false },
		{ "{cycles:k}:u", "cycles:uk", false, false, true, 0, false },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event_list list = parse(cases[i].text);

		ck_assert_uint_eq(list.count, 1);
		ck_assert_str_eq(list.events[0].name, cases[i].name);
		ck_assert_int_eq(list.events[0].exclude_user, cases[i].user);
		ck_assert_int_eq(list.events[0].exclude_kernel, cases[i].kernel);
		ck_assert_int_eq(list.events[0].exclude_hypervisor, cases[i].hypervisor);
		ck_assert_uint_eq(list.events[0].precise, cases[i].precise);
		ck_assert_int_eq(list.events[0].best_precise, cases[i].best);
		hp_event_list_clear(&list);
	}
}

TEST(groups_share_a_number_and_several_lists_add_up)
{
	struct hp_machine machine = bare_machine();
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };

	hp_assert_ok(hp_event_parse("cs,{cycles,instructions}:u,{branches}", &machine, &list));
	hp_assert_ok(hp_event_parse("{faults,dummy}", &machine, &list));
	ck_assert_uint_eq(list.count, 6);
	ck_assert_int_eq(list.events[0].group, -1);
	ck_assert_int_eq(list.events[1].group, 0);
	ck_assert_int_eq(list.events[2].group, 0);
	ck_assert_int_eq(list.events[3].group, 1);
	ck_assert_int_eq(list.events[4].group, 2);
	ck_assert_int_eq(list.events[5].group, 2);
	ck_assert_str_eq(list.events[2].name, "instructions:u");
	ck_assert_str_eq(list.events[3].name, "branches");
}

TEST(terms_give_an_event_its_own_rate_and_name)
{
	struct hp_event_list list =
		parse("cycles/period=0x100/,cpu-clock/freq=250.5/u,cs/name='a, b',period=1/");

	ck_assert_uint_eq(list.count, 3);
	ck_assert_uint_eq(list.events[0].period, 256);
	ck_assert_str_eq(list.events[0].name, "cycles");
	ck_assert_double_eq(list.events[1].frequency_hz, 250.5);
	ck_assert_str_eq(list.events[1].name, "cpu-clock:u");
	ck_assert_str_eq(list.events[2].name, "a, b");
	ck_assert_uint_eq(list.events[2].period, 1);
	hp_event_list_clear(&list);
}

TEST(breakpoints_take_address_length_and_access)
{
	static const struct {
		const char *text;
		const char *name;
		uint64_t address, length;
		uint32_t access;
		bool user_only;
	} cases[] = {
		{ "mem:0x1000", "mem:0x1000/4:rw", 0x1000, 4, HW_BREAKPOINT_RW, false },
		{ "mem:4096:w", "mem:0x1000/4:w", 0x1000, 4, HW_BREAKPOINT_W, false },
		{ "mem:0x1000/8:rw:u", "mem:0x1000/8:rw:u", 0x1000, 8, HW_BREAKPOINT_RW, true },
		{ "mem:0xffff800000000000/1:r", "mem:0xffff800000000000/1:r", 0xffff800000000000, 1,
		  HW_BREAKPOINT_R, false },
		{ "mem:0x401000:x:u", NULL, 0x401000, sizeof(long), HW_BREAKPOINT_X, true },
		{ "mem:0x1000:u", "mem:0x1000/4:rw:u", 0x1000, 4, HW_BREAKPOINT_RW, true },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event_list list = parse(cases[i].text);
		struct perf_event_attr attr = { 0 };

		ck_assert_uint_eq(list.count, 1);
		if (cases[i].name)
			ck_assert_str_eq(list.events[0].name, cases[i].name);
		hp_event_to_attr(&list.events[0], &attr);
		ck_assert_uint_eq(attr.type, PERF_TYPE_BREAKPOINT);
		ck_assert_uint_eq(attr.bp_addr, cases[i].address);
		ck_assert_uint_eq(attr.bp_len, cases[i].length);
		ck_assert_uint_eq(attr.bp_type, cases[i].access);
		ck_assert_int_eq(attr.exclude_kernel, cases[i].user_only);
		hp_event_list_clear(&list);
	}
}

TEST(an_attribute_carries_all_that_was_asked_for)
{
	_cleanup_(hp_event_list_clear) struct hp_event_list list = parse("instructions:upp");
	struct perf_event_attr attr = { .sample_period = 77 };

	hp_event_to_attr(&list.events[0], &attr);
	ck_assert_uint_eq(attr.type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(attr.config, PERF_COUNT_HW_INSTRUCTIONS);
	ck_assert_uint_eq(attr.precise_ip, 2);
	ck_assert_uint_eq(attr.exclude_user, 0);
	ck_assert_uint_eq(attr.exclude_kernel, 1);
	ck_assert_uint_eq(attr.exclude_hv, 1);
	/* The rest is the caller's. */
	ck_assert_uint_eq(attr.sample_period, 77);
}

TEST(a_description_says_unit_and_precision)
{
	static const struct {
		const char *text;
		enum hp_unit unit;
		const char *precision;
		uint32_t skid;
	} cases[] = {
		{ "cpu-clock:u", HP_UNIT_NS, "skid+1", 1 },
		{ "task-clock", HP_UNIT_NS, "skid+1", 1 },
		{ "cycles", HP_UNIT_CYCLES, "skid", 1 },
		{ "cycles:pp", HP_UNIT_CYCLES, "precise 2", 0 },
		{ "instructions:p", HP_UNIT_INSTRUCTIONS, "precise 1", 1 },
		{ "r3c", HP_UNIT_EVENTS, "skid", 1 },
		{ "page-faults", HP_UNIT_EVENTS, "exact", 0 },
		{ "mem:0x1000:x", HP_UNIT_EVENTS, "exact", 0 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event_list list = parse(cases[i].text);
		struct hp_event_info info;

		hp_assert_ok(hp_event_describe(&list.events[0], &info));
		ck_assert_int_eq(info.unit, cases[i].unit);
		ck_assert_str_eq(info.precision, cases[i].precision);
		ck_assert_uint_eq(info.skid_instructions, cases[i].skid);
		ck_assert_str_eq(info.skid_source, "default");
		ck_assert_str_eq(info.name, list.events[0].name);
		ck_assert_ptr_null(info.instead_of);
		hp_event_info_clear(&info);
		hp_event_list_clear(&list);
	}
}

TEST(where_only_user_mode_is_had_u_is_added_and_shown)
{
	struct hp_machine machine = ordinary_machine();
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };

	hp_assert_ok(hp_event_parse("cpu-clock,faults:u,{cycles}:p,cycles/name=mine/,cs:u",
				    &machine, &list));
	ck_assert_str_eq(list.events[0].name, "cpu-clock:u");
	ck_assert_str_eq(list.events[1].name, "page-faults:u");
	ck_assert_str_eq(list.events[2].name, "cycles:up");
	ck_assert_str_eq(list.events[3].name, "mine:u");
	for (size_t i = 0; i < list.count; i++) {
		ck_assert(!list.events[i].exclude_user);
		ck_assert(list.events[i].exclude_kernel && list.events[i].exclude_hypervisor);
	}
}

TEST(where_only_user_mode_is_had_kernel_events_are_refused_with_the_command_that_helps)
{
	static const char *const refused[] = { "cycles:k", "cpu-clock:uk", "cycles:h", "cs",
					       "cpu-migrations" };
	struct hp_machine machine = ordinary_machine();

	for (size_t i = 0; i < HP_ARRAY_COUNT(refused); i++) {
		struct hp_event_list list = { 0 };

		hp_assert_says(HP_ERROR_NOT_PERMITTED, NULL, "perf_event_paranoid=1",
			       hp_event_parse(refused[i], &machine, &list));
		ck_assert_uint_eq(list.count, 0);
	}
}

TEST(the_default_is_the_most_precise_cycles_where_there_is_a_pmu)
{
	struct hp_machine machine = ordinary_machine();
	struct hp_event_list list = { 0 };

	machine.precise_cycles = 2;
	hp_assert_ok(hp_event_default(&machine, &list));
	ck_assert_uint_eq(list.count, 1);
	ck_assert_str_eq(list.events[0].name, "cycles:uP");
	ck_assert_uint_eq(list.events[0].type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(list.events[0].config, PERF_COUNT_HW_CPU_CYCLES);
	ck_assert(list.events[0].best_precise);
	ck_assert_uint_eq(list.events[0].precise, 2);
	ck_assert_ptr_null(list.events[0].instead_of);
	hp_event_list_clear(&list);

	machine.user_only = false;
	machine.precise_cycles = 0;
	hp_assert_ok(hp_event_default(&machine, &list));
	ck_assert_str_eq(list.events[0].name, "cycles");
	ck_assert(!list.events[0].best_precise && !list.events[0].exclude_kernel);
	hp_event_list_clear(&list);
}

TEST(where_the_kernel_ignores_precise_levels_none_is_claimed)
{
	static const char *const asked[] = { "cycles:p", "cycles:uppp",
					     "{cycles,instructions}:pp" };
	struct hp_machine machine = ordinary_machine();
	struct hp_event_list list = { 0 };

	machine.ignores_precise = true;
	hp_assert_ok(hp_event_parse("cycles:uP", &machine, &list));
	ck_assert_uint_eq(list.events[0].precise, 0);
	ck_assert_str_eq(hp_event_precision(&list.events[0]), "skid");
	hp_event_list_clear(&list);
	for (size_t i = 0; i < HP_ARRAY_COUNT(asked); i++) {
		hp_assert_says(HP_ERROR_SYSTEM, NULL, "leave out p",
			       hp_event_parse(asked[i], &machine, &list));
		ck_assert_uint_eq(list.count, 0);
	}
}

TEST(the_default_without_a_pmu_owns_up_to_what_it_is_instead_of)
{
	struct hp_machine machine = bare_machine();
	struct hp_event_list list = { 0 };
	struct hp_event_info info;

	machine.has_cycles = false;
	machine.cycles_errno = ENOENT;
	hp_assert_ok(hp_event_default(&machine, &list));
	ck_assert_uint_eq(list.count, 1);
	ck_assert_str_eq(list.events[0].name, "cpu-clock");
	ck_assert(!list.events[0].exclude_kernel);
	hp_event_list_clear(&list);
	machine.user_only = true;
	hp_assert_ok(hp_event_default(&machine, &list));
	ck_assert_str_eq(list.events[0].name, "cpu-clock:u");
	ck_assert(list.events[0].exclude_kernel);
	ck_assert_str_eq(list.events[0].instead_of, "cycles");
	hp_assert_contains(list.events[0].reason, "no hardware PMU");
	ck_assert_ptr_nonnull(list.events[0].advice);
	hp_assert_ok(hp_event_describe(&list.events[0], &info));
	ck_assert_str_eq(info.instead_of, "cycles");
	ck_assert_str_eq(info.reason, list.events[0].reason);
	hp_event_info_clear(&info);
	hp_event_list_clear(&list);
}

TEST(malformed_lists_are_usage_errors_and_leave_the_list_as_it_was)
{
	static const char *const bad[] = {
		/* Cells that the kernel does not define. */
		"L1-icache-stores", "iTLB-stores", "iTLB-prefetches", "branch-stores", "LLC-",
		"LLC-loads-", "LLC-loads-loads",
		/* What is no list. */
		"", ",", "cycles,", ",cycles", "cycles,,faults", "{", "{}", "{cycles", "cycles}",
		"{cycles}}", "{{cycles}}", "{cycles}faults", "cycles:", "cycles:z", "cycles:pppp",
		"cycles:u:k:x", "cycles/", "cycles/period=/", "cycles/period=0/",
		"cycles/period=abc/", "cycles/period/", "cycles/freq=-1/", "cycles/freq=0/",
		"cycles/period=1,freq=2/", "cycles/share=0/", "cycles/share=x/",
		"cycles/share=1001/", "cycles/share/", "@", "@nothing", "@cache/event=3/",
		"{@cache}", "cycles/,/", "cycles/period=1,/", "cycles/event=3/", "cycles/name='x/",
		"r", "r12345678901234567", "rxyz", "mem:", "mem:zzz", "mem:0x", "mem:0x1000/0",
		"mem:0x1000/9", "mem:0x1000/99999999999999999999:w", "mem:0x1000:rwx",
		"mem:0x1000:rq", "mem:0x1000:", "cycles mem", "../cycles", "../cpu/type/",
		"./type/", "no_such_pmu/event=1/", "\x1b[31mcycles", "%s%n"
	};
	struct hp_machine machine = bare_machine();
	_cleanup_(hp_event_list_clear) struct hp_event_list list = parse("faults");

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++) {
		struct hp_error *error = hp_event_parse(bad[i], &machine, &list);

		ck_assert_msg(error != NULL, "'%s' was accepted", bad[i]);
		ck_assert_msg(error->class == HP_ERROR_USAGE, "'%s': class %d: %s", bad[i],
			      (int)error->class, error->message);
		ck_assert_ptr_null(strchr(error->message, '\x1b'));
		ck_assert_uint_eq(list.count, 1);
		hp_error_destroy(error);
	}
	ck_assert_str_eq(list.events[0].name, "page-faults");
}

TEST(an_error_says_where_it_is_and_what_may_have_been_meant)
{
	static const struct {
		const char *text;
		const char *says;
		const char *advises;
	} cases[] = {
		{ "cycels", "unknown event 'cycels'", "did you mean cycles?" },
		{ "faults,cycels:u", "at character 8 of 'faults,cycels:u'",
		  "did you mean cycles?" },
		{ "branch-mises", "unknown event 'branch-mises'", "branch-misses" },
		{ "L1-dcache-load-mises", "unknown event", "L1-dcache-load-misses" },
		{ "faults,cycles:uq", "'uq' is not a list of modifiers (at character 8",
		  "u (user), k (kernel)" },
		{ "xyzzy_plugh", "unknown event 'xyzzy_plugh'", "hpcprof events" },
		{ "cpu/event=1/", "no PMU 'cpu'", "hpcprof events" },
		{ "@cahce", "@cahce", "@cache" },
	};
	struct hp_machine machine = bare_machine();
	struct hp_event_list list = { 0 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++)
		hp_assert_says(HP_ERROR_USAGE, cases[i].says, cases[i].advises,
			       hp_event_parse(cases[i].text, &machine, &list));
	hp_assert_says(HP_ERROR_NOT_PERMITTED, NULL, "tracefs",
		       hp_event_parse("sched:sched_switch", &machine, &list));
}

/* perf::* are the kernel's generic events; the Skylake codes are those of Intel's manual
 * (L2_RQSTS.MISS 24H 3FH, BR_MISP_RETIRED.CONDITIONAL C5H 01H). */
TEST(libpfm4_names_encode_events_that_nothing_else_knows)
{
	static const struct {
		const char *text;
		const char *name;
		uint32_t type;
		uint64_t config;
		bool exclude_kernel;
	} cases[] = {
		{ "perf::CYCLES", "perf::CYCLES", PERF_TYPE_HARDWARE, 0, false },
		{ "perf::PAGE-FAULTS:u", "perf::PAGE-FAULTS:u", PERF_TYPE_SOFTWARE, 2, true },
		{ "skl::L2_RQSTS:MISS", "skl::L2_RQSTS:MISS", PERF_TYPE_RAW, 0x3f24, false },
		{ "skl::BR_MISP_RETIRED:CONDITIONAL:u", "skl::BR_MISP_RETIRED:CONDITIONAL:u",
		  PERF_TYPE_RAW, 0x1c5, true },
		{ "skl::BR_MISP_RETIRED:CONDITIONAL:c=2", "skl::BR_MISP_RETIRED:CONDITIONAL:c=2",
		  PERF_TYPE_RAW, 0x20001c5, false },
	};

	/* Lets libpfm4 encode for CPUs that this machine does not have. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event_list list = parse(cases[i].text);

		ck_assert_uint_eq(list.count, 1);
		ck_assert_str_eq(list.events[0].name, cases[i].name);
		ck_assert_uint_eq(list.events[0].type, cases[i].type);
		ck_assert_uint_eq(list.events[0].config, cases[i].config);
		ck_assert_int_eq(list.events[0].exclude_kernel, cases[i].exclude_kernel);
		hp_event_list_clear(&list);
	}
}

TEST(a_set_stands_for_its_events_with_modifiers_for_all)
{
	_cleanup_(hp_event_list_clear) struct hp_event_list list = parse("@fault:u");

	ck_assert_uint_eq(list.count, 5);
	ck_assert_str_eq(list.events[0].name, "page-faults:u");
	ck_assert_str_eq(list.events[4].name, "emulation-faults:u");
	for (size_t i = 0; i < list.count; i++) {
		ck_assert_str_eq(list.events[i].set, "fault");
		ck_assert(list.events[i].exclude_kernel);
		ck_assert_ptr_null(list.events[i].absent);
	}
}

TEST(what_is_in_two_sets_or_was_named_is_listed_once)
{
	_cleanup_(hp_event_list_clear) struct hp_event_list list =
		parse("page-faults,@fault,@fault,page-faults:k");

	ck_assert_uint_eq(list.count, 6);
	ck_assert_ptr_null(list.events[0].set);
	ck_assert_str_eq(list.events[1].name, "minor-faults");
	ck_assert_str_eq(list.events[5].name, "page-faults:k");
}

TEST(what_of_a_set_an_ordinary_user_cannot_have_is_told_and_kept)
{
	struct hp_machine machine = bare_machine();
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };

	machine.user_only = true;
	hp_assert_ok(hp_event_parse("@schedule", &machine, &list));
	ck_assert_uint_eq(list.count, 3);
	ck_assert_str_eq(list.events[0].name, "task-clock:u");
	ck_assert_ptr_null(list.events[0].absent);
	ck_assert_str_eq(list.events[1].name, "context-switches");
	hp_assert_contains(list.events[1].absent, "happens inside the kernel");
}

TEST(an_event_can_have_a_share)
{
	_cleanup_(hp_event_list_clear) struct hp_event_list list =
		parse("page-faults/share=3/u,minor-faults,@schedule/share=2/");

	ck_assert_uint_eq(list.events[0].share, 3);
	ck_assert_str_eq(list.events[0].name, "page-faults:u");
	ck_assert_uint_eq(list.events[1].share, 0);
	ck_assert_uint_eq(list.events[2].share, 2);
}

static bool remember(const struct hp_event_entry *entry, void *context)
{
	struct hp_event_list list = { 0 };
	struct hp_machine machine = bare_machine();
	size_t *parsed = context;

	/* The last two are patterns, not names. */
	if (!strcmp(entry->kind, "raw") || !strcmp(entry->kind, "breakpoint"))
		return true;
	hp_assert_ok(hp_event_parse(entry->name, &machine, &list));
	if (!strcmp(entry->kind, "set")) {
		ck_assert_uint_ge(list.count, 2);
		hp_event_list_clear(&list);
		return true;
	}
	ck_assert_uint_eq(list.count, 1);
	if (strncmp(entry->kind, "pmu", 3) != 0)
		ck_assert_str_eq(list.events[0].name, entry->name);
	hp_event_list_clear(&list);
	(*parsed)++;
	return true;
}

TEST(every_name_that_is_listed_can_be_asked_for)
{
	struct hp_machine machine = bare_machine();
	size_t parsed = 0;

	hp_assert_ok(hp_event_enumerate(&machine, remember, &parsed));
	/* 10 hardware and 12 software events, 5 caches of 6, 4 and 2 cells: 4 x 6 + 4 + 2 x 2. */
	ck_assert_uint_ge(parsed, 10 + 12 + 32);
}

/* On Arm r8000 is another event. */
TEST(slots_are_told_from_their_parts)
{
	_cleanup_(hp_event_list_clear) struct hp_event_list list =
		parse("r0400:u,r8000:u,r8700:u,r8800:u,r019c:u,cycles:u");
#if defined(__x86_64__)
	const size_t slots = 0, first_part = 1, last_part = 2;
#else
	const size_t slots = SIZE_MAX, first_part = SIZE_MAX, last_part = 0;
#endif

	for (size_t i = 0; i < list.count; i++) {
		ck_assert_int_eq(hp_event_is_slots(&list.events[i]), i == slots);
		ck_assert_int_eq(hp_event_is_part_of_slots(&list.events[i]),
				 i >= first_part && i <= last_part);
	}
}

HP_TEST_MAIN("pmu/parse")
