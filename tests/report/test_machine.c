/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the summary says of the machine that an epoch is of. */
#include "../support.h"

#include "../../src/report/common/machine.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

static char x86[] = "x86_64";
static char intel[] = "GenuineIntel";
static char unknown_vendor[] = "Ingenious\033Cpu";

static void assert_says(const struct hp_epoch_meta *meta, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	machine_write_text(meta, out);
	fclose(out);
	ck_assert_msg(strstr(text, expected) != NULL, "'%s' is not in:\n%s", expected, text);
}

TEST(a_known_cpu_is_named_with_the_tables_of_its_core)
{
	struct hp_epoch_meta meta = {
		.architecture = x86,
		.cpu = { .vendor = intel, .family = 6, .model = 143, .stepping = 8 },
	};
	json_t *core = machine_core_json(&meta);
	json_t *cpu = machine_cpu_json(&meta.cpu);

	assert_says(&meta, "core: sapphire-rapids, ");
	assert_says(&meta, " (GenuineIntel family 6 model 143 stepping 8)\n");
	ck_assert_str_eq(json_string_value(json_object_get(core, "name")), "sapphire-rapids");
	ck_assert(json_is_false(json_object_get(core, "generic")));
	ck_assert_int_eq(json_integer_value(json_object_get(cpu, "model")), 143);
	json_decref(core);
	json_decref(cpu);
}

TEST(tables_of_no_particular_cpu_are_said_to_be_that)
{
	struct hp_epoch_meta meta = {
		.architecture = x86,
		.cpu = { .vendor = unknown_vendor, .family = 7 },
	};
	json_t *core = machine_core_json(&meta);

	assert_says(&meta, "core: generic-x86-64, because this CPU is not known (Ingenious");
	ck_assert(json_is_true(json_object_get(core, "generic")));
	json_decref(core);
	meta.cpu = (struct hp_cpu){ 0 };
	assert_says(&meta, "core: generic-x86-64, because the epoch does not name its CPU");
}

TEST(what_a_vendor_is_called_cannot_command_the_terminal)
{
	struct hp_epoch_meta meta = { .architecture = x86, .cpu = { .vendor = unknown_vendor } };
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	machine_write_text(&meta, out);
	fclose(out);
	ck_assert_ptr_null(strchr(text, 033));
}

TEST(an_architecture_without_tables_has_no_core)
{
	static char arm[] = "aarch64";
	struct hp_epoch_meta meta = {
		.architecture = arm,
		.cpu = { .implementer = 0x41, .part = 0xd40 },
	};
	json_t *core = machine_core_json(&meta);

	ck_assert_ptr_null(report_core(&meta));
	ck_assert(json_is_null(core));
	assert_says(&meta, "core: no tables for this architecture (Arm implementer 0x41 part "
			   "0xd40)\n");
	json_decref(core);
}

TEST(the_clock_is_given_with_its_spread_or_as_not_measured)
{
	struct hp_epoch_meta meta = { .architecture = x86 };
	json_t *json = machine_clock_json(&meta.clock);

	ck_assert(json_is_null(json));
	json_decref(json);
	assert_says(&meta, "clock: not measured\n");
	/* 2, 4 and 8 GHz are 256 classes apart each. */
	for (int i = 0; i < 20; i++)
		ck_assert(hp_clock_note(&meta.clock, i < 4 ? 2e9 : i < 16 ? 4e9 : 8e9));
	assert_says(&meta, "clock: 4.00 GHz (80 % of 20 measurements from 2.00 to 8.0");
	json = machine_clock_json(&meta.clock);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "measurements")), 20);
	ck_assert_double_eq_tol(json_real_value(json_object_get(json, "low_hz")), 2e9, 4e6);
	ck_assert_double_eq_tol(json_real_value(json_object_get(json, "median_hz")), 4e9, 8e6);
	ck_assert_double_eq_tol(json_real_value(json_object_get(json, "high_hz")), 8e9, 16e6);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "core_looks")), 0);
	json_decref(json);
	hp_clock_clear(&meta.clock);
}

TEST(how_often_the_core_was_shared_is_given_where_it_is_known)
{
	struct hp_epoch_meta meta = { .architecture = x86 };
	json_t *json;

	ck_assert(hp_clock_note(&meta.clock, 4e9));
	for (int i = 0; i < 8; i++)
		hp_clock_note_sharing(&meta.clock, i < 2);
	assert_says(&meta,
		    "core shared: another hardware thread of it was busy at 25 % of 8 moments\n");
	json = machine_clock_json(&meta.clock);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "core_looks")), 8);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "core_shared")), 2);
	json_decref(json);
	hp_clock_clear(&meta.clock);
}

TEST(the_skid_of_each_event_is_given_with_where_it_is_from)
{
	static char clock[] = "cpu-clock:u";
	static char cycles[] = "cycles:pp";
	static char source[] = "calibrated 2026-11-20";
	struct hp_event_totals events[] = {
		{ .info = { .name = clock, .skid_instructions = 1, .skid_source = source } },
		{ .info = { .name = cycles } },
	};
	struct hp_epoch_meta meta = { .architecture = x86, .events = events, .event_count = 2 };
	json_t *skids = machine_skid_json(&meta);

	assert_says(&meta,
		    "skid: cpu-clock:u samples land 1 instruction late (calibrated 2026-11-20)\n");
	assert_says(&meta, "skid: cycles:pp samples land 0 instructions late (default)\n");
	ck_assert_uint_eq(json_array_size(skids), 2);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(skids, 0), "event")),
			 clock);
	ck_assert_int_eq(
		json_integer_value(json_object_get(json_array_get(skids, 0), "instructions")), 1);
	ck_assert(json_is_null(json_object_get(json_array_get(skids, 1), "source")));
	json_decref(skids);
}

HP_TEST_MAIN("report/machine")
