/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON documents against their contract: exactly these members, of exactly these types. */
#include "../json.h"
#include "fixture.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

static char hot_name[] = "hot \"loop\"\n";
static char bad_name[] = "not utf8 \xff\xfe";
static const struct hp_symbol symbols[] = {
	{ { 0x100 }, 0x40, hot_name, NULL },
	{ { 0x200 }, 0x40, bad_name, NULL },
};
/* 14 clock samples (1 unattributed), 5 of cycles. */
static const struct fixture_count counts[] = {
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 8 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x200, 3 },
	{ "cpu-clock:u", &fixture_missing, "lua", 0, 1000000, 0x1234, 2 },
	{ "cpu-clock:u", &fixture_unknown, "lua", 0, 1000000, 0x7f0000001000, 1 },
	{ "cycles:u", &fixture_jit, "lua", 0, 1000, 0x200, 5 },
};
static const struct fixture_epoch epoch = { .counts = counts,
					    .count = HP_ARRAY_COUNT(counts),
					    .symbols = symbols,
					    .symbol_count = HP_ARRAY_COUNT(symbols) };

static json_t *report_of_epoch(const struct fixture_epoch *of, enum hp_report_view view,
			       struct hp_report_options options)
{
	struct fixture *fixture = fixture_create();

	options.view = view;
	options.format = HP_FORMAT_JSON;
	fixture_add(fixture, of);
	fixture_output(fixture, &options);
	return json_parsed(fixture->output);
}

static json_t *report_of(enum hp_report_view view, struct hp_report_options options)
{
	return report_of_epoch(&epoch, view, options);
}

/* A member list: "name:type name:type …", types s string, i integer, f real, a array, o object,
 * n null, ? null or what follows, b boolean. Exactly these, in this order. */
static bool has_type(json_t *value, const char *type)
{
	if (*type == '?')
		return json_is_null(value) || has_type(value, type + 1);
	switch (*type) {
	case 's':
		return json_is_string(value);
	case 'i':
		return json_is_integer(value);
	case 'f':
		return json_is_real(value);
	case 'a':
		return json_is_array(value);
	case 'o':
		return json_is_object(value);
	case 'n':
		return json_is_null(value);
	case 'b':
		return json_is_boolean(value);
	default:
		return false;
	}
}

static void assert_members(json_t *object, const char *contract)
{
	_cleanup_free_ char *copy = strdup(contract);
	char *rest = copy;
	size_t count = 0;

	ck_assert(json_is_object(object));
	for (char *member = strsep(&rest, " "); member; member = strsep(&rest, " ")) {
		char *type = strchr(member, ':');

		*type++ = 0;
		ck_assert_msg(has_type(json_object_get(object, member), type), "%s is no %s",
			      member, type);
		count++;
	}
	ck_assert_uint_eq(json_object_size(object), count);
}

static void assert_samples(json_t *object, json_int_t clock, json_int_t cycles)
{
	json_t *samples = json_at(object, "samples");

	ck_assert_uint_eq(json_array_size(samples), 2);
	ck_assert_int_eq(json_integer_value(json_at(samples, "0")), clock);
	ck_assert_int_eq(json_integer_value(json_at(samples, "1")), cycles);
}

static void assert_header(json_t *document, const char *schema)
{
	json_t *events = json_at(document, "events");
	json_t *samples = json_at(document, "samples");
	json_t *clock = json_at(events, "0");
	json_t *cycles = json_at(events, "1");

	ck_assert_str_eq(string_at(document, "schema"), schema);
	ck_assert_uint_eq(json_array_size(json_at(document, "epochs")), 1);
	ck_assert(json_is_string(json_at(document, "epochs.0")));
	ck_assert_uint_eq(json_array_size(events), 2);
	assert_members(clock, "name:s unit:s period:i samples:i lost:i precision:s coverage:?f "
			      "user_mode_only:b system_share:?f");
	ck_assert_str_eq(string_at(clock, "name"), "cpu-clock:u");
	ck_assert_str_eq(string_at(clock, "unit"), "ns");
	ck_assert_int_eq(json_integer_value(json_at(clock, "period")), 1000000);
	ck_assert_int_eq(json_integer_value(json_at(clock, "samples")), 14);
	ck_assert_str_eq(string_at(cycles, "unit"), "cycles");
	ck_assert_int_eq(json_integer_value(json_at(cycles, "period")), 1000);
	assert_members(samples, "total:i unattributed:i");
	ck_assert_int_eq(json_integer_value(json_at(samples, "total")), 19);
	ck_assert_int_eq(json_integer_value(json_at(samples, "unattributed")), 1);
}

TEST(procedures_are_grouped_by_image_with_the_members_of_the_contract)
{
	json_t *document = report_of(HP_VIEW_PROCEDURES, (struct hp_report_options){ 0 });
	json_t *images = json_at(document, "images");
	json_t *jit = json_at(images, "0");
	json_t *procedures = json_at(jit, "procedures");

	assert_header(document, "hpcprof-procedures/1");
	assert_members(document, "schema:s epochs:a events:a samples:o images:a");
	ck_assert_uint_eq(json_array_size(images), 3);
	assert_members(jit, "path:s build_id:?s samples:i procedures:a");
	ck_assert_str_eq(string_at(jit, "path"), "[jit lua]");
	/* Of all events: 8 + 3 + 5. */
	ck_assert_int_eq(json_integer_value(json_at(jit, "samples")), 16);
	ck_assert_uint_eq(json_array_size(procedures), 2);
	for (size_t i = 0; i < 2; i++)
		assert_members(json_array_get(procedures, i),
			       "name:s address:?s size:?i samples:a cfg:n "
			       "not_analysed:a frequency_source:a");
	assert_samples(json_at(procedures, "0"), 8, 0);
	assert_samples(json_at(procedures, "1"), 3, 5);
	ck_assert_str_eq(string_at(procedures, "0.name"), hot_name);
	ck_assert_str_eq(string_at(procedures, "1.name"), "not utf8 \xef\xbf\xbd\xef\xbf\xbd");
	ck_assert_str_eq(string_at(images, "1.build_id"), "deadbeef");
}

TEST(instructions_have_the_members_of_the_contract_and_null_for_what_nobody_knows)
{
	json_t *document = report_of(HP_VIEW_INSTRUCTIONS, (struct hp_report_options){ 0 });
	json_t *images = json_at(document, "images");
	size_t image_index;
	json_t *image;
	json_int_t clock = 0;

	assert_header(document, "hpcprof-instructions/1");
	json_array_foreach(images, image_index, image)
	{
		size_t procedure_index;
		json_t *procedure;

		json_array_foreach(json_at(image, "procedures"), procedure_index, procedure)
		{
			size_t index;
			json_t *instruction;

			assert_members(procedure, "name:s address:?s size:?i samples:a cfg:n "
						  "not_analysed:a "
						  "frequency_source:a stack:?o instructions:a");
			json_array_foreach(json_at(procedure, "instructions"), index, instruction)
			{
				json_t *samples = json_at(instruction, "samples");

				assert_members(instruction,
					       "address:?s block:n bytes:s text:s line:?s "
					       "samples:a executions:o cycles:o stalls:a");
				assert_members(
					json_at(instruction, "executions"),
					"estimate:n low:n high:n relative:n relative_low:n "
					"relative_high:n relative_confidence:s confidence:s");
				assert_members(json_at(instruction, "cycles"),
					       "total:f per_execution:n best_case:n");
				clock += json_integer_value(json_at(samples, "0"));
			}
		}
	}
	ck_assert_int_eq(clock, 14);
}

TEST(cycles_are_totalled_only_where_an_event_counts_them)
{
	struct hp_report_options options = { .of.procedure = "not utf8*" };
	json_t *document = report_of(HP_VIEW_INSTRUCTIONS, options);
	json_t *image = json_at(document, "images.0");
	json_t *procedure = json_at(image, "procedures.0");
	json_t *instruction = json_at(procedure, "instructions.0");
	json_t *cycles = json_at(instruction, "cycles");

	/* 5 samples, one every 1000 cycles. */
	ck_assert(number_at(cycles, "total") == 5000.0);
	options.of.event = "cpu-clock:u";
	document = report_of(HP_VIEW_INSTRUCTIONS, options);
	image = json_at(document, "images.0");
	procedure = json_at(image, "procedures.0");
	instruction = json_at(procedure, "instructions.0");
	cycles = json_at(instruction, "cycles");
	ck_assert(json_is_null(json_at(cycles, "total")));
}

TEST(images_and_lines_are_flat_lists)
{
	json_t *document = report_of(HP_VIEW_IMAGES, (struct hp_report_options){ 0 });
	json_t *images = json_at(document, "images");
	json_t *lines;

	assert_header(document, "hpcprof-images/1");
	ck_assert_uint_eq(json_array_size(images), 3);
	for (size_t i = 0; i < 3; i++)
		assert_members(json_array_get(images, i),
			       "path:s build_id:?s samples:a share:a problem:?s");
	assert_samples(json_at(images, "0"), 11, 5);
	ck_assert(json_is_string(json_at(images, "1.problem")));

	document = report_of(HP_VIEW_LINES, (struct hp_report_options){ 0 });
	assert_header(document, "hpcprof-lines/1");
	lines = json_at(document, "lines");
	ck_assert_uint_eq(json_array_size(lines), 4);
	for (size_t i = 0; i < 4; i++)
		assert_members(json_array_get(lines, i),
			       "file:?s line:?i procedure:s inlined:b image:s build_id:?s "
			       "samples:a share:a");
}

TEST(the_summary_has_everything_the_header_of_the_text_has)
{
	json_t *document = report_of(HP_VIEW_SUMMARY, (struct hp_report_options){ 0 });
	json_t *recording = json_at(document, "recordings.0");

	assert_members(document, "schema:s epochs:a events:a samples:o recordings:a windows:?o "
				 "evidence:o named_by:o "
				 "stack:n "
				 "images:a");
	assert_members(json_at(document, "events.0"),
		       "name:s unit:s period:i samples:i lost:i precision:s coverage:?f "
		       "user_mode_only:b system_share:?f instead_of:?s "
		       "reason:?s unattributed:i throttled:i");
	assert_members(recording,
		       "epoch:s label:?s host:s cpu:?s cpus:i architecture:?s kernel:?s "
		       "command:a target:?s complete:b recording:b start_s:f end_s:f "
		       "sample_cost_ns:i own_cpu_s:f damaged_records:i commands:a runs:a "
		       "warnings:a cpu_identity:?o core:?o clock:?o skid:a");
	assert_members(json_at(document, "named_by"), "symbol:a plt:a extent:a none:a refused:a");
}

/* Whatever the recorder noted of them: samples are those of the profiles. */
TEST(the_samples_of_commands_add_up_to_all)
{
	static char lua[] = "lua", sh[] = "sh";
	static const struct fixture_count of_two[] = {
		{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 8 },
		{ "cpu-clock:u", &fixture_jit, "sh", 0, 1000000, 0x200, 3 },
		{ "cycles:u", &fixture_jit, "sh", 0, 1000, 0x200, 5 },
	};
	struct hp_command_times commands[] = {
		{ .command = lua, .processes = 1, .samples = 8642 },
		{ .command = sh, .processes = 2, .samples = 1 },
	};
	const struct fixture_epoch two = { .counts = of_two,
					   .count = HP_ARRAY_COUNT(of_two),
					   .symbols = symbols,
					   .symbol_count = HP_ARRAY_COUNT(symbols),
					   .commands = commands,
					   .command_count = HP_ARRAY_COUNT(commands) };
	json_t *document = report_of_epoch(&two, HP_VIEW_SUMMARY, (struct hp_report_options){ 0 });
	json_t *said = json_at(document, "recordings.0.commands");

	ck_assert_uint_eq(json_array_size(said), 2);
	for (size_t i = 0; i < 2; i++)
		assert_members(json_array_get(said, i), "command:s processes:i samples:i "
							"samples_by_event:a elapsed_s:f");
	ck_assert_int_eq(json_integer_value(json_at(said, "0.samples")), 8);
	ck_assert_int_eq(json_integer_value(json_at(said, "1.samples")), 8);
	said = json_at(said, "1.samples_by_event");
	ck_assert_int_eq(json_integer_value(json_at(said, "0")), 3);
	ck_assert_int_eq(json_integer_value(json_at(said, "1")), 5);
}

HP_TEST_MAIN("report/json")
