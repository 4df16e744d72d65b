/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of databases filled by hand: every expected number is added up by hand beside the input. */
#include "fixture.h"

#include <string.h>

static char hot_name[] = "hot_loop";
static char warm_name[] = "warm, \"quoted\"";
static char nasty_name[] = "bad\033[2J\nname\xff";
static const struct hp_symbol symbols[] = {
	{ { 0x100 }, 0x40, hot_name, NULL },
	{ { 0x200 }, 0x40, warm_name, NULL },
	{ { 0x300 }, 0x40, nasty_name, NULL },
};

/* hot 60+10, warm 20, nasty 5, missing 3+1, unknown 1: 100 in all. */
static const struct fixture_count hundred[] = {
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 60 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x13f, 10 },
	{ "cpu-clock:u", &fixture_jit, "sh", 0, 1000000, 0x200, 20 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x300, 5 },
	{ "cpu-clock:u", &fixture_missing, "lua", 0, 1000000, 0x1234, 3 },
	{ "cpu-clock:u", &fixture_missing, "lua", 0, 1000000, 0x5678, 1 },
	{ "cpu-clock:u", &fixture_unknown, "lua", 0, 1000000, 0x7f0000001000, 1 },
};
static const struct fixture_epoch hundred_epoch = {
	.label = "hundred",
	.counts = hundred,
	.count = HP_ARRAY_COUNT(hundred),
	.symbols = symbols,
	.symbol_count = HP_ARRAY_COUNT(symbols),
};

TEST(every_view_has_every_sample_in_exactly_one_row)
{
	static const struct {
		struct hp_report_options options;
		size_t records;
	} views[] = {
		/* Three JIT procedures, two raw offsets, [unknown]. */
		{ { .view = HP_VIEW_PROCEDURES, .format = HP_FORMAT_CSV }, 6 },
		{ { .view = HP_VIEW_PROCEDURES, .format = HP_FORMAT_CSV, .of.inlines = true }, 6 },
		{ { .view = HP_VIEW_LINES, .format = HP_FORMAT_CSV }, 6 },
		{ { .view = HP_VIEW_IMAGES, .format = HP_FORMAT_CSV }, 3 },
		/* hot_loop was hit at two addresses. */
		{ { .view = HP_VIEW_INSTRUCTIONS, .format = HP_FORMAT_CSV }, 7 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(views); i++) {
		struct fixture *fixture = fixture_of_epoch(&hundred_epoch);

		fixture_output(fixture, &views[i].options);
		ck_assert_uint_eq(fixture_csv_sum(fixture->output, 0), 100);
		if (views[i].options.view == HP_VIEW_IMAGES)
			ck_assert_uint_eq(fixture_csv_records(fixture->output), views[i].records);
	}
}

TEST(procedures_come_hottest_first_with_their_share_and_the_running_sum)
{
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };
	const char *table;

	fixture_output(fixture, &options);
	table = strstr(fixture->output, "\n\n");
	ck_assert_ptr_nonnull(table);
	assert_contains(table,
			"\n\nsamples      %    cum%  procedure             image\n"
			"     70  70.00   70.00  hot_loop              [jit lua]\n"
			"     20  20.00   90.00  warm, \"quoted\"        [jit lua]\n"
			"      5   5.00   95.00  bad\\x1b[2J\\nname\\xff  [jit lua]\n"
			"      3   3.00   98.00  libgone.so.1+0x1234   libgone.so.1 (not read)\n"
			"      1   1.00   99.00  libgone.so.1+0x5678   libgone.so.1 (not read)\n"
			"      1   1.00  100.00  [unknown]             [unknown]\n");
}

static size_t lines_of_header(const char *output)
{
	size_t lines = 0;

	while (*output == '#') {
		lines++;
		output = strchr(output, '\n') + 1;
	}
	return lines;
}

TEST(the_header_says_how_good_the_data_is)
{
	static char text[] = "the clock jumped";
	char *warnings[] = { text, NULL };
	struct fixture_epoch epoch = hundred_epoch;
	struct fixture *fixture = fixture_create();
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	epoch.warnings = warnings;
	epoch.instead_of = "cycles";
	fixture_add(fixture, &epoch);
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "\"hundred\", 2.50 s: lua 'my script.lua'\n");
	assert_contains(fixture->output,
			"cpu-clock:u instead of cycles: 100 samples, one every 1 ms\n");
	assert_contains(fixture->output, "# warning    the clock jumped\n");
	ck_assert_uint_eq(lines_of_header(fixture->output), 4);
	assert_contains(fixture->output, " more lines of the header: hpcprof report --summary\n");
	options.view = HP_VIEW_SUMMARY;
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "\"hundred\", 2023-11-14 22:13:20 UTC, 2.50 s\n");
	assert_contains(fixture->output, "# command    lua 'my script.lua'\n");
	assert_contains(fixture->output, "# machine    testhost: unknown, 2 CPUs");
	assert_contains(fixture->output, "cpu-clock:u: 100 samples, one every 1 ms, precision: "
					 "skid+1\n");
	assert_contains(fixture->output, "instead of cycles: this machine has no PMU\n");
	assert_contains(fixture->output, "lost 0 (0.00 %), unattributed 1 (1.00 %), throttled 0");
	assert_contains(fixture->output, "# warning    the clock jumped\n");
}

TEST(an_image_whose_file_is_gone_is_named_with_its_share_and_keeps_raw_offsets)
{
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	fixture_output(fixture, &options);
	assert_contains(fixture->output,
			"# not read   /nowhere/at/all/libgone.so.1: No such file or directory "
			"(4.00 % of samples)\n");
	ck_assert_ptr_nonnull(fixture->warnings);
	assert_contains(fixture->warnings, "--symfs DIR");
	assert_contains(fixture->warnings, "/nowhere/at/all/libgone.so.1");
}

TEST(epochs_of_different_periods_add_up_by_weight)
{
	/* hot 300 * 1 ms + 100 * 4 ms = 700 ms of 1000; warm 300 * 1 ms. */
	static const struct fixture_count slow[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 4000000, 0x100, 100 },
	};
	static const struct fixture_count fast[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 300 },
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x200, 300 },
	};
	static const char *const labels[] = { "slow", "fast", NULL };
	struct fixture_epoch epoch = {
		.label = "slow", .counts = slow, .count = 1, .symbols = symbols, .symbol_count = 3
	};
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	epoch.label = "fast";
	epoch.counts = fast;
	epoch.count = 2;
	fixture_add(fixture, &epoch);
	hp_assert_ok(fixture_report(fixture, &options, labels));
	assert_contains(fixture->output, "700 samples, one every 1 ms to 4 ms");
	assert_contains(fixture->output, "    400  70.00   70.00  hot_loop");
	assert_contains(fixture->output, "    300  30.00  100.00  warm");
}

/* Rotated: 100 samples in a quarter of the time are as many as 400 in all of it. */
TEST(epochs_in_which_an_event_took_turns_count_for_what_they_missed)
{
	static const double quarter[] = { 0.25 };
	static const double all[] = { 1 };
	static const struct fixture_count some[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 100 },
	};
	static const struct fixture_count full[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x200, 400 },
	};
	static const char *const labels[] = { "rotated", "full", NULL };
	struct fixture_epoch epoch = { .label = "rotated",
				       .counts = some,
				       .count = 1,
				       .symbols = symbols,
				       .symbol_count = 3,
				       .coverage = quarter };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	fixture_output(fixture, &options);
	assert_contains(fixture->output, ": 100 samples, one every 1 ms\n");
	assert_contains(fixture->output, "had a counter for 25.0 % of the time: each sample stands "
					 "for 4 periods");
	epoch.label = "full";
	epoch.counts = full;
	epoch.coverage = all;
	fixture_add(fixture, &epoch);
	hp_assert_ok(fixture_report(fixture, &options, labels));
	assert_contains(fixture->output, "    100  50.00   50.00  hot_loop");
	assert_contains(fixture->output, "    400  50.00  100.00  warm");
	assert_contains(fixture->output, "had a counter for 62.5 % of the time");
	options.format = HP_FORMAT_CSV;
	hp_assert_ok(fixture_report(fixture, &options, labels));
	assert_contains(fixture->output, "100,50.000000,hot_loop");
	options.view = HP_VIEW_SUMMARY;
	hp_assert_ok(fixture_report(fixture, &options, labels));
	assert_contains(fixture->output, ",0.625000,,,500,0,0,0\r\n");
	options.view = HP_VIEW_PROCEDURES;
	options.format = HP_FORMAT_JSON;
	hp_assert_ok(fixture_report(fixture, &options, labels));
	assert_contains(fixture->output, "\"period\": 1000000, \"samples\": 500");
	assert_contains(fixture->output, "\"coverage\": 0.625");
}

TEST(a_substitution_in_any_of_the_epochs_is_told)
{
	static const char *const labels[] = { "asked", "hundred", NULL };
	struct fixture_epoch epoch = hundred_epoch;
	struct fixture *fixture = fixture_create();
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	epoch.label = "asked";
	fixture_add(fixture, &epoch);
	epoch.label = "hundred";
	epoch.instead_of = "cycles";
	fixture_add(fixture, &epoch);
	hp_assert_ok(fixture_report(fixture, &options, labels));
	assert_contains(fixture->output, "cpu-clock:u instead of cycles: ");
}

static const struct fixture_count two_events[] = {
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 30 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x200, 10 },
	{ "page-faults:u", &fixture_jit, "lua", 0, 1, 0x200, 6 },
	{ "page-faults:u", &fixture_jit, "lua", 0, 1, 0x100, 2 },
};
static const struct fixture_epoch two_event_epoch = {
	.counts = two_events, .count = 4, .symbols = symbols, .symbol_count = 3
};

TEST(events_stand_side_by_side_each_with_its_own_share)
{
	struct fixture *fixture = fixture_of_epoch(&two_event_epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	fixture_output(fixture, &options);
	ck_assert_str_eq(strstr(fixture->output, "\n\n") + 2,
			 "           cpu-clock:u   page-faults:u\n"
			 "samples      %    cum%  samples      %  procedure       image\n"
			 "     30  75.00   75.00        2  25.00  hot_loop        [jit lua]\n"
			 "     10  25.00  100.00        6  75.00  warm, \"quoted\"  [jit lua]\n");
}

TEST(an_events_name_sorts_by_that_event_and_a_pattern_selects_it)
{
	struct fixture *fixture = fixture_of_epoch(&two_event_epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES, .sort = "page-faults:u" };

	fixture_output(fixture, &options);
	ck_assert_ptr_nonnull(strstr(fixture->output, "warm"));
	ck_assert(strstr(fixture->output, "warm") < strstr(fixture->output, "hot_loop"));
	options.sort = NULL;
	options.of.event = "page-faults"; /* without its modifiers */
	fixture_output(fixture, &options);
	assert_lacks(fixture->output, "cpu-clock");
	assert_contains(fixture->output, "      6  75.00   75.00  warm");
	options.of.event = "cache-misses";
	hp_assert_fails(HP_ERROR_INSUFFICIENT, fixture_report(fixture, &options, NULL));
	options.of.event = NULL;
	options.sort = "colour";
	hp_assert_fails(HP_ERROR_USAGE, fixture_report(fixture, &options, NULL));
}

TEST(what_the_limits_cut_is_counted)
{
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES, .percent_limit = 5 };

	fixture_output(fixture, &options);
	/* 5 % itself is not below 5 %. */
	assert_contains(fixture->output, "      5   5.00  95.00  bad");
	assert_lacks(fixture->output, "libgone.so.1+0x");
	assert_contains(fixture->output, "# not shown: 3 rows, 5 samples (5.00 %)\n");
	options.percent_limit = 0;
	options.limit = 1;
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "hot_loop");
	assert_lacks(fixture->output, "warm");
	assert_contains(fixture->output, "# not shown: 5 rows, 30 samples (30.00 %)\n");
}

TEST(filters_select_rows_but_not_what_percentages_are_of)
{
	static const struct {
		struct hp_report_options options;
		uint64_t samples;
	} filters[] = {
		{ { .of.comm = "sh" }, 20 },
		{ { .of.comm = "l?a" }, 80 },
		{ { .of.image = "libgone*" }, 4 },
		{ { .of.image = "/nowhere/*" }, 4 },
		{ { .of.image = "[jit lua]" }, 95 },
		{ { .of.procedure = "hot*" }, 70 },
		{ { .of.procedure = "warm, \"quoted\"" }, 20 },
		{ { .of.comm = "lua", .of.image = "[jit*", .of.procedure = "*o*" }, 70 },
		{ { .view = HP_VIEW_IMAGES, .of.procedure = "hot*" }, 70 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(filters); i++) {
		struct fixture *fixture = fixture_of_epoch(&hundred_epoch);
		struct hp_report_options options = filters[i].options;
		char said[64];

		options.view = HP_VIEW_SUMMARY;
		fixture_output(fixture, &options);
		options.view = filters[i].options.view;
		snprintf(said, sizeof(said), "select %u of 100 samples (%u.00 %%)",
			 (unsigned)filters[i].samples, (unsigned)filters[i].samples);
		assert_contains(fixture->output, said);
		options.format = HP_FORMAT_CSV;
		fixture_output(fixture, &options);
		ck_assert_uint_eq(fixture_csv_sum(fixture->output, 0), filters[i].samples);
	}
}

TEST(processes_are_told_apart_only_where_they_were_recorded_apart)
{
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 41, 1000000, 0x100, 7 },
		{ "cpu-clock:u", &fixture_jit, "lua", 42, 1000000, 0x100, 5 },
	};
	struct fixture_epoch epoch = { .counts = counts, .count = 2, .per_process = true };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .of.pid = "42", .format = HP_FORMAT_CSV };

	fixture_output(fixture, &options);
	ck_assert_uint_eq(fixture_csv_sum(fixture->output, 0), 5);

	fixture = fixture_of_epoch(&hundred_epoch);
	hp_assert_says(HP_ERROR_INSUFFICIENT, NULL, "--per-process",
		       fixture_report(fixture, &options, NULL));
}

/* Of four: two of a thread that was renamed, one of another, one of nobody knows which. */
TEST(threads_and_cpus_are_told_apart_only_where_they_were_recorded_apart)
{
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 41, 1000000, 0x100, 2 },
		{ "cpu-clock:u", &fixture_jit, "lua", 41, 1000000, 0x100, 8 },
		{ "cpu-clock:u", &fixture_jit, "lua", 41, 1000000, 0x200, 4 },
		{ "cpu-clock:u", &fixture_unknown, "lua", 41, 1000000, 0x100, 1 },
	};
	static const struct fixture_place places[] = {
		{ 43, "lua", 1 }, { 43, "worker", 2 }, { 42, "a, b", 2 }, { 0, NULL, 0 }
	};
	const struct fixture_epoch epoch = { .counts = counts, .count = 4, .places = places };
	static const struct {
		const char *by;
		const char *csv;
	} cases[] = {
		{ "tid", "10,66.666667,43,worker\r\n"
			 "4,26.666667,42,\"a, b\"\r\n"
			 "1,6.666667,,\r\n" },
		{ "cpu", "12,80.000000,1\r\n"
			 "2,13.333333,0\r\n"
			 "1,6.666667,\r\n" },
		{ "cpu,tid", "8,53.333333,1,43,worker\r\n"
			     "4,26.666667,1,42,\"a, b\"\r\n"
			     "2,13.333333,0,43,lua\r\n"
			     "1,6.666667,,,\r\n" },
		{ "comm", "15,100.000000,lua\r\n" },
	};
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_BREAKDOWN, .of.by = "tid" };

	fixture_output(fixture, &options);
	assert_contains(fixture->output, "  tid  thread\n");
	assert_contains(fixture->output, "   43  worker\n");
	assert_contains(fixture->output, "    -  -\n");
	options.format = HP_FORMAT_CSV;
	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		options.of.by = cases[i].by;
		fixture_output(fixture, &options);
		ck_assert_str_eq(strchr(fixture->output, '\n') + 1, cases[i].csv);
	}
	options.format = HP_FORMAT_JSON;
	options.of.by = "tid,cpu";
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "{\"tid\": 43, \"thread\": \"worker\", \"cpu\": 1,");
	assert_contains(fixture->output, "{\"tid\": null, \"thread\": null, \"cpu\": null,");

	fixture = fixture_of_epoch(&hundred_epoch);
	for (int cpu = 0; cpu < 2; cpu++) {
		options.of.by = cpu ? "cpu" : "procedure,tid";
		hp_assert_says(HP_ERROR_INSUFFICIENT, NULL, cpu ? "--per-cpu" : "--per-thread",
			       fixture_report(fixture, &options, NULL));
	}
}

static char kernel_path[] = "[kernel]";
static char java_path[] = "[anon java]";
static char node_path[] = "[anon node]";
static const struct hp_image_id kernel_image = { .kind = HP_IMAGE_KERNEL, .path = kernel_path };
static const struct hp_image_id java_image = { .kind = HP_IMAGE_ANON, .path = java_path };
static const struct hp_image_id node_image = { .kind = HP_IMAGE_ANON, .path = node_path };

TEST(time_in_the_kernel_is_told_where_some_is_missing)
{
	static const struct fixture_count count = { "cpu-clock:u", &fixture_jit, "lua", 0,
						    1000000,	   0x100,	 10 };
	static const struct {
		uint64_t cpu_ns;
		uint64_t system_ns;
		const char *said; /* NULL: in the summary alone */
	} cases[] = {
		{ 1000, 912, "user mode only: 91.2 % of the CPU time (system) is not in here" },
		{ 1000, 10, "user mode only: 1.0 % of the CPU time (system) is not in here" },
		{ 1000, 9, NULL },
		{ 0, 0, "user mode only: CPU time in the kernel (system) is not in here" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		const struct fixture_epoch epoch = { .counts = &count,
						     .count = 1,
						     .cpu_ns = cases[i].cpu_ns,
						     .system_ns = cases[i].system_ns };
		struct fixture *fixture = fixture_of_epoch(&epoch);
		struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

		fixture_output(fixture, &options);
		if (cases[i].said)
			assert_contains(fixture->output, cases[i].said);
		else
			assert_lacks(fixture->output, "user mode only");
		options.view = HP_VIEW_SUMMARY;
		fixture_output(fixture, &options);
		assert_contains(fixture->output, "user mode only: ");
	}
}

TEST(what_has_no_names_comes_largest_share_first)
{
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &java_image, "java", 0, 1000000, 0x100, 6 },
		{ "cpu-clock:u", &kernel_image, "java", 0, 1000000, 0x100, 30 },
		{ "cpu-clock:u", &node_image, "node", 0, 1000000, 0x100, 14 },
	};
	const struct fixture_epoch epoch = { .counts = counts, .count = 3 };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_SUMMARY };
	const char *kernel;
	const char *java;
	const char *node;

	fixture_output(fixture, &options);
	kernel = strstr(fixture->output, "# no names   [kernel] (60 %): record as");
	node = strstr(fixture->output, "# no names   [anon node] (28 %): node --perf");
	java = strstr(fixture->output, "# no names   [anon java] (12 %): java -XX");
	ck_assert_msg(kernel && node && java && kernel < node && node < java, "%s",
		      fixture->output);
	/* Where there is room for one, it is the most important. */
	options.view = HP_VIEW_PROCEDURES;
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "# no names   [kernel]");
	assert_lacks(fixture->output, "# no names   [anon java]");
}

TEST(what_there_is_to_do_goes_on_in_the_next_line_while_there_is_room)
{
	static const struct fixture_count counts[] = {
		{ "cycles", &java_image, "java", 0, 1000000, 0x100, 6 },
		{ "cpu-clock:u", &java_image, "java", 0, 1000000, 0x100, 6 },
	};
	const struct fixture_epoch epoch = { .counts = counts, .count = 2 };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES, .terminal_columns = 70 };

	options.of.event = "cycles";
	fixture_output(fixture, &options);
	assert_contains(
		fixture->output,
		"# no names   [anon java] (100 %): java -XX:+UnlockDiagnosticVMOptions\n"
		"#            -XX:+DumpPerfMapAtExit names it (JDK 17 and later; befor\xe2\x80\xa6"
		"\n\n");
	/* One line less. */
	options.of.event = "cpu-clock:u";
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "# no names   [anon java] (100 %): java "
					 "-XX:+UnlockDiagnosticVMOptions\xe2\x80\xa6\n\n");
}

TEST(a_file_of_next_to_no_samples_takes_no_line_of_the_screen)
{
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 995 },
		{ "cpu-clock:u", &fixture_missing, "lua", 0, 1000000, 0x100, 5 },
	};
	const struct fixture_epoch epoch = { .counts = counts, .count = 2 };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	fixture_output(fixture, &options);
	assert_lacks(fixture->output, "not read ");
	ck_assert_ptr_null(fixture->warnings);
	/* But for who asks for it, or for all. */
	options.of.image = "libgone*";
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "# not read");
	ck_assert_ptr_nonnull(fixture->warnings);
	options = (struct hp_report_options){ .view = HP_VIEW_SUMMARY };
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "# not read   /nowhere/at/all/libgone.so.1");
}

TEST(samples_where_interrupts_are_enabled_are_explained_where_they_dominate)
{
	static char enable[] = "pvm_irq_enable";
	static char copy[] = "_copy_to_iter";
	static const struct hp_symbol at_kernel[] = {
		{ .offset = { 0x100 }, .size = 0x100, .name = enable },
		{ .offset = { 0x200 }, .size = 0x100, .name = copy },
	};
	static const char line[] = "# kernel     code with interrupts off counts where they are "
				   "enabled again (pvm_irq_enable, ...): 60 % of the kernel's "
				   "samples\n";
	static const struct {
		const char *event;
		uint64_t enabling;
		uint64_t others;
		uint64_t user;
		bool is_told;
	} cases[] = {
		{ "cpu-clock", 30, 20, 50, true },
		{ "cpu-clock", 12, 38, 50, false },
		{ "cpu-clock", 3, 2, 95, false },
		{ "cycles", 30, 20, 50, false },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		const struct fixture_count counts[] = {
			{ cases[i].event, &kernel_image, "x", 0, 1000000, 0x110,
			  cases[i].enabling },
			{ cases[i].event, &kernel_image, "x", 0, 1000000, 0x210, cases[i].others },
			{ cases[i].event, &fixture_jit, "x", 0, 1000000, 0x110, cases[i].user },
		};
		const struct fixture_epoch epoch = {
			.counts = counts, .count = 3, .symbols = at_kernel, .symbol_count = 2
		};
		struct fixture *fixture = fixture_of_epoch(&epoch);
		struct hp_report_options options = { .view = HP_VIEW_PROCEDURES,
						     .sort = cases[i].event };

		fixture_output(fixture, &options);
		if (cases[i].is_told)
			assert_contains(fixture->output, line);
		else
			assert_lacks(fixture->output, "# kernel");
	}
}

TEST(without_samples_there_is_an_explanation_and_still_a_summary)
{
	struct fixture_epoch epoch = { .label = "empty" };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	hp_assert_fails(HP_ERROR_INSUFFICIENT, fixture_report(fixture, &options, NULL));
	ck_assert_str_eq(fixture->output, "");
	options.view = HP_VIEW_SUMMARY;
	hp_assert_fails(HP_ERROR_INSUFFICIENT, fixture_report(fixture, &options, NULL));
	assert_contains(fixture->output, "cpu-clock:u: 0 samples");
}

TEST(filters_that_nothing_passes_are_an_error_not_an_empty_table)
{
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);
	struct hp_report_options options = { .of.procedure = "no_such_procedure" };

	hp_assert_fails(HP_ERROR_INSUFFICIENT, fixture_report(fixture, &options, NULL));
	options = (struct hp_report_options){ .view = HP_VIEW_INSTRUCTIONS, .of.listed = "nobody" };
	hp_assert_fails(HP_ERROR_INSUFFICIENT, fixture_report(fixture, &options, NULL));
}

TEST(options_that_make_no_sense_are_usage_errors)
{
	static const struct hp_report_options bad[] = {
		{ .percent_limit = -1 },
		{ .percent_limit = 101 },
		{ .view = HP_VIEW_IMAGES, .of.inlines = true },
		{ .view = HP_VIEW_IMAGES, .sort = "address" },
		{ .view = HP_VIEW_PROCEDURES, .sort = "line" },
	};
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		hp_assert_fails(HP_ERROR_USAGE, fixture_report(fixture, &bad[i], NULL));
}

TEST(csv_has_a_header_record_crlf_and_quotes)
{
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);
	struct hp_report_options options = { .format = HP_FORMAT_CSV, .of.comm = "sh" };

	fixture_output(fixture, &options);
	ck_assert_str_eq(fixture->output,
			 "cpu-clock:u samples,cpu-clock:u percent,procedure,inlined,address,size,"
			 "image,build_id\r\n"
			 "20,20.000000,\"warm, \"\"quoted\"\"\",no,,,[jit lua],\r\n");
}

TEST(on_a_terminal_lines_are_cut_to_its_width_and_elsewhere_whole)
{
	static char long_name[] = "a_procedure_whose_name_is_longer_than_the_terminal_is_wide";
	static const struct hp_symbol symbol = { { 0x100 }, 0x40, long_name, NULL };
	static const struct fixture_count count = { "cpu-clock:u", &fixture_jit, "lua", 0,
						    1000000,	   0x100,	 1 };
	struct fixture_epoch epoch = {
		.counts = &count, .count = 1, .symbols = &symbol, .symbol_count = 1
	};
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	fixture_output(fixture, &options);
	assert_contains(fixture->output, long_name);
	options.terminal_columns = 60;
	fixture_output(fixture, &options);
	/* 60 = "      1  100.00  100.00" + 2 + 24 + 2 + "[jit lua]" */
	assert_contains(
		fixture->output,
		"\n      1  100.00  100.00  a_procedure_whose_name_\xe2\x80\xa6  [jit lua]\n");
	assert_lacks(fixture->output, "\033");
	options.colour = true;
	fixture_output(fixture, &options);
	assert_contains(fixture->output, "\033[31m");
}

TEST(images_that_share_a_name_show_their_paths)
{
	static char one_path[] = "/no/one/libx.so";
	static char two_path[] = "/no/two/libx.so";
	static const struct hp_image_id one = { .kind = HP_IMAGE_FILE, .path = one_path };
	static const struct hp_image_id two = { .kind = HP_IMAGE_FILE, .path = two_path };
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &one, "x", 0, 1000000, 0x10, 2 },
		{ "cpu-clock:u", &two, "x", 0, 1000000, 0x10, 1 },
	};
	struct fixture_epoch epoch = { .counts = counts, .count = 2 };
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	fixture_output(fixture, &options);
	assert_contains(fixture->output, "libx.so+0x10  /no/one/libx.so (not read)\n");
	assert_contains(fixture->output, "libx.so+0x10  /no/two/libx.so (not read)\n");
}

TEST(generated_code_adds_up_by_name_across_epochs_that_laid_it_out_differently)
{
	static const struct hp_symbol swapped[] = {
		{ { 0x100 }, 0x40, warm_name, NULL },
		{ { 0x200 }, 0x40, hot_name, NULL },
	};
	static const struct fixture_count first[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 8 }, /* hot */
	};
	static const struct fixture_count second[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 1 },  /* warm */
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x208, 11 }, /* hot */
	};
	static const char *const labels[] = { "first", "second", NULL };
	struct fixture_epoch epoch = {
		.label = "first", .counts = first, .count = 1, .symbols = symbols, .symbol_count = 3
	};
	struct fixture *fixture = fixture_of_epoch(&epoch);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES };

	epoch = (struct fixture_epoch){ .label = "second",
					.counts = second,
					.count = 2,
					.symbols = swapped,
					.symbol_count = 2 };
	fixture_add(fixture, &epoch);
	hp_assert_ok(fixture_report(fixture, &options, labels));
	assert_contains(fixture->output, "     19  95.00   95.00  hot_loop");
	assert_contains(fixture->output, "      1   5.00  100.00  warm");
}

TEST(the_summary_says_where_samples_are_and_how_they_were_named)
{
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);
	struct hp_report_options options = { .view = HP_VIEW_SUMMARY };

	fixture_output(fixture, &options);
	assert_contains(fixture->output, "        95  95.00 %  generated code (JIT)\n");
	assert_contains(fixture->output, "         4   4.00 %  programs and libraries\n");
	assert_contains(fixture->output, "         1   1.00 %  unknown\n");
	assert_contains(fixture->output, "        95  95.00 %  procedures known by a symbol\n");
	assert_contains(fixture->output, "         4   4.00 %  image missing or changed\n");
}

HP_TEST_MAIN("report/views")
