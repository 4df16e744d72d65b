/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `hpcprof epochs` as somebody types it: what it prints, and how it exits. */
#include "../json.h"
#include "../db_fixture.h"
#include "run.h"

#include <hpcprof/base/cleanup.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char *directory;
static struct hp_db *db;
static char output[8192]; /* of the last run */

SETUP
{
	directory = temporary_directory();
	db = fixture_db(directory);
}

#define assert_run(arguments, status)                                                              \
	run_hpcprof(directory, "epochs", arguments, status, output, sizeof(output))
#define assert_said(text)                                                                          \
	ck_assert_msg(strstr(output, text) != NULL, "no '%s' in: %s", text, output)

/* One epoch without samples. */
static void record(const struct hp_epoch_meta *meta)
{
	struct hp_epoch_writer *writer;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	fixture_commit(writer, meta);
}

TEST(the_list_shows_what_was_recorded)
{
	char *stamp = fixture_epoch(db, "base", 1234);

	assert_run("", 0);
	assert_said(stamp);
	assert_said(" base ");
	assert_said(" 1234 ");
	assert_said(" 60.0 s ");
	hp_assert_lacks(output, "complete");
	assert_run("--wide", 0);
	assert_said(stamp);
	assert_said(" base ");
	assert_said(" complete ");
	assert_said(" cpu-clock:u ");
	assert_said(" 1234 ");
	assert_said(" 0.00% ");
	assert_said(" 60.0 s ");
}

/* Whatever labels and commands are like; a state that is not as it should be shows all the same. */
TEST(the_list_fits_80_columns)
{
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, false);
	static char words[][40] = { "/usr/lib/a/program/with/a/long/path", "--and",
				    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
				    "and on and on and on and on" };
	char *command[] = { words[0], words[1], words[2], words[3], NULL };
	char **before = meta.command_line;
	char *line;

	fixture_epoch(db, "a-label-that-takes-more-room-than-there-is-for-it", 1234);
	meta.command_line = command;
	record(&meta);
	meta.command_line = before;
	hp_epoch_meta_clear(&meta);
	assert_run("list", 0);
	assert_said("(interrupted) /");
	assert_said("a-label-that-… ");
	for (line = strtok(output, "\n"); line; line = strtok(NULL, "\n")) {
		size_t columns = 0;

		for (const char *at = line; *at; at++)
			columns += (*at & 0xc0) != 0x80;
		ck_assert_msg(columns <= 80, "%zu columns: %s", columns, line);
	}
}

TEST(the_list_says_what_windows_counted)
{
	char *stamp = fixture_rich_epoch(db);
	json_t *root;
	json_t *windows;

	/* Four windows of 269 ms together. */
	assert_run("list --wide", 0);
	assert_said(" COUNTED ");
	assert_said(" 0.3 s ");
	assert_said(" EVIDENCE ");
	assert_said(" shadow branches probes ");
	assert_run("list --format=csv", 0);
	assert_said(",4,269000000,");
	assert_run("list --format=json", 0);
	root = json_parsed(output);
	windows = json_at(root, "epochs.0.evidence");
	ck_assert_uint_eq(json_array_size(windows), 5);
	ck_assert_str_eq(string_at(windows, "0"), "shadow");
	ck_assert_str_eq(string_at(windows, "3"), "cycles");
	ck_assert_str_eq(string_at(windows, "4"), "paths");
	windows = json_at(root, "epochs.0.windows");
	ck_assert_int_eq(json_integer_value(json_at(windows, "count")), 4);
	ck_assert_int_eq(json_integer_value(json_at(windows, "time_ns")), 269000000);
	ck_assert(json_is_false(json_at(windows, "damaged")));
	fixture_write(fixture_file(directory, stamp, "evidence"), "x", 1);
	assert_run("list --wide", 0);
	assert_said(" damaged ");
	assert_run("verify", 5);
	assert_said("/evidence: offset 0x");
}

TEST(the_list_is_json_and_csv_too)
{
	char *stamp = fixture_epoch(db, "base", 12);
	char expected[128];
	json_t *root;
	json_t *epoch;

	assert_run("list --format=json", 0);
	root = json_parsed(output);
	ck_assert_str_eq(string_at(root, "schema"), "hpcprof-epochs/1");
	epoch = json_at(root, "epochs.0");
	ck_assert_str_eq(string_at(epoch, "epoch"), stamp);
	ck_assert_str_eq(string_at(epoch, "label"), "base");
	ck_assert_int_eq(json_integer_value(json_at(epoch, "events.0.samples")), 12);
	assert_run("list --format=csv", 0);
	snprintf(expected, sizeof(expected),
		 "\n\"%s\",\"base\",\"complete\",\"host\",\"cpu-clock:u\",12,0,", stamp);
	assert_said(expected);
}

static struct hp_run run_of(uint64_t elapsed_ns, uint64_t user_ns, int32_t exit_status)
{
	return (struct hp_run){
		.elapsed_ns = elapsed_ns,
		.user_ns = user_ns,
		.system_ns = 500000000,
		.exit_status = exit_status,
	};
}

TEST(the_list_says_what_runs_cost)
{
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta = fixture_meta("e", 0, true);
	json_t *root;
	json_t *runs;

	/* CPU time of 2.5 s and 3.5 s: 3 s a run. */
	meta.run_count = 2;
	meta.runs = calloc(2, sizeof(*meta.runs));
	meta.runs[0] = run_of(5000000000, 2000000000, 0);
	meta.runs[1] = run_of(6000000000, 3000000000, 139);
	record(&meta);
	assert_run("list --wide", 0);
	assert_said(" 2, 1 failed ");
	assert_said(" 3.000 s ");
	assert_run("list --format=csv", 0);
	assert_said(",2,1,11000000000,5000000000,1000000000,\"");
	assert_run("list --format=json", 0);
	root = json_parsed(output);
	runs = json_at(root, "epochs.0.runs");
	ck_assert_uint_eq(json_array_size(runs), 2);
	ck_assert_int_eq(json_integer_value(json_at(runs, "1.exit_status")), 139);
}

TEST(an_empty_database_lists_and_verifies_well)
{
	fixture_db(directory);
	assert_run("", 0);
	assert_run("verify", 0);
	assert_run("gc", 0);
}

TEST(hostile_names_do_not_reach_the_terminal)
{
	static const char *const formats[] = { "list", "list --format=csv", "list --format=json" };
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta =
		fixture_meta("e\033[31m", 0, true);

	free(meta.host);
	meta.host = strdup("h\033]0;owned\a\xff");
	meta.command_line = calloc(3, sizeof(char *));
	meta.command_line[0] = strdup("./x\r\n\033[2J");
	meta.command_line[1] = strdup("\xe2\x80\xae\xc2\x9b");
	record(&meta);
	for (size_t i = 0; i < HP_ARRAY_COUNT(formats); i++) {
		assert_run(formats[i], 0);
		for (const char *at = output; *at; at++)
			ck_assert_msg((unsigned char)*at >= 0x20 || *at == '\n', "%s: byte 0x%02x",
				      formats[i], (unsigned char)*at);
	}
}

/* Of an older version, with a directory in the place of a file, with a file that is gone. */
TEST(verify_and_reports_tell_what_is_wrong_with_an_epoch)
{
	char *stamp = fixture_rich_epoch(db);
	_cleanup_free_ char *epoch = strdup(fixture_path(fixture_path(directory, "db"), stamp));
	struct fixture_names names = fixture_names(epoch);

	for (size_t i = 0; i < names.count; i++)
		if (strstr(names.at[i], ".sym"))
			ck_assert_int_eq(remove(fixture_path(epoch, names.at[i])), 0);
	assert_run("verify", 5);
	assert_said(".sym: it is missing, but meta lists it");
	run_hpcprof(directory, "report", "--images", 0, output, sizeof(output));
	ck_assert_msg(strstr(output, "# warning    epoch ") &&
			      strstr(output, "was changed after the recording: "),
		      "%s", output);
	fixture_forget_sums(epoch);
	assert_run("verify", 0);
	assert_said(": finished by an older hpcprof, ");
	assert_said("1 epoch verified, no problems");
	ck_assert_int_eq(remove(fixture_path(epoch, "images")), 0);
	ck_assert_int_eq(mkdir(fixture_path(epoch, "images"), 0755), 0);
	assert_run("verify", 5);
	assert_said("/images is a directory, not a file");
	run_hpcprof(directory, "report", "--images", 5, output, sizeof(output));
}

TEST(verify_prints_each_problem_and_exits_with_5)
{
	char *stamp = fixture_epoch(db, NULL, 3);
	_cleanup_free_ char *meta = strdup(fixture_file(directory, stamp, "meta"));
	size_t size;
	_cleanup_free_ uint8_t *bytes = fixture_read(meta, &size);

	assert_run("verify", 0);
	bytes[size - 1] ^= 1;
	fixture_write(meta, bytes, size);
	assert_run("verify", 5);
	assert_said("/meta: offset 0x2c: ");
	assert_said("1 problem in 1 epoch");
}

TEST(labels_are_given_moved_and_taken_away)
{
	char *first = fixture_epoch(db, NULL, 1);
	char *second = fixture_epoch(db, NULL, 1);

	assert_run("label @-1 base", 0);
	assert_run("list base", 0);
	assert_said(first);
	hp_assert_lacks(output, second);
	assert_run("label @latest base", 2);
	assert_said("--move");
	assert_run("label --move @latest base", 0);
	assert_run("list base", 0);
	assert_said(second);
	assert_run("label --remove base", 0);
	assert_run("list base", 2);
}

TEST(merge_prints_the_new_stamp_and_rm_and_gc_what_they_remove)
{
	char *first = fixture_epoch(db, "a", 1);
	char *second = fixture_epoch(db, "b", 2);
	char merged[256];

	assert_run("merge a", 2);
	assert_run("merge --label=sum a b", 0);
	snprintf(merged, sizeof(merged), "%.*s", (int)strcspn(output, "\n"), output);
	assert_run("list sum", 0);
	assert_said(merged);
	assert_said(" 3 ");
	assert_run("rm a", 0);
	assert_said(first);
	assert_run("label --remove b", 0);
	assert_run("gc --keep=1 -n", 0);
	assert_said("would remove 1 epoch and 0 leftovers");
	assert_run("gc --keep=1", 0);
	assert_said(second);
	assert_run("list", 0);
	hp_assert_lacks(output, second);
}

TEST(mistakes_are_answered_with_exit_2)
{
	static const char *const mistakes[] = {
		"frobnicate",	      "rm",	     "label",		"label @latest",
		"label --remove a b", "gc extra",    "gc --keep=0",	"gc --older-than=soon",
		"gc --max-size=-1",   "list --move", "verify --keep=1", "list --format=xml",
		"list nope",	      "rm nope",     "label .. x",	"merge",
	};

	fixture_epoch(db, NULL, 1);
	fixture_epoch(db, NULL, 1);
	for (size_t i = 0; i < HP_ARRAY_COUNT(mistakes); i++)
		assert_run(mistakes[i], 2);
}

HP_TEST_MAIN("cli/epochs")
