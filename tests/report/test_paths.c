/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of call paths: every expected number is added up by hand beside the input. */
#include "../json.h"
#include "fixture.h"

#include <hpcprof/base/text.h>

#include <string.h>

static char main_name[] = "main";
static char parse_name[] = "parse";
static char scan_name[] = "scan <&\"'>\033[2J";
static const struct hp_symbol symbols[] = {
	{ { 0x100 }, 0x40, main_name, NULL },
	{ { 0x200 }, 0x40, parse_name, NULL },
	{ { 0x300 }, 0x40, scan_name, NULL },
};

/* 100 samples: scan 60 + 10 + 5 + 1, parse 20, main 4. */
static const struct fixture_count counts[] = {
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x308, 76 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x210, 20 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x120, 4 },
};

/* Of as many in main that what main calls has less than 1 %. */
static const struct fixture_count many[] = {
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x308, 70 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x120, 9930 },
};

static void clear_paths(void *object)
{
	hp_paths_clear(object);
	free(object);
}

/* M main, P parse, S scan, in the order of calls; E the end of main, after a
 * call that does not return; X in a file that is not there; T truncated, U unknown; a small letter is a
 * guess. */
static void add(struct hp_paths *paths, const char *path, uint64_t samples)
{
	static const struct {
		char letter;
		uint64_t offset;
		const struct hp_image_id *image;
	} places[] = { { 'm', 0x120, &fixture_jit },
		       { 'p', 0x210, &fixture_jit },
		       { 's', 0x308, &fixture_jit },
		       { 'e', 0x140, &fixture_jit },
		       { 'x', 0x456, &fixture_missing } };
	struct hp_path_series series = { .event = kept(strdup("cpu-clock:u")),
					 .command = kept(strdup("lua")),
					 .period = 1000000 };
	struct hp_path_frame frames[128];
	size_t count = strlen(path);
	uint32_t number;

	for (size_t i = 0; i < count; i++) {
		char letter = path[count - 1 - i];
		struct hp_path_frame *frame = &frames[i];

		*frame = (struct hp_path_frame){ .image = HP_PATH_NO_IMAGE,
						 .flags = letter == 'T' ? HP_PATH_TRUNCATED
									: HP_PATH_UNKNOWN };
		for (size_t j = 0; j < HP_ARRAY_COUNT(places); j++) {
			if ((letter | 0x20) != places[j].letter)
				continue;
			frame->offset = places[j].offset;
			frame->flags = letter & 0x20 ? HP_PATH_GUESS : 0;
			hp_assert_ok(hp_paths_image(paths, places[j].image, &frame->image));
		}
	}
	hp_assert_ok(hp_paths_series(paths, &series, &number));
	hp_assert_ok(hp_paths_add(paths, number, frames, count, samples));
}

static struct fixture *fixture_of_both(const struct fixture_count *of, size_t count,
				       struct hp_paths *paths)
{
	struct fixture *fixture = fixture_create();
	struct fixture_epoch epoch = {
		.label = "paths",
		.counts = of,
		.count = count,
		.symbols = symbols,
		.symbol_count = HP_ARRAY_COUNT(symbols),
		.paths = paths,
	};

	fixture_add(fixture, &epoch);
	return fixture;
}

static struct fixture *fixture_with(struct hp_paths *paths)
{
	return fixture_of_both(counts, HP_ARRAY_COUNT(counts), paths);
}

static struct hp_paths *new_paths(void)
{
	struct hp_paths *paths = calloc(1, sizeof(*paths));

	at_end(clear_paths, paths);
	return paths;
}

static struct fixture *fixture_of(bool has_paths)
{
	struct hp_paths *paths = new_paths();

	add(paths, "MPS", 60);
	add(paths, "MS", 10);
	add(paths, "TPPS", 5);
	add(paths, "MUS", 1);
	add(paths, "Mp", 20);
	add(paths, "M", 4);
	return fixture_with(has_paths ? paths : NULL);
}

static const char *output(const struct hp_report_options *options)
{
	return fixture_output(fixture_of(true), options);
}

TEST(each_path_counts_once_for_each_procedure_on_it)
{
	struct hp_report_options options = { .view = HP_VIEW_CHILDREN };
	const char *text = output(&options);

	/* All but the truncated 5; 60 + 5 + 20; all but main's 4 and parse's 20. */
	assert_contains(text, "   95.00    4.00        95  main  [jit lua]\n");
	assert_contains(text, "   85.00   20.00        85  parse  [jit lua]\n");
	assert_contains(text, "   76.00   76.00        76  scan");
	assert_contains(text, "    5.00    0.00         5  [truncated]\n");
	assert_contains(text, "# 5.00 % of the paths do not reach the root");
	assert_contains(text, "# 1.00 % of the paths lead over code in no known image");
	assert_contains(text, "# 20.00 % of the paths have a guessed caller");
	assert_lacks(text, "\033");
}

TEST(callers_of_a_procedure_add_up_to_it)
{
	struct hp_report_options options = { .view = HP_VIEW_CALLERS };
	const char *text = output(&options);

	assert_contains(text, "   85.00   20.00        85  parse  [jit lua]\n"
			      "   80.00               80    ← main  [jit lua]\n"
			      "    5.00                5    ← [truncated]\n"
			      "    5.00                5    ← itself\n");
	assert_contains(text, "procedure, and who calls it (←)\n");
	assert_contains(text, "several times, the sample counts for each caller there\n");
}

TEST(callees_of_a_procedure_are_those_that_it_calls)
{
	struct hp_report_options options = { .view = HP_VIEW_CALLEES };
	const char *text = output(&options);

	assert_contains(text, "   95.00    4.00        95  main  [jit lua]\n"
			      "   80.00               80    → parse  [jit lua]\n"
			      "   10.00               10    → scan");
}

TEST(the_tree_is_indented_where_it_branches)
{
	struct hp_report_options options = { .view = HP_VIEW_TREE, .percent_limit = 2 };
	const char *text = output(&options);

	assert_contains(text, "   95.00    4.00        95  main  [jit lua]\n"
			      "   80.00   20.00        80  ├ parse  [jit lua]\n"
			      "   60.00   60.00        60  │ └ scan");
	assert_contains(text, "    1.00                 1  └ 1 more\n");
	assert_contains(text, "    5.00                 5  [truncated]\n"
			      "    5.00                 5  parse  [jit lua] (recursive)\n"
			      "    5.00    5.00         5  scan");
}

/* Of a procedure with few of the samples its own callees are shown. */
TEST(what_is_folded_is_little_of_what_the_tree_shows)
{
	struct hp_report_options options = { .view = HP_VIEW_CALLEES, .path_procedure = "parse" };
	struct hp_paths *paths = new_paths();
	struct fixture *fixture;
	const char *text;

	add(paths, "M", 9910);
	add(paths, "MPS", 70);
	add(paths, "MPM", 20);
	fixture = fixture_of_both(many, HP_ARRAY_COUNT(many), paths);
	text = fixture_output(fixture, &options);
	assert_contains(text, "    0.70    0.70        70  ├ scan");
	assert_contains(text, "# \"more\": below 0.009 % each");
	options.percent_limit = 0.75;
	text = fixture_output(fixture, &options);
	assert_lacks(text, "scan");
	assert_contains(text, "# \"more\": below 0.75 % each");
}

TEST(calls_that_were_dropped_to_save_memory_are_told)
{
	struct hp_report_options options = { .view = HP_VIEW_TREE };
	struct hp_paths *paths = new_paths();
	const char *text;

	/* A root, main and two of its three callees. */
	paths->node_limit = 4;
	add(paths, "MP", 20);
	add(paths, "ME", 4);
	add(paths, "MS", 76);
	text = fixture_output(fixture_with(paths), &options);
	assert_contains(text, " [folded]\n");
	assert_contains(text, "% of the paths went on to calls dropped to save memory: [folded]\n");
}

TEST(the_tree_turned_around_begins_at_what_was_sampled)
{
	struct hp_report_options options = { .view = HP_VIEW_TREE, .bottom_up = true };
	const char *text = output(&options);

	assert_contains(text, "   20.00                20  parse  [jit lua]\n"
			      "   20.00                20  main  [jit lua]\n");
}

/* A long way to the root is told once; who is on it first is shown, to be found above. */
TEST(a_way_to_the_root_is_not_told_again)
{
	struct hp_report_options options = { .view = HP_VIEW_TREE, .bottom_up = true };
	struct hp_paths *paths = new_paths();
	const char *text;

	add(paths, "MPMPMS", 50);
	add(paths, "MPMPMP", 30);
	add(paths, "MPM", 20);
	text = fixture_output(fixture_with(paths), &options);
	assert_contains(text, "   30.00                30  parse  [jit lua]\n"
			      "   30.00                30  main  [jit lua]\n"
			      "   30.00                30  … 4 more as above, to main  [jit lua]\n"
			      /* What is short is written out. */
			      "   20.00                20  main  [jit lua]\n"
			      "   20.00                20  parse  [jit lua]\n"
			      "   20.00                20  main  [jit lua]\n");
}

TEST(paths_to_one_procedure_begin_at_its_first_call)
{
	struct hp_report_options options = { .view = HP_VIEW_CALLERS, .path_procedure = "pars" };
	const char *text = output(&options);

	assert_contains(text, "   85.00                85  parse  [jit lua]\n"
			      "   80.00                80  ├ main  [jit lua]\n"
			      "    5.00                 5  └ [truncated]\n");
	options.view = HP_VIEW_CALLEES;
	text = output(&options);
	assert_contains(text, "   85.00   20.00        85  parse  [jit lua] (recursive)\n"
			      "   65.00   65.00        65  └ scan");
}

TEST(a_procedure_on_no_path_is_an_error_before_anything_is_written)
{
	struct hp_report_options options = { .view = HP_VIEW_CALLERS, .path_procedure = "nowhere" };
	struct fixture *fixture = fixture_of(true);

	hp_assert_fails(HP_ERROR_INSUFFICIENT, fixture_report(fixture, &options, NULL));
	ck_assert_str_eq(fixture->output, "");
}

TEST(epochs_without_paths_say_how_to_record_them)
{
	static const enum hp_report_view views[] = { HP_VIEW_CHILDREN, HP_VIEW_CALLERS,
						     HP_VIEW_CALLEES, HP_VIEW_TREE,
						     HP_VIEW_FLAME_GRAPH };

	for (size_t i = 0; i < HP_ARRAY_COUNT(views); i++) {
		struct hp_report_options options = { .view = views[i] };

		hp_assert_says(HP_ERROR_INSUFFICIENT, NULL, "record -g",
			       fixture_report(fixture_of(false), &options, NULL));
	}
}

TEST(json_has_the_same_numbers)
{
	static const struct {
		struct hp_report_options options;
		const char *schema;
	} rows[] = {
		{ { .view = HP_VIEW_CHILDREN }, "hpcprof-children/1" },
		{ { .view = HP_VIEW_CALLERS }, "hpcprof-callers/1" },
		{ { .view = HP_VIEW_CALLEES }, "hpcprof-callees/1" },
		{ { .view = HP_VIEW_CALLERS, .path_procedure = "parse" }, "hpcprof-caller-tree/1" },
		{ { .view = HP_VIEW_CALLEES, .path_procedure = "parse" }, "hpcprof-callee-tree/1" },
		{ { .view = HP_VIEW_TREE }, "hpcprof-tree/1" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		struct hp_report_options options = rows[i].options;
		json_t *document;
		const json_t *list;
		json_t *one;
		size_t index;
		json_int_t own = 0;

		options.format = HP_FORMAT_JSON;
		document = json_loads(output(&options), 0, NULL);
		ck_assert_ptr_nonnull(document);
		ck_assert_str_eq(json_string_value(json_object_get(document, "schema")),
				 rows[i].schema);
		ck_assert_int_eq(json_integer_value(json_object_get(
					 json_object_get(document, "paths"), "samples")),
				 100);
		list = json_object_get(
			document,
			options.view == HP_VIEW_TREE || options.path_procedure ? "nodes" : "costs");
		json_array_foreach(list, index, one) own += json_integer_value(
			json_object_get(json_object_get(one, "samples"), "self"));
		ck_assert_int_eq(own, options.path_procedure ? 85 : 100);
		json_decref(document);
	}
}

TEST(csv_has_a_record_for_each_pair_and_node)
{
	struct hp_report_options options = { .view = HP_VIEW_CALLERS, .format = HP_FORMAT_CSV };

	/* main of nobody; parse of main, itself, truncated; unknown of main; scan of main, parse,
	 * unknown. */
	ck_assert_uint_eq(fixture_csv_records(output(&options)), 7);
	options.view = HP_VIEW_TREE;
	/* main, parse, scan, scan, unknown, scan; truncated, parse, parse, scan. */
	ck_assert_uint_eq(fixture_csv_records(output(&options)), 10);
}

TEST(a_flame_graph_is_escaped_and_needs_nothing_else)
{
	struct hp_report_options options = { .view = HP_VIEW_FLAME_GRAPH };
	const char *text = output(&options);

	assert_contains(text,
			"<title>main in [jit lua]: 95 samples, 95.00 %; itself 4, 4.00 %</title>");
	assert_contains(text, "scan &lt;&amp;&quot;&#39;&gt;\\x1b[2J");
	assert_contains(text, "5.00 % of them do not reach the root");
	assert_lacks(text, "href");
	assert_lacks(text, "<script");
	assert_lacks(text, "\033");
	/* main: 95 % of 1180 pixels. */
	assert_contains(text, "width=\"1121.00\"");
}

/* In pixels from the top. */
static double top_of(const char *text, const char *title)
{
	const char *found = strstr(text, title);
	const char *top = found ? strstr(found, " y=\"") : NULL;

	ck_assert_ptr_nonnull(top);
	return strtod(top + strlen(" y=\""), NULL);
}

TEST(a_flame_graph_that_is_taller_than_a_screen_has_its_root_at_the_top)
{
	struct hp_report_options options = { .view = HP_VIEW_FLAME_GRAPH };
	static const size_t depths[] = { 20, 100 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(depths); i++) {
		bool is_tall = depths[i] == 100;
		struct hp_paths *paths = new_paths();
		char path[128] = "M";
		const char *text;

		memset(path + 1, 'P', depths[i]);
		path[depths[i] + 1] = 'S';
		path[depths[i] + 2] = '\0';
		add(paths, path, 76);
		text = fixture_output(fixture_with(paths), &options);
		ck_assert((top_of(text, "<title>main in") < top_of(text, "<title>scan")) ==
			  is_tall);
		if (is_tall)
			ck_assert_double_lt(top_of(text, "<title>main in"), 100);
		assert_contains(text, is_tall ? "each procedure is below its caller"
					      : "each procedure stands on its caller");
	}
}

TEST(a_call_is_where_it_was_made_and_not_where_it_returns_to)
{
	struct hp_report_options options = { .view = HP_VIEW_CHILDREN };
	struct fixture *fixture = fixture_create();
	struct hp_paths *paths = calloc(1, sizeof(*paths));
	struct fixture_epoch epoch = {
		.counts = counts,
		.count = 1,
		.symbols = symbols,
		.symbol_count = HP_ARRAY_COUNT(symbols),
		.paths = paths,
	};

	at_end(clear_paths, paths);
	add(paths, "ES", 76);
	fixture_add(fixture, &epoch);
	assert_contains(fixture_output(fixture, &options),
			"  100.00    0.00        76  main  [jit lua]\n");
}

TEST(a_place_without_a_name_says_its_image_once)
{
	struct hp_report_options options = { .view = HP_VIEW_TREE };
	struct hp_paths *paths = new_paths();

	add(paths, "MXS", 76);
	assert_contains(fixture_output(fixture_with(paths), &options), "  libgone.so.1+0x456\n");
}

TEST(trees_are_as_wide_as_they_may_be)
{
	static const struct {
		struct hp_report_options options;
		size_t columns;
	} cases[] = {
		{ { .view = HP_VIEW_TREE }, 100 },
		{ { .view = HP_VIEW_TREE, .bottom_up = true }, 100 },
		{ { .view = HP_VIEW_TREE, .terminal_columns = 80 }, 80 },
		{ { .view = HP_VIEW_TREE, .of.full_names = true }, 30 + 120 + 9 },
	};
	char name[121] = "";

	memset(name, 'n', sizeof(name) - 1);
	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		const struct hp_symbol long_one = { { 0x100 }, 0x40, name, NULL };
		struct hp_paths *paths = new_paths();
		struct fixture_epoch epoch = { .counts = counts,
					       .count = HP_ARRAY_COUNT(counts),
					       .symbols = &long_one,
					       .symbol_count = 1,
					       .paths = paths };
		struct fixture *fixture = fixture_create();
		size_t widest = 0;
		char *line;
		char *rest;

		add(paths, "M", 100);
		fixture_add(fixture, &epoch);
		rest = kept(strdup(fixture_output(fixture, &cases[i].options)));
		while ((line = strsep(&rest, "\n")))
			if (strstr(line, "nnn") && hp_text_columns(line) > widest)
				widest = hp_text_columns(line);
		ck_assert_uint_eq(widest, cases[i].columns);
	}
}

TEST(filters_by_image_and_procedure_are_refused)
{
	struct hp_report_options options = { .view = HP_VIEW_TREE, .of.procedure = "main" };

	hp_assert_fails(HP_ERROR_USAGE, fixture_report(fixture_of(true), &options, NULL));
}

HP_TEST_MAIN("report/paths")
