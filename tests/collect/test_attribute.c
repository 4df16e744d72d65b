/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From sampled addresses to an epoch on disk and back. */
#include "../support.h"
#include "../scratch.h"

#include "bench.h"

#include "../../src/collect/images/vdso.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { PID = 10000000, OTHER = 10000001 };
enum { CPU, FAULTS, EVENTS };

static char cpu_name[] = "cpu-clock:u", faults_name[] = "page-faults:u";
static char *event_names[EVENTS] = { cpu_name, faults_name };

static uint32_t streams_of[EVENTS];

SETUP
{
	bench_begin(event_names, EVENTS);
	streams_of[CPU] = streams_number(&bench.streams, CPU, 1000000);
	streams_of[FAULTS] = streams_number(&bench.streams, FAULTS, 1);
}

static void map(uint32_t pid, const char *path, uint64_t start, uint64_t size, uint64_t offset)
{
	struct hp_record record = {
		.pid = pid,
		.tid = pid,
		.mmap = { .start = start, .size = size, .file_offset = offset, .path = path },
	};

	record.mmap.build_id.kind = HP_IDENTITY_BUILD_ID;
	record.mmap.build_id.size = 4;
	memcpy(record.mmap.build_id.bytes, path + 1, strnlen(path + 1, 4));
	ck_assert(processes_map(&bench.processes, &record));
}

static void start_process(uint32_t pid, const char *name)
{
	struct hp_record record = { .pid = pid,
				    .tid = pid,
				    .comm = { .name = name, .exec = true } };

	ck_assert(processes_comm(&bench.processes, &record));
}

static struct sampled entry(uint32_t pid, uint32_t stream, uint64_t address, uint32_t count)
{
	const struct hp_record record = { .pid = pid, .tid = pid, .time_ns = 1 };
	uint32_t context = processes_context(&bench.processes, &record, 0, stream, 1);

	ck_assert_uint_ne(context, 0);
	return (struct sampled){ .address = address, .context = context, .count = count };
}

static void take(uint32_t pid, size_t event, uint64_t address, uint32_t count)
{
	struct sampled one = entry(pid, streams_of[event], address, count);

	attribute(&bench.attributor, &one, 1);
}

static void describe(struct hp_event_totals *event, const char *name)
{
	event->info.name = strdup(name);
	event->info.precision = strdup("skid+1");
	ck_assert(event->info.name && event->info.precision);
}

static void write_all(void)
{
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta = { .start_ns = 1, .end_ns = 2 };

	hp_assert_ok(attributor_write(&bench.attributor, bench.writer));
	hp_assert_ok(attributor_write_names(&bench.attributor, bench.writer));
	ck_assert_uint_eq(bench.attributor.placed_count, 0);
	meta.events = calloc(EVENTS, sizeof(*meta.events));
	ck_assert_ptr_nonnull(meta.events);
	meta.event_count = EVENTS;
	for (size_t i = 0; i < EVENTS; i++)
		describe(&meta.events[i], event_names[i]);
	hp_assert_ok(hp_epoch_writer_commit(bench.writer, &meta));
}

/* The epoch, as anybody reads it. */
static struct hp_epoch *open_epoch(void)
{
	struct hp_epoch *epoch;

	hp_assert_ok(hp_epoch_open(bench.db, hp_epoch_writer_stamp(bench.writer), &epoch));
	return epoch;
}

static struct hp_profile read_profile(struct hp_epoch *epoch, const char *path, size_t event)
{
	struct hp_profile profile = { 0 };

	for (size_t i = 0; i < hp_epoch_image_count(epoch); i++) {
		if (strcmp(hp_epoch_image(epoch, i)->path, path) == 0)
			hp_assert_ok(hp_epoch_read_profile(epoch, i, event, &profile));
	}
	return profile;
}

/* Samples at an offset of an image, over all strata; a whole image's with UINT64_MAX. */
static uint64_t samples_at(struct hp_epoch *epoch, const char *path, size_t event, uint64_t offset)
{
	struct hp_profile profile = read_profile(epoch, path, event);
	uint64_t samples = 0;

	for (size_t i = 0; i < profile.stratum_count; i++) {
		const struct hp_stratum *stratum = &profile.strata[i];

		for (size_t j = 0; j < stratum->count_count; j++) {
			if (offset == UINT64_MAX || stratum->counts[j].offset.value == offset)
				samples += stratum->counts[j].samples;
		}
	}
	hp_profile_clear(&profile);
	return samples;
}

static void print_problem(enum hp_verify_finding finding, const char *problem, void *context)
{
	(void)finding;
	(void)context;
	ck_abort_msg("%s", problem);
}

static void verify(void)
{
	_cleanup_free_ char *stamp = strdup(hp_epoch_writer_stamp(bench.writer));
	struct hp_verifying verifying = { .each = print_problem };

	hp_assert_ok(hp_db_verify(bench.db, &stamp, 1, &verifying));
	ck_assert_uint_eq(verifying.counts[HP_VERIFY_PROBLEM], 0);
}

TEST(samples_reach_their_image_offset_and_event)
{
	struct hp_epoch *epoch;

	start_process(PID, "xz");
	map(PID, "/usr/bin/xz", 0x401000, 0x3000, 0x1000);
	map(PID, "/lib/liblzma.so", 0x7f0000000000, 0x10000, 0x4000);
	take(PID, CPU, 0x401234, 5);
	take(PID, CPU, 0x403fff, 1);
	take(PID, CPU, 0x7f0000000010, 70000);
	take(PID, FAULTS, 0x401234, 2);
	write_all();
	epoch = open_epoch();
	ck_assert_uint_eq(samples_at(epoch, "/usr/bin/xz", CPU, 0x1234), 5);
	ck_assert_uint_eq(samples_at(epoch, "/usr/bin/xz", CPU, 0x3fff), 1);
	ck_assert_uint_eq(samples_at(epoch, "/usr/bin/xz", CPU, UINT64_MAX), 6);
	ck_assert_uint_eq(samples_at(epoch, "/usr/bin/xz", FAULTS, UINT64_MAX), 2);
	ck_assert_uint_eq(samples_at(epoch, "/lib/liblzma.so", CPU, 0x4010), 70000);
	ck_assert_uint_eq(samples_at(epoch, "/lib/liblzma.so", FAULTS, UINT64_MAX), 0);
	ck_assert_uint_eq(bench.attributor.unattributed[CPU], 0);
	hp_epoch_close(epoch);
	verify();
}

TEST(what_falls_nowhere_is_unknown_and_counted_as_such)
{
	struct hp_epoch *epoch;

	start_process(PID, "wild");
	map(PID, "/bin/wild", 0x401000, 0x1000, 0);
	take(PID, CPU, 0x400fff, 3);
	take(PID, CPU, 0x402000, 4);
	take(PID, FAULTS, 0, 1);
	write_all();
	epoch = open_epoch();
	ck_assert_uint_eq(samples_at(epoch, "[unknown]", CPU, 0x400fff), 3);
	ck_assert_uint_eq(samples_at(epoch, "[unknown]", CPU, 0x402000), 4);
	ck_assert_uint_eq(samples_at(epoch, "[unknown]", FAULTS, 0), 1);
	ck_assert_uint_eq(bench.attributor.unattributed[CPU], 7);
	ck_assert_uint_eq(bench.attributor.unattributed[FAULTS], 1);
	hp_epoch_close(epoch);
	verify();
}

TEST(nameless_memory_is_its_commands)
{
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;

	start_process(PID, "node");
	map(PID, "//anon", 0x7f0000000000, 0x1000, 0);
	take(PID, CPU, 0x7f0000000123, 9);
	write_all();
	epoch = open_epoch();
	ck_assert_uint_eq(samples_at(epoch, "[anon node]", CPU, 0x7f0000000123), 9);
	ck_assert_uint_eq(bench.attributor.unattributed[CPU], 0);
}

TEST(the_bytes_of_the_vdso_are_kept_with_its_samples)
{
	_cleanup_free_ char *bytes = NULL;
	const char *path = NULL;
	struct hp_epoch *epoch;
	size_t size;

	ck_assert_ptr_nonnull(vdso_bytes(&size));
	start_process(PID, "clock");
	map(PID, "[vdso]", 0x7ffff7fc1000, 0x2000, 0x7777000);
	take(PID, CPU, 0x7ffff7fc1abc, 2);
	write_all();
	epoch = open_epoch();
	ck_assert_uint_eq(samples_at(epoch, "[vdso]", CPU, 0xabc), 2);
	for (size_t i = 0; i < hp_epoch_image_count(epoch); i++)
		path = hp_epoch_bytes_path(epoch, i);
	ck_assert_ptr_nonnull(path);
	bytes = scratch_read(path);
	ck_assert_mem_eq(bytes, vdso_bytes(&size), size);
	hp_epoch_close(epoch);
	verify();
}

TEST(addresses_of_the_kernel_go_to_no_process_map)
{
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	uint64_t kernel = 0;

	start_process(PID, "sys");
	map(PID, "/bin/sys", 0, UINT64_MAX - 1, 0);
	take(PID, CPU, 0xffffffffffffff00, 6);
	write_all();
	epoch = open_epoch();
	for (size_t i = 0; i < hp_epoch_image_count(epoch); i++) {
		const struct hp_image_id *image = hp_epoch_image(epoch, i);

		if (image->kind == HP_IMAGE_KERNEL || image->kind == HP_IMAGE_MODULE)
			kernel += samples_at(epoch, image->path, CPU, UINT64_MAX);
	}
	ck_assert_uint_eq(kernel, 6);
	ck_assert_uint_eq(samples_at(epoch, "/bin/sys", CPU, UINT64_MAX), 0);
}

TEST(commands_and_periods_are_strata)
{
	struct hp_profile profile;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	struct sampled one;

	start_process(PID, "one");
	start_process(OTHER, "two");
	map(PID, "/lib/shared.so", 0x1000, 0x1000, 0);
	map(OTHER, "/lib/shared.so", 0x5000, 0x1000, 0);
	take(OTHER, CPU, 0x5010, 4);
	take(PID, CPU, 0x1010, 1);
	take(PID, CPU, 0x1020, 2);
	one = entry(PID, streams_number(&bench.streams, CPU, 7), 0x1010, 8);
	attribute(&bench.attributor, &one, 1);
	write_all();
	epoch = open_epoch();
	profile = read_profile(epoch, "/lib/shared.so", CPU);
	ck_assert_uint_eq(profile.stratum_count, 3);
	ck_assert_str_eq(profile.strata[0].command, "one");
	ck_assert_uint_eq(profile.strata[0].period, 7);
	ck_assert_uint_eq(hp_stratum_samples(&profile.strata[0]), 8);
	ck_assert_uint_eq(profile.strata[1].period, 1000000);
	ck_assert_uint_eq(profile.strata[1].pid, 0);
	ck_assert_uint_eq(profile.strata[1].count_count, 2);
	ck_assert_uint_eq(profile.strata[1].counts[0].offset.value, 0x10);
	ck_assert_uint_eq(hp_stratum_samples(&profile.strata[1]), 3);
	ck_assert_str_eq(profile.strata[2].command, "two");
	ck_assert_uint_eq(hp_stratum_samples(&profile.strata[2]), 4);
	hp_profile_clear(&profile);
}

TEST(processes_are_strata_when_asked_for)
{
	struct hp_profile profile;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;

	bench.attributor.per_process = true;
	for (uint32_t pid = PID; pid <= OTHER; pid++) {
		start_process(pid, "same");
		map(pid, "/bin/same", 0x1000, 0x1000, 0);
		take(pid, CPU, 0x1010, 1 + pid - PID);
	}
	write_all();
	epoch = open_epoch();
	profile = read_profile(epoch, "/bin/same", CPU);
	ck_assert_uint_eq(profile.stratum_count, 2);
	ck_assert_uint_eq(profile.strata[0].pid, PID);
	ck_assert_uint_eq(hp_stratum_samples(&profile.strata[0]), 1);
	ck_assert_uint_eq(profile.strata[1].pid, OTHER);
	ck_assert_uint_eq(hp_stratum_samples(&profile.strata[1]), 2);
	hp_profile_clear(&profile);
}

static void take_on(uint32_t tid, int cpu, uint64_t address, uint32_t count)
{
	const struct hp_record record = { .pid = PID, .tid = tid, .time_ns = 1 };
	struct sampled one = {
		.address = address,
		.context =
			processes_context(&bench.processes, &record, cpu, streams_of[CPU], count),
		.count = count,
	};

	ck_assert_uint_ne(one.context, 0);
	attribute(&bench.attributor, &one, 1);
}

TEST(threads_and_cpus_are_shares_that_add_up_to_the_strata)
{
	static const struct {
		uint32_t tid;
		uint32_t cpu;
		uint64_t samples;
	} expected[] = { { PID, 1, 2 * 7 }, { PID + 1, 1, 2 * 5 }, { PID + 1, 2, 2 * (3 + 1) } };
	struct hp_profile profile;
	struct hp_epoch *epoch;

	bench.processes.lanes.per_thread = bench.processes.lanes.per_cpu = true;
	start_process(PID, "x");
	map(PID, "/bin/x", 0x1000, 0x1000, 0);
	for (int flush = 0; flush < 2; flush++) {
		take_on(PID + 1, 1, 0x1020, 1);
		take_on(PID + 1, 1, 0x1010, 3);
		take_on(PID + 1, 0, 0x1010, 5);
		take_on(PID, 0, 0x1010, 7);
		write_all();
	}
	epoch = open_epoch();
	profile = read_profile(epoch, "/bin/x", CPU);
	ck_assert_uint_eq(profile.stratum_count, 1);
	ck_assert_uint_eq(profile.strata[0].tid, 0);
	ck_assert_uint_eq(profile.strata[0].count_count, 2);
	ck_assert_uint_eq(profile.strata[0].counts[0].samples, 2 * 15);
	ck_assert_uint_eq(profile.strata[0].counts[1].samples, 2 * 1);
	ck_assert_uint_eq(profile.share_count, HP_ARRAY_COUNT(expected));
	for (size_t i = 0; i < HP_ARRAY_COUNT(expected); i++) {
		ck_assert_uint_eq(profile.shares[i].tid, expected[i].tid);
		ck_assert_uint_eq(profile.shares[i].cpu, expected[i].cpu);
		ck_assert_uint_eq(hp_stratum_samples(&profile.shares[i]), expected[i].samples);
	}
	ck_assert_str_eq(profile.shares[0].thread, "x");
	hp_profile_clear(&profile);
	hp_epoch_close(epoch);
	verify();
}

TEST(flushes_add_up)
{
	struct hp_epoch *epoch;

	start_process(PID, "x");
	map(PID, "/bin/x", 0x1000, 0x1000, 0);
	for (uint32_t i = 1; i <= 4; i++) {
		take(PID, CPU, 0x1010, i);
		take(PID, CPU, 0x1010 + i, 1);
		write_all();
		images_sweep(bench.images);
	}
	epoch = open_epoch();
	ck_assert_uint_eq(samples_at(epoch, "/bin/x", CPU, 0x10), 1 + 2 + 3 + 4);
	ck_assert_uint_eq(samples_at(epoch, "/bin/x", CPU, UINT64_MAX), 10 + 4);
	ck_assert_uint_eq(hp_epoch_image_count(epoch), 1);
	hp_epoch_close(epoch);
	verify();
}

TEST(what_cannot_be_written_now_is_written_later_and_once)
{
	struct rlimit limit;
	struct rlimit none;
	struct hp_epoch *epoch;
	struct hp_error *error;

	start_process(PID, "x");
	for (uint64_t i = 0; i < 20; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/%02d/bin", (int)i);
		map(PID, path, 0x10000 * (i + 1), 0x1000, 0);
		take(PID, CPU, 0x10000 * (i + 1), (uint32_t)i + 1);
	}
	/* Files may not grow: a full disk, for this process alone. */
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	error = attributor_write(&bench.attributor, bench.writer);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->class, HP_ERROR_SYSTEM);
	hp_error_destroy(error);
	ck_assert_uint_eq(bench.attributor.placed_count, 20);
	write_all();
	epoch = open_epoch();
	for (uint64_t i = 0; i < 20; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/%02d/bin", (int)i);
		ck_assert_uint_eq(samples_at(epoch, path, CPU, 0), i + 1);
	}
	hp_epoch_close(epoch);
	verify();
}

/* --- bounded memory --------------------------------------------------------------------------- */

enum { BATCH = SAMPLE_OVERFLOW_ENTRIES };

static void take_batch(uint64_t from)
{
	static struct sampled batch[BATCH];

	for (size_t i = 0; i < BATCH; i++)
		batch[i] = entry(PID, streams_of[CPU], from + i, 1);
	attribute(&bench.attributor, batch, BATCH);
}

static void take_one_more(void *context)
{
	uint32_t *taken = context;

	take(PID, CPU, 0x10010, 5);
	(*taken)++;
}

TEST(what_is_attributed_while_files_are_written_is_of_the_next_flush)
{
	uint32_t taken = 0;
	struct hp_epoch *epoch;

	start_process(PID, "x");
	map(PID, "/one/bin", 0x10000, 0x1000, 0);
	map(PID, "/two/bin", 0x20000, 0x1000, 0);
	take(PID, CPU, 0x10010, 1);
	take(PID, CPU, 0x20010, 2);
	bench.attributor.meanwhile = take_one_more;
	bench.attributor.meanwhile_context = &taken;
	hp_assert_ok(attributor_write(&bench.attributor, bench.writer));
	bench.attributor.meanwhile = NULL;
	ck_assert_uint_eq(taken, 2);
	ck_assert_uint_gt(bench.attributor.placed_count, 0);
	write_all();
	epoch = open_epoch();
	ck_assert_uint_eq(samples_at(epoch, "/one/bin", CPU, 0x10), 11);
	ck_assert_uint_eq(samples_at(epoch, "/two/bin", CPU, 0x10), 2);
	hp_epoch_close(epoch);
}

TEST(the_same_places_never_fill_the_buffer)
{
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;

	start_process(PID, "loop");
	map(PID, "/bin/loop", 0x100000, 0x1000000, 0);
	for (size_t i = 0; i < 40; i++)
		take_batch(0x100000);
	ck_assert_uint_eq(bench.attributor.dropped[CPU], 0);
	write_all();
	epoch = open_epoch();
	ck_assert_uint_eq(samples_at(epoch, "/bin/loop", CPU, UINT64_MAX), 40 * BATCH);
	ck_assert_uint_eq(samples_at(epoch, "/bin/loop", CPU, 17), 40);
}

TEST(a_buffer_that_is_not_full_has_room_for_the_whole_sample_table)
{
	const size_t table = (size_t)SAMPLE_TABLE_WAYS * SAMPLE_TABLE_BUCKETS;
	uint64_t next = 0x100000;

	start_process(PID, "big");
	map(PID, "/bin/big", 0x100000, 0x1000000, 0);
	do {
		ck_assert_uint_ge(PLACED_LIMIT - bench.attributor.placed_count, table + BATCH);
		take_batch(next);
		next += BATCH;
	} while (!attributor_is_full(&bench.attributor));
	ck_assert_uint_eq(bench.attributor.dropped[CPU], 0);
}

TEST(what_finds_no_room_is_counted_and_the_rest_stays_exact)
{
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	uint64_t written;

	start_process(PID, "big");
	map(PID, "/bin/big", 0x100000, 0x1000000, 0);
	for (uint64_t i = 0; i < 2 * PLACED_LIMIT / BATCH; i++)
		take_batch(0x100000 + i * BATCH);
	ck_assert_uint_eq(bench.attributor.dropped[CPU], PLACED_LIMIT);
	ck_assert_uint_eq(bench.attributor.dropped[FAULTS], 0);
	write_all();
	epoch = open_epoch();
	written = samples_at(epoch, "/bin/big", CPU, UINT64_MAX);
	ck_assert_uint_eq(written, PLACED_LIMIT);
}

TEST(a_stream_keeps_its_number)
{
	struct streams streams = { 0 };

	ck_assert_uint_eq(streams_number(&streams, 0, 1000), 0);
	ck_assert_uint_eq(streams_number(&streams, 0, 2000), 1);
	ck_assert_uint_eq(streams_number(&streams, 1, 1000), 2);
	ck_assert_uint_eq(streams_number(&streams, 0, 2000), 1);
	ck_assert_uint_eq(streams.at[1].event, 0);
	ck_assert_uint_eq(streams.at[1].period, 2000);
	hp_vector_free(&streams);
}

HP_TEST_MAIN("collect/attribute")
