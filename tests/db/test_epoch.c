/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written reads back, through the public interface. */
#include "../db_fixture.h"

#include "../../src/db/names.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

static char *directory;
static struct hp_db *db;

SETUP
{
	directory = temporary_directory();
	db = fixture_db(directory);
}

static void assert_same_profile(const struct hp_profile *a, const struct hp_profile *b)
{
	ck_assert_int_eq(hp_image_id_compare(&a->image, &b->image), 0);
	ck_assert_str_eq(a->event, b->event);
	ck_assert_uint_eq(a->stratum_count, b->stratum_count);
	for (size_t i = 0; i < a->stratum_count; i++) {
		ck_assert_int_eq(hp_stratum_compare(&a->strata[i], &b->strata[i]), 0);
		ck_assert_uint_eq(a->strata[i].count_count, b->strata[i].count_count);
		ck_assert_mem_eq(a->strata[i].counts, b->strata[i].counts,
				 a->strata[i].count_count * sizeof(struct hp_count));
	}
}

/* What the writer itself says of the one image of that number. */
static void assert_held(struct hp_epoch_writer *writer, size_t image,
			const struct hp_profile *expected)
{
	struct hp_profile held;

	ck_assert_int_eq(
		hp_image_id_compare(hp_epoch_writer_image_id(writer, image), &expected->image), 0);
	hp_assert_ok(hp_epoch_writer_read(writer, image, "cpu-clock:u", &held));
	assert_same_profile(&held, expected);
	hp_profile_clear(&held);
	hp_assert_ok(hp_epoch_writer_read(writer, image, "page-faults", &held));
	ck_assert_uint_eq(held.stratum_count, 0);
	hp_profile_clear(&held);
}

TEST(random_profiles_read_back_as_written_over_many_flushes)
{
	struct hp_random random = hp_random_seeded(20261120);

	for (int round = 0; round < 10; round++) {
		struct hp_profile expected[4] = { 0 };
		struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, false);
		struct hp_epoch_writer *writer;
		struct hp_epoch *epoch;

		hp_assert_ok(hp_epoch_create(db, NULL, &writer));
		for (int flush = 0; flush < 5; flush++) {
			for (unsigned image = 0; image < HP_ARRAY_COUNT(expected); image++) {
				struct hp_profile more =
					fixture_profile(&random, image, "cpu-clock:u");

				hp_assert_ok(hp_epoch_writer_add(writer, &more));
				fixture_count(&meta.events[0], &more);
				if (expected[image].event) {
					hp_assert_ok(hp_profile_add(&expected[image], &more));
					hp_profile_clear(&more);
				} else {
					expected[image] = more;
				}
				assert_held(writer, image, &expected[image]);
			}
			ck_assert_uint_eq(hp_epoch_writer_image_count(writer),
					  HP_ARRAY_COUNT(expected));
			hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
		}
		meta.complete = true;
		hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
		hp_assert_ok(hp_epoch_open(db, hp_epoch_writer_stamp(writer), &epoch));
		ck_assert_uint_eq(hp_epoch_image_count(epoch), HP_ARRAY_COUNT(expected));
		for (size_t image = 0; image < HP_ARRAY_COUNT(expected); image++) {
			struct hp_profile found;

			hp_assert_ok(hp_epoch_read_profile(epoch, image, 0, &found));
			assert_same_profile(&found, &expected[image]);
			hp_profile_clear(&found);
			hp_profile_clear(&expected[image]);
		}
		hp_epoch_close(epoch);
		hp_epoch_writer_destroy(writer);
		hp_epoch_meta_clear(&meta);
	}
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
}

static char **texts(const char *first, const char *second)
{
	char **list = calloc(3, sizeof(*list));

	list[0] = strdup(first);
	list[1] = strdup(second);
	return list;
}

static struct hp_epoch_meta full_meta(void)
{
	struct hp_epoch_meta meta = fixture_meta("cycles:pp", 0, true);

	meta.cpu_model = strdup("A CPU @ 2.6GHz");
	meta.cpu = (struct hp_cpu){
		.vendor = strdup("GenuineIntel"),
		.family = 6,
		.model = 143,
		.stepping = 8,
		.has_amx = true,
		.implementer = 0x41,
		.part = 0xd0c,
		.instruction_cache_bytes = 65536,
	};
	meta.architecture = strdup("x86_64");
	meta.kernel = strdup("6.18.0 #1 SMP");
	meta.cpus = 128;
	meta.command_line = texts("./na\xefve \033[31m", "--größe=\xf4\x8f\xbc\x81");
	meta.per_process = true;
	meta.events[0].info.precision = strdup("precise 2");
	meta.events[0].info.instead_of = strdup("cycles:ppp");
	meta.events[0].info.reason = strdup("no PMU");
	meta.events[0].info.skid_instructions = 3;
	meta.events[0].info.skid_source = strdup("calibrated 2026-11-20");
	meta.events[0].frequency_hz = 997.5;
	meta.events[0].lost = 3;
	meta.events[0].throttled = 4;
	meta.commands = calloc(2, sizeof(*meta.commands));
	meta.commands[0] = (struct hp_command_times){ strdup(""), 1, 2, 3 };
	meta.commands[1] = (struct hp_command_times){ strdup("cc1"), 4, 5, INT64_MAX };
	meta.command_count = 2;
	meta.runs = calloc(1, sizeof(*meta.runs));
	meta.runs[0] = (struct hp_run){ 1, 2, 3, 4, 5, 139, 51000, 52000, 2.5 };
	meta.run_count = 1;
	ck_assert(hp_clock_note(&meta.clock, 3.9e9));
	ck_assert(hp_clock_note(&meta.clock, 3.6e9));
	ck_assert(hp_clock_note(&meta.clock, 3.6e9));
	meta.sample_cost_ns = 13000;
	meta.own_cpu_ns = 1;
	meta.target_cpu_ns = 2;
	meta.target_system_ns = 1;
	meta.damaged_records = 5;
	meta.warnings = texts("first", "second \"quoted\"\n");
	return meta;
}

/* Events, commands and runs of full_meta(). */
static void assert_full_lists(const struct hp_epoch_meta *found)
{
	ck_assert_str_eq(found->events[0].info.name, "cycles:pp");
	ck_assert_int_eq(found->events[0].info.unit, HP_UNIT_NS);
	ck_assert_str_eq(found->events[0].info.precision, "precise 2");
	ck_assert_str_eq(found->events[0].info.instead_of, "cycles:ppp");
	ck_assert_str_eq(found->events[0].info.reason, "no PMU");
	ck_assert_uint_eq(found->events[0].info.skid_instructions, 3);
	ck_assert_str_eq(found->events[0].info.skid_source, "calibrated 2026-11-20");
	ck_assert_double_eq(found->events[0].frequency_hz, 997.5);
	ck_assert_uint_eq(found->events[0].lost, 3);
	ck_assert_uint_eq(found->events[0].throttled, 4);
	ck_assert_str_eq(found->commands[0].command, "");
	ck_assert_str_eq(found->commands[1].command, "cc1");
	ck_assert_uint_eq(found->commands[1].processes, 4);
	ck_assert_uint_eq(found->commands[1].samples, 5);
	ck_assert_uint_eq(found->commands[1].elapsed_ns, INT64_MAX);
	ck_assert_uint_eq(found->runs[0].start_ns, 1);
	ck_assert_uint_eq(found->runs[0].elapsed_ns, 2);
	ck_assert_uint_eq(found->runs[0].user_ns, 3);
	ck_assert_uint_eq(found->runs[0].system_ns, 4);
	ck_assert_uint_eq(found->runs[0].max_rss_bytes, 5);
	ck_assert_int_eq(found->runs[0].exit_status, 139);
	ck_assert_double_eq(found->runs[0].work, 2.5);
	ck_assert_uint_eq(found->runs[0].reference_begin_ns, 51000);
	ck_assert_uint_eq(found->runs[0].reference_end_ns, 52000);
}

TEST(every_field_of_the_description_reads_back)
{
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta = full_meta();
	const struct hp_epoch_meta *found;
	_cleanup_(hp_epoch_writer_destroy_scope) struct hp_epoch_writer *writer;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;

	hp_assert_ok(hp_epoch_create(db, "größe-1", &writer));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_assert_ok(hp_epoch_open(db, hp_epoch_writer_stamp(writer), &epoch));
	found = hp_epoch_meta(epoch);
	ck_assert(found->complete);
	ck_assert_str_eq(found->label, "größe-1");
	ck_assert_str_eq(found->host, meta.host);
	ck_assert_str_eq(found->cpu_model, meta.cpu_model);
	ck_assert_str_eq(found->cpu.vendor, "GenuineIntel");
	ck_assert_uint_eq(found->cpu.family, 6);
	ck_assert_uint_eq(found->cpu.model, 143);
	ck_assert_uint_eq(found->cpu.stepping, 8);
	ck_assert(found->cpu.has_amx);
	ck_assert_uint_eq(found->cpu.implementer, 0x41);
	ck_assert_uint_eq(found->cpu.part, 0xd0c);
	ck_assert_uint_eq(found->cpu.instruction_cache_bytes, 65536);
	ck_assert_str_eq(found->architecture, meta.architecture);
	ck_assert_str_eq(found->kernel, meta.kernel);
	ck_assert_uint_eq(found->cpus, 128);
	ck_assert_str_eq(found->command_line[0], meta.command_line[0]);
	ck_assert_str_eq(found->command_line[1], meta.command_line[1]);
	ck_assert_ptr_null(found->command_line[2]);
	ck_assert_str_eq(found->target, "command");
	ck_assert_uint_eq(found->start_ns, meta.start_ns);
	ck_assert_uint_eq(found->end_ns, meta.end_ns);
	ck_assert(found->per_process);
	assert_full_lists(found);
	ck_assert_uint_eq(found->clock.class_count, 2);
	ck_assert_mem_eq(found->clock.classes, meta.clock.classes, 2 * sizeof(*meta.clock.classes));
	ck_assert_uint_eq(found->sample_cost_ns, 13000);
	ck_assert_uint_eq(found->own_cpu_ns, 1);
	ck_assert_uint_eq(found->target_cpu_ns, 2);
	ck_assert_uint_eq(found->target_system_ns, 1);
	ck_assert_uint_eq(found->damaged_records, 5);
	ck_assert_str_eq(found->warnings[1], meta.warnings[1]);
}

TEST(symbols_and_kept_bytes_read_back)
{
	char *stamp = fixture_rich_epoch(db);
	_cleanup_(hp_image_id_clear) struct hp_image_id image = fixture_image(1);
	struct hp_symbol *symbols;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	_cleanup_free_ uint8_t *bytes;
	size_t count;

	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	ck_assert_int_eq(hp_image_id_compare(hp_epoch_image(epoch, 1), &image), 0);
	hp_assert_ok(hp_epoch_read_symbols(epoch, 1, &symbols, &count, NULL));
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(symbols[1].name, "__vdso_time");
	ck_assert_uint_eq(symbols[1].offset.value, 80);
	ck_assert_uint_eq(symbols[1].size, 16);
	hp_symbols_free(symbols, count);
	hp_assert_ok(hp_epoch_read_symbols(epoch, 2, &symbols, &count, NULL));
	ck_assert_uint_eq(count, 0);
	hp_symbols_free(symbols, count);
	ck_assert_ptr_null(hp_epoch_bytes_path(epoch, 2));
	bytes = fixture_read(hp_epoch_bytes_path(epoch, 1), &count);
	ck_assert_uint_eq(count, 200);
}

TEST(appending_goes_on_where_the_epoch_ended)
{
	char *stamp = fixture_epoch(db, "base", 10);
	struct hp_profile more = fixture_flat_profile(1, "cpu-clock:u", 1000000, 5);
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta =
		fixture_meta("cpu-clock:u", 5, true);
	struct hp_epoch_writer *writer;
	struct hp_profile found;
	struct hp_epoch *epoch;

	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	ck_assert_uint_eq(hp_epoch_writer_previous(writer)->events[0].samples, 10);
	hp_assert_ok(hp_epoch_meta_add(&meta, hp_epoch_writer_previous(writer)));
	hp_assert_ok(hp_epoch_writer_add(writer, &more));
	/* Between the two the epoch no longer claims to be finished, and reads all the same. */
	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	ck_assert(!hp_epoch_meta(epoch)->complete);
	ck_assert(hp_epoch_is_recording(epoch));
	ck_assert_uint_eq(hp_epoch_meta(epoch)->events[0].samples, 15);
	hp_epoch_close(epoch);
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	ck_assert(hp_epoch_meta(epoch)->complete);
	ck_assert(!hp_epoch_is_recording(epoch));
	ck_assert_str_eq(hp_epoch_meta(epoch)->label, "base");
	ck_assert_uint_eq(hp_epoch_meta(epoch)->events[0].samples, 15);
	hp_assert_ok(hp_epoch_read_profile(epoch, 0, 0, &found));
	ck_assert_uint_eq(found.strata[0].counts[0].samples, 2);
	ck_assert_uint_eq(found.strata[0].counts[9].samples, 1);
	hp_profile_clear(&found);
	hp_epoch_close(epoch);
	hp_profile_clear(&more);
}

TEST(appending_keeps_the_names_that_were_there)
{
	static const char *const expected[] = { "memcpy", "__vdso_time", "later" };
	char later[] = "later";
	struct hp_symbol symbol = { { 200 }, 8, later, NULL };
	char *stamp = fixture_rich_epoch(db);
	_cleanup_(hp_image_id_clear) struct hp_image_id image = fixture_image(1);
	struct hp_epoch_writer *writer;
	struct hp_symbol *symbols;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	size_t index;
	size_t count;

	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_assert_ok(hp_epoch_writer_image(writer, &image, &index));
	hp_assert_ok(hp_epoch_writer_symbols(writer, index, &symbol, 1));
	hp_epoch_writer_destroy(writer);
	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	hp_assert_ok(hp_epoch_read_symbols(epoch, index, &symbols, &count, NULL));
	ck_assert_uint_eq(count, HP_ARRAY_COUNT(expected));
	for (size_t i = 0; i < count; i++)
		ck_assert_str_eq(symbols[i].name, expected[i]);
	hp_symbols_free(symbols, count);
}

/* Their padding may differ. */
static void assert_same_items(const struct hp_counted *a, const struct hp_counted *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(hp_counted_compare(&a[i].place, &b[i].place), 0);
		ck_assert_mem_eq(a[i].counts, b[i].counts, sizeof(a[i].counts));
	}
}

TEST(what_windows_counted_is_added_up_over_flushes_and_appends)
{
	char *stamp = fixture_rich_epoch(db);
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence more = fixture_evidence(77);
	struct hp_window_evidence sum = { 0 };
	struct hp_window_evidence read;
	struct hp_epoch_writer *writer;
	struct hp_epoch *epoch;
	struct hp_error *lost;

	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	for (unsigned i = 0; i < 2; i++)
		hp_assert_ok(hp_epoch_writer_evidence(writer, &more));
	hp_epoch_writer_destroy(writer);
	for (unsigned i = 0; i < 3; i++)
		hp_assert_ok(hp_window_evidence_add(&sum, &more));
	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	hp_assert_ok(hp_epoch_read_evidence(epoch, &read, &lost));
	ck_assert_ptr_null(lost);
	ck_assert_uint_eq(read.image_count, 2);
	ck_assert_uint_eq(read.stratum_count, 1);
	ck_assert_uint_eq(read.strata[0].item_count, sum.strata[0].item_count);
	assert_same_items(read.strata[0].items, sum.strata[0].items, sum.strata[0].item_count);
	ck_assert_mem_eq(read.strata[0].groups, sum.strata[0].groups, sizeof(sum.strata[0].groups));
	ck_assert_uint_eq(read.strata[0].followed, 120);
	ck_assert_uint_eq(read.strata[0].outcome_count, 2);
	assert_same_items(read.strata[0].outcomes, sum.strata[0].outcomes, 2);
	ck_assert_uint_eq(read.strata[0].probe_count, 2);
	assert_same_items(read.strata[0].probes, sum.strata[0].probes, 2);
	ck_assert_uint_eq(read.strata[0].tick_count, 1);
	assert_same_items(read.strata[0].ticks, sum.strata[0].ticks, 1);
	ck_assert_uint_eq(read.strata[0].range_count, 2);
	assert_same_items(read.strata[0].ranges, sum.strata[0].ranges, 2);
	ck_assert_uint_eq(read.strata[0].record_cycles[2], 3000000);
	ck_assert_uint_eq(read.strata[0].record_cycles[15], 9);
	ck_assert_mem_eq(&read.price, &sum.price, sizeof(read.price));
	ck_assert_uint_eq(read.reason_count, 3);
	ck_assert_uint_eq(read.reasons[0].count, 9);
	hp_epoch_close(epoch);
	hp_window_evidence_clear(&read);
	hp_window_evidence_clear(&sum);
	/* Nobody adds to what they cannot read. */
	fixture_write(fixture_file(directory, stamp, "evidence"), "x", 1);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_append(db, stamp, &writer));
}

TEST(an_epoch_that_is_being_recorded_takes_no_second_writer)
{
	_cleanup_(hp_epoch_writer_destroy_scope) struct hp_epoch_writer *writer;
	struct hp_epoch_writer *second;
	const char *stamp;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	stamp = hp_epoch_writer_stamp(writer);
	hp_assert_fails(HP_ERROR_USAGE, hp_epoch_append(db, stamp, &second));
	hp_assert_fails(HP_ERROR_USAGE, hp_db_remove(db, stamp));
	hp_assert_fails(HP_ERROR_USAGE, hp_db_label(db, stamp, "x"));
}

TEST(meta_may_not_claim_more_than_the_profiles_hold)
{
	struct hp_profile profile = fixture_flat_profile(1, "cpu-clock:u", 1000000, 5);
	struct hp_epoch_meta more = fixture_meta("cpu-clock:u", 6, false);
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta less =
		fixture_meta("cpu-clock:u", 4, true);
	struct hp_epoch_writer *writer;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	hp_assert_fails(HP_ERROR_USAGE, hp_epoch_writer_commit(writer, &more));
	hp_assert_fails(HP_ERROR_USAGE, hp_epoch_writer_commit(writer, &less));
	less.complete = false;
	hp_assert_ok(hp_epoch_writer_commit(writer, &less));
	hp_epoch_writer_destroy(writer);
	hp_profile_clear(&profile);
	hp_epoch_meta_clear(&more);
}

TEST(profiles_that_break_the_model_are_not_written)
{
	_cleanup_(hp_profile_clear) struct hp_profile profile =
		fixture_flat_profile(1, "cpu-clock:u", 1000000, 2);
	_cleanup_(hp_epoch_writer_destroy_scope) struct hp_epoch_writer *writer;
	uint64_t huge = UINT64_MAX;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	profile.strata[0].counts[0].samples = 0;
	hp_assert_fails(HP_ERROR_USAGE, hp_epoch_writer_add(writer, &profile));
	profile.strata[0].counts[0].samples = 1;
	profile.strata[0].counts[1].offset = profile.strata[0].counts[0].offset;
	hp_assert_fails(HP_ERROR_USAGE, hp_epoch_writer_add(writer, &profile));
	profile.strata[0].counts[1].offset.value++;
	profile.strata[0].period = 0;
	hp_assert_fails(HP_ERROR_USAGE, hp_epoch_writer_add(writer, &profile));
	profile.strata[0].period = 1;
	profile.strata[0].counts[1].samples = huge;
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_writer_add(writer, &profile));
}

TEST(an_epoch_in_which_nothing_was_written_leaves_no_trace)
{
	struct hp_epoch_writer *writer;
	struct hp_epoch_summary *epochs;
	size_t count;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_epoch_writer_destroy(writer);
	hp_assert_ok(hp_db_list(db, &epochs, &count));
	ck_assert_uint_eq(count, 0);
	hp_db_free_list(epochs, count);
}

TEST(epochs_of_one_second_get_different_stamps)
{
	char *stamps[20];

	for (size_t i = 0; i < HP_ARRAY_COUNT(stamps); i++) {
		stamps[i] = fixture_epoch(db, NULL, 1);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(stamps[i], stamps[j]);
	}
}

TEST(a_stamp_tells_its_time)
{
	/* By date -u -d '2024-02-29 12:34:56' +%s. */
	ck_assert_uint_eq(hp_stamp_time_ns("20240229T123456Z-1"), 1709210096000000000);
	ck_assert_uint_eq(hp_stamp_time_ns("20240229T123456Z"), 0);
	ck_assert_uint_eq(hp_stamp_time_ns("2024022"), 0);
	ck_assert_uint_eq(hp_stamp_time_ns("19010101T000000Z-1"), 0);
}

HP_TEST_MAIN("db/epoch")
