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

SETUP
{
	directory = temporary_directory();
	db = fixture_db(directory);
}

#define assert_run(directory, arguments, status, output)                                           \
	run_hpcprof(directory, "epochs", arguments, status, output, sizeof(output))

TEST(the_list_shows_what_was_recorded)
{
	char *stamp = fixture_epoch(db, "base", 1234);
	char output[4096];

	assert_run(directory, "", 0, output);
	ck_assert_ptr_nonnull(strstr(output, stamp));
	ck_assert_ptr_nonnull(strstr(output, " base "));
	ck_assert_ptr_nonnull(strstr(output, " 1234 "));
	ck_assert_ptr_nonnull(strstr(output, " 60.0 s "));
	ck_assert_ptr_null(strstr(output, "complete"));
	assert_run(directory, "--wide", 0, output);
	ck_assert_ptr_nonnull(strstr(output, stamp));
	ck_assert_ptr_nonnull(strstr(output, " base "));
	ck_assert_ptr_nonnull(strstr(output, " complete "));
	ck_assert_ptr_nonnull(strstr(output, " cpu-clock:u "));
	ck_assert_ptr_nonnull(strstr(output, " 1234 "));
	ck_assert_ptr_nonnull(strstr(output, " 0.00% "));
	ck_assert_ptr_nonnull(strstr(output, " 60.0 s "));
}

/* Whatever labels and commands are like; a state that is not as it should be shows all the same. */
TEST(the_list_fits_80_columns)
{
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, false);
	static char words[][40] = { "/usr/lib/a/program/with/a/long/path", "--and",
				    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
				    "and on and on and on and on" };
	char *command[] = { words[0], words[1], words[2], words[3], NULL };
	struct hp_epoch_writer *writer;
	char output[4096];
	char **before;
	char *line;

	fixture_epoch(db, "a-label-that-takes-more-room-than-there-is-for-it", 1234);
	before = meta.command_line;
	meta.command_line = command;
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	meta.command_line = before;
	hp_epoch_meta_clear(&meta);
	assert_run(directory, "list", 0, output);
	ck_assert_ptr_nonnull(strstr(output, "(interrupted) /"));
	ck_assert_ptr_nonnull(strstr(output, "a-label-that-\xe2\x80\xa6 "));
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
	char output[4096];
	json_t *root;
	json_t *windows;

	/* Four windows of 269 ms together. */
	assert_run(directory, "list --wide", 0, output);
	ck_assert_ptr_nonnull(strstr(output, " COUNTED "));
	ck_assert_ptr_nonnull(strstr(output, " 0.3 s "));
	ck_assert_ptr_nonnull(strstr(output, " EVIDENCE "));
	ck_assert_ptr_nonnull(strstr(output, " shadow branches probes "));
	assert_run(directory, "list --format=csv", 0, output);
	ck_assert_ptr_nonnull(strstr(output, ",4,269000000,"));
	assert_run(directory, "list --format=json", 0, output);
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
	assert_run(directory, "list --wide", 0, output);
	ck_assert_ptr_nonnull(strstr(output, " damaged "));
	assert_run(directory, "verify", 5, output);
	ck_assert_ptr_nonnull(strstr(output, "/evidence: offset 0x"));
}

TEST(the_list_is_json_and_csv_too)
{
	char *stamp = fixture_epoch(db, "base", 12);
	char output[4096];
	char expected[128];
	json_t *root;
	json_t *epoch;

	assert_run(directory, "list --format=json", 0, output);
	root = json_parsed(output);
	ck_assert_str_eq(string_at(root, "schema"), "hpcprof-epochs/1");
	epoch = json_at(root, "epochs.0");
	ck_assert_str_eq(string_at(epoch, "epoch"), stamp);
	ck_assert_str_eq(string_at(epoch, "label"), "base");
	ck_assert_int_eq(json_integer_value(json_at(epoch, "events.0.samples")), 12);
	assert_run(directory, "list --format=csv", 0, output);
	snprintf(expected, sizeof(expected),
		 "\n\"%s\",\"base\",\"complete\",\"host\",\"cpu-clock:u\",12,0,", stamp);
	ck_assert_ptr_nonnull(strstr(output, expected));
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
	struct hp_epoch_meta meta = fixture_meta("e", 0, true);
	struct hp_epoch_writer *writer;
	char output[4096];
	json_t *root;
	json_t *runs;

	/* CPU time of 2.5 s and 3.5 s: 3 s a run. */
	meta.run_count = 2;
	meta.runs = calloc(2, sizeof(*meta.runs));
	meta.runs[0] = run_of(5000000000, 2000000000, 0);
	meta.runs[1] = run_of(6000000000, 3000000000, 139);
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	hp_epoch_meta_clear(&meta);
	assert_run(directory, "list --wide", 0, output);
	ck_assert_ptr_nonnull(strstr(output, " 2, 1 failed "));
	ck_assert_ptr_nonnull(strstr(output, " 3.000 s "));
	assert_run(directory, "list --format=csv", 0, output);
	ck_assert_ptr_nonnull(strstr(output, ",2,1,11000000000,5000000000,1000000000,\""));
	assert_run(directory, "list --format=json", 0, output);
	root = json_parsed(output);
	runs = json_at(root, "epochs.0.runs");
	ck_assert_uint_eq(json_array_size(runs), 2);
	ck_assert_int_eq(json_integer_value(json_at(runs, "1.exit_status")), 139);
}

TEST(an_empty_database_lists_and_verifies_well)
{
	char output[1024];

	fixture_db(directory);
	assert_run(directory, "", 0, output);
	assert_run(directory, "verify", 0, output);
	assert_run(directory, "gc", 0, output);
}

TEST(hostile_names_do_not_reach_the_terminal)
{
	static const char *const formats[] = { "list", "list --format=csv", "list --format=json" };
	struct hp_epoch_meta meta = fixture_meta("e\033[31m", 0, true);
	struct hp_epoch_writer *writer;
	char output[4096];

	free(meta.host);
	meta.host = strdup("h\033]0;owned\a\xff");
	meta.command_line = calloc(3, sizeof(char *));
	meta.command_line[0] = strdup("./x\r\n\033[2J");
	meta.command_line[1] = strdup("\xe2\x80\xae\xc2\x9b");
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	hp_epoch_meta_clear(&meta);
	for (size_t i = 0; i < HP_ARRAY_COUNT(formats); i++) {
		assert_run(directory, formats[i], 0, output);
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
	char output[8192];

	for (size_t i = 0; i < names.count; i++)
		if (strstr(names.at[i], ".sym"))
			ck_assert_int_eq(remove(fixture_path(epoch, names.at[i])), 0);
	assert_run(directory, "verify", 5, output);
	ck_assert_ptr_nonnull(strstr(output, ".sym: it is missing, but meta lists it"));
	run_hpcprof(directory, "report", "--images", 0, output, sizeof(output));
	ck_assert_msg(strstr(output, "# warning    epoch ") &&
			      strstr(output, "was changed after the recording: "),
		      "%s", output);
	fixture_forget_sums(epoch);
	assert_run(directory, "verify", 0, output);
	ck_assert_ptr_nonnull(strstr(output, ": finished by an older hpcprof, "));
	ck_assert_ptr_nonnull(strstr(output, "1 epoch verified, no problems"));
	ck_assert_int_eq(remove(fixture_path(epoch, "images")), 0);
	ck_assert_int_eq(mkdir(fixture_path(epoch, "images"), 0755), 0);
	assert_run(directory, "verify", 5, output);
	ck_assert_ptr_nonnull(strstr(output, "/images is a directory, not a file"));
	run_hpcprof(directory, "report", "--images", 5, output, sizeof(output));
}

TEST(verify_prints_each_problem_and_exits_with_5)
{
	char *stamp = fixture_epoch(db, NULL, 3);
	_cleanup_free_ char *meta = strdup(fixture_file(directory, stamp, "meta"));
	char output[4096];
	size_t size;
	_cleanup_free_ uint8_t *bytes = fixture_read(meta, &size);

	assert_run(directory, "verify", 0, output);
	bytes[size - 1] ^= 1;
	fixture_write(meta, bytes, size);
	assert_run(directory, "verify", 5, output);
	ck_assert_ptr_nonnull(strstr(output, "/meta: offset 0x2c: "));
	ck_assert_ptr_nonnull(strstr(output, "1 problem in 1 epoch"));
}

TEST(labels_are_given_moved_and_taken_away)
{
	char *first = fixture_epoch(db, NULL, 1);
	char *second = fixture_epoch(db, NULL, 1);
	char output[4096];

	assert_run(directory, "label @-1 base", 0, output);
	assert_run(directory, "list base", 0, output);
	ck_assert_ptr_nonnull(strstr(output, first));
	ck_assert_ptr_null(strstr(output, second));
	assert_run(directory, "label @latest base", 2, output);
	ck_assert_ptr_nonnull(strstr(output, "--move"));
	assert_run(directory, "label --move @latest base", 0, output);
	assert_run(directory, "list base", 0, output);
	ck_assert_ptr_nonnull(strstr(output, second));
	assert_run(directory, "label --remove base", 0, output);
	assert_run(directory, "list base", 2, output);
}

TEST(merge_prints_the_new_stamp_and_rm_and_gc_what_they_remove)
{
	char *first = fixture_epoch(db, "a", 1);
	char *second = fixture_epoch(db, "b", 2);
	char merged[256];
	char output[4096];

	assert_run(directory, "merge a", 2, output);
	assert_run(directory, "merge --label=sum a b", 0, merged);
	merged[strcspn(merged, "\n")] = 0;
	assert_run(directory, "list sum", 0, output);
	ck_assert_ptr_nonnull(strstr(output, merged));
	ck_assert_ptr_nonnull(strstr(output, " 3 "));
	assert_run(directory, "rm a", 0, output);
	ck_assert_ptr_nonnull(strstr(output, first));
	assert_run(directory, "label --remove b", 0, output);
	assert_run(directory, "gc --keep=1 -n", 0, output);
	ck_assert_ptr_nonnull(strstr(output, "would remove 1 epoch and 0 leftovers"));
	assert_run(directory, "gc --keep=1", 0, output);
	ck_assert_ptr_nonnull(strstr(output, second));
	assert_run(directory, "list", 0, output);
	ck_assert_ptr_null(strstr(output, second));
}

TEST(mistakes_are_answered_with_exit_2)
{
	static const char *const mistakes[] = {
		"frobnicate",	      "rm",	     "label",		"label @latest",
		"label --remove a b", "gc extra",    "gc --keep=0",	"gc --older-than=soon",
		"gc --max-size=-1",   "list --move", "verify --keep=1", "list --format=xml",
		"list nope",	      "rm nope",     "label .. x",	"merge",
	};
	char output[4096];

	fixture_epoch(db, NULL, 1);
	fixture_epoch(db, NULL, 1);
	for (size_t i = 0; i < HP_ARRAY_COUNT(mistakes); i++)
		assert_run(directory, mistakes[i], 2, output);
}

HP_TEST_MAIN("cli/epochs")
