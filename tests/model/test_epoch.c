/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/model/epoch.h>

#include <string.h>

/* What is added, and what to. */
static struct hp_epoch_meta from, into;

static void clear(void *meta)
{
	hp_epoch_meta_clear(meta);
	memset(meta, 0, sizeof(into));
}

SETUP
{
	at_end(clear, &from);
	at_end(clear, &into);
}

static struct hp_event_totals totals(const char *name, double frequency_hz, uint64_t samples,
				     uint64_t period_total)
{
	return (struct hp_event_totals){
		.info = { .name = strdup(name), .unit = HP_UNIT_NS },
		.frequency_hz = frequency_hz,
		.samples = samples,
		.period_total = period_total,
		.lost = 2,
		.throttled = 3,
		.unattributed = 1,
		.enabled_ns = 500,
		.running_ns = 400,
	};
}

static void set_events(struct hp_epoch_meta *meta, size_t count, struct hp_event_totals first,
		       struct hp_event_totals second)
{
	meta->events = calloc(2, sizeof(*meta->events));
	meta->events[0] = first;
	meta->events[1] = second;
	meta->event_count = count;
}

TEST(events_add_up_by_name_and_new_ones_are_appended)
{
	set_events(&into, 2, totals("a", 1000, 10, 100), totals("b", 0, 20, 200));
	set_events(&from, 2, totals("b", 0, 5, 50), totals("c", 97, 7, 70));
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert_uint_eq(into.event_count, 3);
	ck_assert_uint_eq(into.events[0].samples, 10);
	ck_assert_uint_eq(into.events[1].samples, 25);
	ck_assert_uint_eq(into.events[1].period_total, 250);
	ck_assert_uint_eq(into.events[1].lost, 4);
	ck_assert_uint_eq(into.events[1].throttled, 6);
	ck_assert_uint_eq(into.events[1].unattributed, 2);
	ck_assert_uint_eq(into.events[1].enabled_ns, 1000);
	ck_assert_uint_eq(into.events[1].running_ns, 800);
	ck_assert_str_eq(into.events[2].info.name, "c");
	ck_assert_double_eq(into.events[2].frequency_hz, 97);
}

TEST(two_frequencies_of_one_event_are_no_frequency)
{
	set_events(&into, 2, totals("a", 1000, 1, 1), totals("b", 1000, 1, 1));
	set_events(&from, 2, totals("a", 4000, 1, 1), totals("b", 1000, 1, 1));
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert_double_eq(into.events[0].frequency_hz, 0);
	ck_assert_double_eq(into.events[1].frequency_hz, 1000);
}

TEST(one_event_in_two_units_is_refused)
{
	set_events(&into, 1, totals("a", 0, 1, 1), (struct hp_event_totals){ 0 });
	set_events(&from, 1, totals("a", 0, 1, 1), (struct hp_event_totals){ 0 });
	from.events[0].info.unit = HP_UNIT_CYCLES;
	hp_assert_fails(HP_ERROR_USAGE, hp_epoch_meta_add(&into, &from));
}

TEST(totals_that_do_not_fit_in_64_bits_are_refused)
{
	set_events(&into, 1, totals("a", 0, UINT64_MAX, 1), (struct hp_event_totals){ 0 });
	set_events(&from, 1, totals("a", 0, 1, 1), (struct hp_event_totals){ 0 });
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_meta_add(&into, &from));
}

static void set_clock(struct hp_epoch_meta *meta, double hz)
{
	ck_assert(hp_clock_note(&meta->clock, hz));
}

/* A sample of each 1000 ns that takes 200 of them itself. */
TEST(cycles_are_without_the_time_that_samples_took)
{
	set_clock(&into, 3e9);
	set_events(&into, 1, totals("cpu-clock", 1e6, 50, 50 * 1000),
		   (struct hp_event_totals){ 0 });
	ck_assert_double_eq_tol(hp_epoch_cycles_per_unit(&into, HP_UNIT_NS), 3, 0.02);
	into.sample_cost_ns = 200;
	ck_assert_double_eq_tol(hp_epoch_sampling_share(&into), 0.2, 1e-12);
	ck_assert_double_eq_tol(hp_epoch_cycles_per_unit(&into, HP_UNIT_NS), 2.4, 0.02);
	/* Counters of cycles do not count the interrupt, which is in the kernel. */
	ck_assert_double_eq(hp_epoch_cycles_per_unit(&into, HP_UNIT_CYCLES), 1);
	/* Not more than the time there is. */
	into.sample_cost_ns = 5000;
	ck_assert_double_eq(hp_epoch_sampling_share(&into), 0.5);
}

/* Two clocks interrupt it both; samples of something else do not tell how often. */
TEST(each_clock_takes_its_part_of_the_time)
{
	set_events(&into, 2, totals("cpu-clock", 0, 10, 10 * 1000),
		   totals("task-clock", 0, 5, 10 * 1000));
	into.sample_cost_ns = 100;
	ck_assert_double_eq_tol(hp_epoch_sampling_share(&into), 0.15, 1e-12);
	into.events[1].info.unit = HP_UNIT_EVENTS;
	ck_assert_double_eq_tol(hp_epoch_sampling_share(&into), 0.1, 1e-12);
}

static void set_commands(struct hp_epoch_meta *meta, const char *first, const char *second)
{
	meta->commands = calloc(2, sizeof(*meta->commands));
	meta->commands[0] = (struct hp_command_times){ strdup(first), 1, 10, 100 };
	meta->commands[1] = (struct hp_command_times){ strdup(second), 2, 20, 200 };
	meta->command_count = 2;
}

TEST(commands_merge_in_order_and_add_up)
{
	static const char *const names[] = { "", "cc1", "ld" };
	static const uint64_t samples[] = { 10, 30, 20 };
	set_commands(&into, "cc1", "ld");
	set_commands(&from, "", "cc1");
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert_uint_eq(into.command_count, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_str_eq(into.commands[i].command, names[i]);
		ck_assert_uint_eq(into.commands[i].samples, samples[i]);
	}
	ck_assert_uint_eq(into.commands[1].processes, 3);
	ck_assert_uint_eq(into.commands[1].elapsed_ns, 300);
}

TEST(the_description_stays_and_the_time_widens)
{
	char *warnings_of_from[] = { strdup("old"), strdup("new"), NULL };

	into = (struct hp_epoch_meta){ .host = strdup("here"), .start_ns = 50, .end_ns = 60 };
	from = (struct hp_epoch_meta){ .host = strdup("there"),
				       .start_ns = 10,
				       .end_ns = 20,
				       .own_cpu_ns = 7,
				       .target_cpu_ns = 9,
				       .target_system_ns = 4,
				       .damaged_records = 1,
				       .per_process = true };
	into.warnings = calloc(2, sizeof(char *));
	into.warnings[0] = strdup("old");
	from.warnings = calloc(3, sizeof(char *));
	memcpy(from.warnings, warnings_of_from, sizeof(warnings_of_from));
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert_str_eq(into.host, "here");
	ck_assert_uint_eq(into.start_ns, 10);
	ck_assert_uint_eq(into.end_ns, 60);
	ck_assert_uint_eq(into.own_cpu_ns, 7);
	ck_assert_uint_eq(into.target_cpu_ns, 9);
	ck_assert_uint_eq(into.target_system_ns, 4);
	ck_assert_uint_eq(into.damaged_records, 1);
	ck_assert(into.per_process);
	ck_assert_str_eq(into.warnings[0], "old");
	ck_assert_str_eq(into.warnings[1], "new");
	ck_assert_ptr_null(into.warnings[2]);
}

static char **command_of(const char *program, const char *argument)
{
	char **words = calloc(3, sizeof(*words));

	words[0] = strdup(program);
	words[1] = strdup(argument);
	return words;
}

static void set_command(struct hp_epoch_meta *meta, const char *argument)
{
	*meta = (struct hp_epoch_meta){ .target = strdup("command"),
					.command_line = command_of("sort", argument) };
}

TEST(a_sum_of_different_commands_is_of_none_of_them)
{
	set_command(&into, "-n");
	set_command(&from, "-n");
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert_str_eq(into.command_line[1], "-n");
	ck_assert_str_eq(into.target, "command");
	hp_epoch_meta_clear(&from);
	set_command(&from, "-r");
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert_ptr_null(into.command_line);
	ck_assert_str_eq(into.target, "several commands");
	/* And one more; in whatever order. */
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert_str_eq(into.target, "several commands");
	hp_assert_ok(hp_epoch_meta_add(&from, &into));
	ck_assert_str_eq(from.target, "several commands");
}

TEST(runs_are_kept_one_by_one_in_the_order_of_their_start)
{
	static const uint64_t starts[] = { 1, 2, 3, 4 };

	into.run_count = from.run_count = 2;
	into.runs = calloc(2, sizeof(*into.runs));
	from.runs = calloc(2, sizeof(*from.runs));
	into.runs[0].start_ns = 2;
	into.runs[1].start_ns = 4;
	from.runs[0].start_ns = 1;
	from.runs[1].start_ns = 3;
	from.runs[1].exit_status = 139;
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert_uint_eq(into.run_count, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(into.runs[i].start_ns, starts[i]);
	ck_assert_int_eq(into.runs[2].exit_status, 139);
}

static void set_cpu(struct hp_cpu *cpu, const char *vendor, uint32_t model)
{
	*cpu = (struct hp_cpu){
		.vendor = vendor ? strdup(vendor) : NULL,
		.model = model,
		.instruction_cache_bytes = 32768,
	};
}

TEST(the_cpu_stays_when_all_parts_had_the_same)
{
	set_cpu(&into.cpu, "GenuineIntel", 143);
	set_cpu(&from.cpu, "GenuineIntel", 143);
	hp_assert_ok(hp_epoch_meta_add(&into, &from));
	ck_assert(hp_cpu_equal(&into.cpu, &from.cpu));
	ck_assert(hp_cpu_is_known(&into.cpu));
}

TEST(different_cpus_add_up_to_an_unknown_one_in_any_order)
{
	/* The last: one part does not know. */
	static const struct {
		const char *vendors[3];
		uint32_t models[3];
	} cases[] = {
		{ { "GenuineIntel", "GenuineIntel", "GenuineIntel" }, { 143, 106, 143 } },
		{ { "AuthenticAMD", "GenuineIntel", "AuthenticAMD" }, { 17, 17, 17 } },
		{ { "GenuineIntel", NULL, "GenuineIntel" }, { 143, 0, 143 } },
	};
	static const size_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					    { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		for (size_t j = 0; j < HP_ARRAY_COUNT(orders); j++) {
			struct hp_cpu sum;

			for (size_t k = 0; k < 3; k++) {
				size_t part = orders[j][k];
				struct hp_cpu cpu;

				set_cpu(&cpu, cases[i].vendors[part], cases[i].models[part]);
				if (k)
					hp_cpu_meet(&sum, &cpu);
				else
					hp_assert_ok(hp_cpu_copy(&cpu, &sum));
				hp_cpu_clear(&cpu);
			}
			ck_assert(!hp_cpu_is_known(&sum));
			ck_assert_uint_eq(sum.instruction_cache_bytes, 0);
		}
	}
}

struct skid {
	uint32_t instructions;
	const char *source;
};

static struct hp_epoch_meta epoch_of_skid(const struct skid *skid)
{
	struct hp_epoch_meta meta = { 0 };

	set_events(&meta, 1, totals("a", 0, 1, 1), (struct hp_event_totals){ 0 });
	meta.events[0].info.precision = strdup("skid");
	meta.events[0].info.skid_instructions = skid->instructions;
	meta.events[0].info.skid_source = strdup(skid->source);
	return meta;
}

TEST(skids_join_to_the_same_in_any_order)
{
	static const struct {
		struct skid parts[3];
		struct skid sum;
	} cases[] = {
		{ { { 2, "calibrated 2026-11-20" },
		    { 2, "calibrated 2026-11-20" },
		    { 2, "calibrated 2026-11-20" } },
		  { 2, "calibrated 2026-11-20" } },
		{ { { 2, "calibrated 2026-11-21" },
		    { 2, "calibrated 2026-11-19" },
		    { 2, "calibrated 2026-11-20" } },
		  { 2, "calibrated 2026-11-19" } },
		{ { { 1, "calibrated 2026-11-21" }, { 1, "default" }, { 1, "default" } },
		  { 1, "default" } },
		{ { { 2, "calibrated 2026-11-21" },
		    { 1, "default" },
		    { 2, "calibrated 2026-11-20" } },
		  { 1, "default" } },
		{ { { 2, "calibrated 2026-11-21" },
		    { 3, "calibrated 2026-11-20" },
		    { 3, "calibrated 2026-11-20" } },
		  { 1, "default" } },
	};
	static const size_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					    { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		for (size_t j = 0; j < HP_ARRAY_COUNT(orders); j++) {
			struct hp_epoch_meta sum = epoch_of_skid(&cases[i].parts[orders[j][0]]);

			for (size_t k = 1; k < 3; k++) {
				struct hp_epoch_meta part =
					epoch_of_skid(&cases[i].parts[orders[j][k]]);

				hp_assert_ok(hp_epoch_meta_add(&sum, &part));
				hp_epoch_meta_clear(&part);
			}
			ck_assert_uint_eq(sum.events[0].info.skid_instructions,
					  cases[i].sum.instructions);
			ck_assert_str_eq(sum.events[0].info.skid_source, cases[i].sum.source);
			hp_epoch_meta_clear(&sum);
		}
	}
}

TEST(cpu_times_are_the_targets_and_in_older_epochs_those_of_its_runs)
{
	struct hp_run runs[] = { { .user_ns = 10, .system_ns = 30 },
				 { .user_ns = 20, .system_ns = 40 } };
	struct hp_epoch_meta meta = { .target_cpu_ns = 500, .target_system_ns = 300 };
	double cpu_ns;
	double system_ns;

	hp_epoch_cpu_times(&meta, &cpu_ns, &system_ns);
	ck_assert_double_eq(cpu_ns, 500);
	ck_assert_double_eq(system_ns, 300);
	meta = (struct hp_epoch_meta){ .target_cpu_ns = 40, .runs = runs, .run_count = 2 };
	hp_epoch_cpu_times(&meta, &cpu_ns, &system_ns);
	ck_assert_double_eq(cpu_ns, 100);
	ck_assert_double_eq(system_ns, 70);
}

TEST(what_user_mode_leaves_out_has_a_number_where_one_is_known)
{
	char text[HP_USER_ONLY_BYTES];

	hp_user_only_say(1000, 912, 0, text);
	ck_assert_str_eq(text, "user mode only: 91.2 % of the CPU time (system) is not in here");
	hp_user_only_say(0, 0, 0, text);
	ck_assert_str_eq(text, "user mode only: CPU time in the kernel (system) is not in here");
}

/* The kernel's clock ticks every 4 or 10 ms, and a process without a tick has no system time. */
TEST(the_systems_part_of_short_processes_is_a_lower_limit)
{
	struct hp_command_times commands[] = { { .processes = 1 }, { .processes = 599 } };
	struct hp_epoch_meta meta = { .commands = commands, .command_count = 2 };
	char text[HP_USER_ONLY_BYTES];

	ck_assert_uint_eq(hp_epoch_processes(&meta), 600);
	hp_user_only_say(3e8, 3e7, 600, text);
	ck_assert_str_eq(text, "user mode only: at least 10.0 % of the CPU time (system) is not in "
			       "here");
	hp_user_only_say(3e6, 0, 1, text);
	ck_assert_str_eq(text, "user mode only: CPU time in the kernel (system) is not in here");
	hp_user_only_say(3e8, 0, 1, text);
	ck_assert_str_eq(text, "user mode only: 0.0 % of the CPU time (system) is not in here");
	hp_user_only_say(3e8, 3e7, 2, text);
	ck_assert_str_eq(text, "user mode only: 10.0 % of the CPU time (system) is not in here");
}

HP_TEST_MAIN("model/epoch")
