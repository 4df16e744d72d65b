/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of databases filled by hand: every expected number is added up by hand beside the input. */
#include "fixture.h"

#include <glob.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

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
	static const struct hp_report_options views[] = {
		{ .view = HP_VIEW_PROCEDURES },
		{ .view = HP_VIEW_PROCEDURES, .of.inlines = true },
		{ .view = HP_VIEW_LINES },
		{ .view = HP_VIEW_IMAGES },
		{ .view = HP_VIEW_INSTRUCTIONS },
	};
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);

	for (size_t i = 0; i < HP_ARRAY_COUNT(views); i++) {
		struct hp_report_options options = views[i];

		options.format = HP_FORMAT_CSV;
		ck_assert_uint_eq(fixture_csv_sum(fixture_output(fixture, &options), 0), 100);
		if (options.view == HP_VIEW_IMAGES)
			ck_assert_uint_eq(fixture_csv_records(fixture->output), 3);
	}
}

TEST(procedures_come_hottest_first_with_their_share_and_the_running_sum)
{
	assert_shows(fixture_of_epoch(&hundred_epoch), REPORT(.view = HP_VIEW_PROCEDURES),
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

TEST(the_header_says_how_good_the_data_is_and_the_summary_where_samples_are)
{
	char *warnings[] = { (char[]){ "the clock jumped" }, NULL };
	struct fixture_epoch epoch = hundred_epoch;
	struct fixture *fixture;

	epoch.warnings = warnings;
	epoch.instead_of = "cycles";
	fixture = fixture_of_epoch(&epoch);
	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES),
		     "\"hundred\", 2.50 s: lua 'my script.lua'\n",
		     "cpu-clock:u instead of cycles: 100 samples, one every 1 ms\n",
		     "# warning    the clock jumped\n",
		     " more lines of the header: hpcprof report --summary\n");
	ck_assert_uint_eq(lines_of_header(fixture->output), 4);
	assert_shows(
		fixture, REPORT(.view = HP_VIEW_SUMMARY),
		"\"hundred\", 2023-11-14 22:13:20 UTC, 2.50 s\n",
		"# command    lua 'my script.lua'\n", "# machine    testhost: unknown, 2 CPUs",
		"cpu-clock:u: 100 samples, one every 1 ms, precision: skid+1\n",
		"instead of cycles: this machine has no PMU\n",
		"lost 0 (0.00 %), unattributed 1 (1.00 %), throttled 0",
		"# warning    the clock jumped\n", "        95  95.00 %  generated code (JIT)\n",
		"         4   4.00 %  programs and libraries\n", "         1   1.00 %  unknown\n",
		"        95  95.00 %  procedures known by a symbol\n",
		"         4   4.00 %  image missing or changed\n");
}

TEST(an_image_whose_file_is_gone_is_named_with_its_share_and_keeps_raw_offsets)
{
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);

	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES),
		     "# not read   /nowhere/at/all/libgone.so.1: No such file or directory "
		     "(4.00 % of samples)\n");
	assert_contains(fixture->warnings, "--symfs DIR");
	assert_contains(fixture->warnings, "/nowhere/at/all/libgone.so.1");
}

TEST(a_file_in_memory_is_nowhere_to_be_looked_for)
{
	static char path[] = "/memfd:program";
	static const struct hp_image_id in_memory = { .kind = HP_IMAGE_FILE, .path = path };
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &in_memory, "lua", 0, 1000000, 0x1234, 9 },
	};
	struct fixture *fixture = fixture_of_counts(counts);

	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES),
		     "# not read   /memfd:program: No such file or directory");
	assert_contains(fixture->warnings, "it was in memory only");
	ck_assert_ptr_null(strstr(fixture->warnings, "--symfs"));
}

/* Of epochs "first" and "second"; one that names no symbols has those above. */
static struct fixture *fixture_of_pair(const struct fixture_epoch *epochs)
{
	struct fixture *fixture = fixture_create();

	for (size_t i = 0; i < 2; i++) {
		struct fixture_epoch epoch = epochs[i];

		epoch.label = i ? "second" : "first";
		if (!epoch.symbols) {
			epoch.symbols = symbols;
			epoch.symbol_count = HP_ARRAY_COUNT(symbols);
		}
		fixture_add(fixture, &epoch);
	}
	return fixture;
}

static const char *output_of_both(struct fixture *fixture, const struct hp_report_options *options)
{
	static const char *const labels[] = { "first", "second", NULL };

	hp_assert_ok(fixture_report(fixture, options, labels));
	return fixture->output;
}

TEST(epochs_of_different_periods_add_up_by_weight_and_a_substitution_in_one_is_told)
{
	/* hot 300 * 1 ms + 100 * 4 ms = 700 ms of 1000; warm 300 * 1 ms. */
	static const struct fixture_count slow[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 4000000, 0x100, 100 },
	};
	static const struct fixture_count fast[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 300 },
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x200, 300 },
	};
	const struct fixture_epoch epochs[] = {
		{ .counts = slow, .count = 1 },
		{ .counts = fast, .count = 2, .instead_of = "cycles" }
	};
	const char *output =
		output_of_both(fixture_of_pair(epochs), REPORT(.view = HP_VIEW_PROCEDURES));

	assert_contains(output,
			"cpu-clock:u instead of cycles: 700 samples, one every 1 ms to 4 ms");
	assert_contains(output, "    400  70.00   70.00  hot_loop");
	assert_contains(output, "    300  30.00  100.00  warm");
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
	static const struct {
		struct hp_report_options options;
		const char *said;
	} rows[] = {
		{ { .view = HP_VIEW_PROCEDURES }, "    100  50.00   50.00  hot_loop" },
		{ { .view = HP_VIEW_PROCEDURES }, "    400  50.00  100.00  warm" },
		{ { .view = HP_VIEW_PROCEDURES }, "had a counter for 62.5 % of the time" },
		{ { .format = HP_FORMAT_CSV }, "100,50.000000,hot_loop" },
		{ { .view = HP_VIEW_SUMMARY, .format = HP_FORMAT_CSV },
		  ",0.625000,,,500,0,0,0\r\n" },
		{ { .format = HP_FORMAT_JSON }, "\"period\": 1000000, \"samples\": 500" },
		{ { .format = HP_FORMAT_JSON }, "\"coverage\": 0.625" },
	};
	const struct fixture_epoch epochs[] = {
		{ .counts = some, .count = 1, .coverage = quarter },
		{ .counts = full, .count = 1, .coverage = all },
	};
	struct fixture *fixture = fixture_of_pair(epochs);
	static const char *const first[] = { "first", NULL };

	hp_assert_ok(fixture_report(fixture, REPORT(.view = HP_VIEW_PROCEDURES), first));
	assert_contains(fixture->output, ": 100 samples, one every 1 ms\n");
	assert_contains(fixture->output, "had a counter for 25.0 % of the time: each sample stands "
					 "for 4 periods");
	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++)
		assert_contains(output_of_both(fixture, &rows[i].options), rows[i].said);
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

TEST(events_stand_side_by_side_each_with_its_own_share_and_one_may_sort_or_be_alone)
{
	struct fixture *fixture = fixture_of_epoch(&two_event_epoch);

	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES),
		     "\n\n           cpu-clock:u   page-faults:u\n"
		     "samples      %    cum%  samples      %  procedure       image\n"
		     "     30  75.00   75.00        2  25.00  hot_loop        [jit lua]\n"
		     "     10  25.00  100.00        6  75.00  warm, \"quoted\"  [jit lua]\n");
	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES, .sort = "page-faults:u"), "warm");
	ck_assert(strstr(fixture->output, "warm") < strstr(fixture->output, "hot_loop"));
	/* Without its modifiers. */
	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES, .of.event = "page-faults"),
		     "      6  75.00   75.00  warm");
	assert_lacks(fixture->output, "cpu-clock");
}

TEST(what_the_limits_cut_is_counted)
{
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);

	/* 5 % itself is not below 5 %. */
	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES, .percent_limit = 5),
		     "      5   5.00  95.00  bad", "# not shown: 3 rows, 5 samples (5.00 %)\n");
	assert_lacks(fixture->output, "libgone.so.1+0x");
	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES, .limit = 1), "hot_loop",
		     "# not shown: 5 rows, 30 samples (30.00 %)\n");
	assert_lacks(fixture->output, "warm");
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

TEST(processes_are_told_apart_where_they_were_recorded_apart)
{
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 41, 1000000, 0x100, 7 },
		{ "cpu-clock:u", &fixture_jit, "lua", 42, 1000000, 0x100, 5 },
	};
	struct fixture_epoch epoch = { .counts = counts, .count = 2, .per_process = true };
	const char *csv = fixture_output(fixture_of_epoch(&epoch),
					 REPORT(.of.pid = "42", .format = HP_FORMAT_CSV));

	ck_assert_uint_eq(fixture_csv_sum(csv, 0), 5);
}

/* Of four: two of a thread that was renamed, one of another, one of nobody knows which. */
TEST(threads_and_cpus_are_told_apart_where_they_were_recorded_apart)
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
	struct hp_report_options options = { .view = HP_VIEW_BREAKDOWN, .format = HP_FORMAT_CSV };

	assert_shows(fixture, REPORT(.view = HP_VIEW_BREAKDOWN, .of.by = "tid"), "  tid  thread\n",
		     "   43  worker\n", "    -  -\n");
	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		options.of.by = cases[i].by;
		fixture_output(fixture, &options);
		ck_assert_str_eq(strchr(fixture->output, '\n') + 1, cases[i].csv);
	}
	assert_shows(
		fixture,
		REPORT(.view = HP_VIEW_BREAKDOWN, .of.by = "tid,cpu", .format = HP_FORMAT_JSON),
		"{\"tid\": 43, \"thread\": \"worker\", \"cpu\": 1,",
		"{\"tid\": null, \"thread\": null, \"cpu\": null,");
}

static const struct hp_image_id kernel_image = { .kind = HP_IMAGE_KERNEL,
						 .path = (char[]){ "[kernel]" } };
static const struct hp_image_id java_image = { .kind = HP_IMAGE_ANON,
					       .path = (char[]){ "[anon java]" } };
static const struct hp_image_id node_image = { .kind = HP_IMAGE_ANON,
					       .path = (char[]){ "[anon node]" } };

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

		assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES),
			     cases[i].said ? cases[i].said : "");
		if (!cases[i].said)
			assert_lacks(fixture->output, "user mode only");
		assert_shows(fixture, REPORT(.view = HP_VIEW_SUMMARY), "user mode only: ");
	}
}

/* Samples of generated code and of the kernel have their names beside them. */
TEST(damaged_names_leave_the_samples)
{
	static char name[] = "kept_name";
	static const struct hp_symbol symbol = { { 0x100 }, 0x40, name, NULL };
	static const struct fixture_count count = { "cpu-clock:u", &fixture_jit, "lua", 0,
						    1000000,	   0x100,	 10 };
	const struct fixture_epoch epoch = {
		.counts = &count, .count = 1, .symbols = &symbol, .symbol_count = 1
	};
	struct fixture *fixture = fixture_of_epoch(&epoch);
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*/*.sym", hp_db_path(fixture->db));
	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	ck_assert_int_eq(truncate(found.gl_pathv[0], 20), 0);
	globfree(&found);
	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES), "     10  100.00  100.00");
	assert_lacks(fixture->output, "kept_name");
	assert_contains(fixture->warnings, "the names are lost; everything else is intact");
}

TEST(what_has_no_names_comes_largest_share_first)
{
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &java_image, "java", 0, 1000000, 0x100, 6 },
		{ "cpu-clock:u", &kernel_image, "java", 0, 1000000, 0x100, 30 },
		{ "cpu-clock:u", &node_image, "node", 0, 1000000, 0x100, 14 },
	};
	static const char *const said[] = { "# no names   [kernel] (60 %): record as",
					    "# no names   [anon node] (28 %): node --perf",
					    "# no names   [anon java] (12 %): java -XX" };
	struct fixture *fixture = fixture_of_counts(counts);
	const char *at = fixture_output(fixture, REPORT(.view = HP_VIEW_SUMMARY));

	for (size_t i = 0; i < HP_ARRAY_COUNT(said); i++) {
		at = strstr(at, said[i]);
		ck_assert_msg(at != NULL, "no '%s', or not there, in %s", said[i], fixture->output);
	}
	/* Where there is room for one, it is the most important. */
	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES), "# no names   [kernel]");
	assert_lacks(fixture->output, "# no names   [anon java]");
}

TEST(what_there_is_to_do_goes_on_in_the_next_line_while_there_is_room)
{
	static const struct fixture_count counts[] = {
		{ "cycles", &java_image, "java", 0, 1000000, 0x100, 6 },
		{ "cpu-clock:u", &java_image, "java", 0, 1000000, 0x100, 6 },
	};
	struct fixture *fixture = fixture_of_counts(counts);
	struct hp_report_options options = { .view = HP_VIEW_PROCEDURES,
					     .terminal_columns = 70,
					     .of.event = "cycles" };

	assert_shows(fixture, &options,
		     "# no names   [anon java] (100 %): java -XX:+UnlockDiagnosticVMOptions\n"
		     "#            -XX:+DumpPerfMapAtExit names it (JDK 17 and later; befor…\n\n");
	/* One line less. */
	options.of.event = "cpu-clock:u";
	assert_shows(fixture, &options,
		     "# no names   [anon java] (100 %): java "
		     "-XX:+UnlockDiagnosticVMOptions…\n\n");
}

TEST(a_file_of_next_to_no_samples_takes_no_line_of_the_screen)
{
	static const struct fixture_count counts[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 995 },
		{ "cpu-clock:u", &fixture_missing, "lua", 0, 1000000, 0x100, 5 },
	};
	struct fixture *fixture = fixture_of_counts(counts);

	assert_lacks(fixture_output(fixture, REPORT(.view = HP_VIEW_PROCEDURES)), "not read ");
	ck_assert_ptr_null(fixture->warnings);
	/* But for who asks for it, or for all. */
	assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES, .of.image = "libgone*"),
		     "# not read");
	ck_assert_ptr_nonnull(fixture->warnings);
	assert_shows(fixture, REPORT(.view = HP_VIEW_SUMMARY),
		     "# not read   /nowhere/at/all/libgone.so.1");
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

		assert_shows(fixture, REPORT(.view = HP_VIEW_PROCEDURES, .sort = cases[i].event),
			     cases[i].is_told ? line : "");
		if (!cases[i].is_told)
			assert_lacks(fixture->output, "# kernel");
	}
}

TEST(without_samples_there_is_an_explanation_and_still_a_summary)
{
	struct fixture *fixture = fixture_of_epoch(&(struct fixture_epoch){ .label = "empty" });

	hp_assert_fails(HP_ERROR_INSUFFICIENT,
			fixture_report(fixture, REPORT(.view = HP_VIEW_PROCEDURES), NULL));
	ck_assert_str_eq(fixture->output, "");
	hp_assert_fails(HP_ERROR_INSUFFICIENT,
			fixture_report(fixture, REPORT(.view = HP_VIEW_SUMMARY), NULL));
	assert_contains(fixture->output, "cpu-clock:u: 0 samples");
}

TEST(options_that_make_no_sense_or_need_another_recording_are_errors)
{
	static const struct {
		enum hp_error_class class;
		const char *advice;
		struct hp_report_options options;
	} bad[] = {
		{ HP_ERROR_USAGE, NULL, { .percent_limit = -1 } },
		{ HP_ERROR_USAGE, NULL, { .percent_limit = 101 } },
		{ HP_ERROR_USAGE, NULL, { .view = HP_VIEW_IMAGES, .of.inlines = true } },
		{ HP_ERROR_USAGE, NULL, { .view = HP_VIEW_IMAGES, .sort = "address" } },
		{ HP_ERROR_USAGE, NULL, { .view = HP_VIEW_PROCEDURES, .sort = "line" } },
		{ HP_ERROR_USAGE, NULL, { .view = HP_VIEW_PROCEDURES, .sort = "colour" } },
		/* Filters that nothing passes are no empty table. */
		{ HP_ERROR_INSUFFICIENT, NULL, { .of.procedure = "no_such_procedure" } },
		{ HP_ERROR_INSUFFICIENT,
		  NULL,
		  { .view = HP_VIEW_INSTRUCTIONS, .of.listed = "nobody" } },
		{ HP_ERROR_INSUFFICIENT, NULL, { .of.event = "cache-misses" } },
		/* What was not recorded apart. */
		{ HP_ERROR_INSUFFICIENT, "--per-process", { .of.pid = "42" } },
		{ HP_ERROR_INSUFFICIENT,
		  "--per-cpu",
		  { .view = HP_VIEW_BREAKDOWN, .of.by = "cpu" } },
		{ HP_ERROR_INSUFFICIENT,
		  "--per-thread",
		  { .view = HP_VIEW_BREAKDOWN, .of.by = "procedure,tid" } },
	};
	struct fixture *fixture = fixture_of_epoch(&hundred_epoch);

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		hp_assert_says(bad[i].class, NULL, bad[i].advice,
			       fixture_report(fixture, &bad[i].options, NULL));
}

TEST(csv_has_a_header_record_crlf_and_quotes)
{
	ck_assert_str_eq(fixture_output(fixture_of_epoch(&hundred_epoch),
					REPORT(.format = HP_FORMAT_CSV, .of.comm = "sh")),
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

	assert_shows(fixture, &options, long_name);
	options.terminal_columns = 60;
	/* 60 = "      1  100.00  100.00" + 2 + 24 + 2 + "[jit lua]" */
	assert_shows(fixture, &options,
		     "\n      1  100.00  100.00  a_procedure_whose_name_…  [jit lua]\n");
	assert_lacks(fixture->output, "\033");
	options.colour = true;
	assert_shows(fixture, &options, "\033[31m");
}

TEST(images_that_share_a_name_show_their_paths)
{
	const struct hp_image_id one = { .kind = HP_IMAGE_FILE,
					 .path = (char[]){ "/no/one/libx.so" } };
	const struct hp_image_id two = { .kind = HP_IMAGE_FILE,
					 .path = (char[]){ "/no/two/libx.so" } };
	const struct fixture_count counts[] = {
		{ "cpu-clock:u", &one, "x", 0, 1000000, 0x10, 2 },
		{ "cpu-clock:u", &two, "x", 0, 1000000, 0x10, 1 },
	};

	assert_shows(fixture_of_counts(counts), REPORT(.view = HP_VIEW_PROCEDURES),
		     "libx.so+0x10  /no/one/libx.so (not read)\n",
		     "libx.so+0x10  /no/two/libx.so (not read)\n");
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
	const struct fixture_epoch epochs[] = {
		{ .counts = first, .count = 1 },
		{ .counts = second, .count = 2, .symbols = swapped, .symbol_count = 2 },
	};
	const char *output =
		output_of_both(fixture_of_pair(epochs), REPORT(.view = HP_VIEW_PROCEDURES));

	assert_contains(output, "     19  95.00   95.00  hot_loop");
	assert_contains(output, "      1   5.00  100.00  warm");
}

HP_TEST_MAIN("report/views")
