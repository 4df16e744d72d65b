/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows made up, over made-up and over real address spaces: what the epoch has of them. */
#include "../support.h"

#include "bench.h"

#include "../../src/collect/evidence/windows.h"

#include <hpcprof/base/cleanup.h>

#include <link.h>
#include <string.h>
#include <unistd.h>

enum { PID = 10000000, CHILD = 10000001 };

static char event_name[] = "cpu-clock:u";
static char *event_names[] = { event_name };

static struct windows windows;

static void end_windows(void *nothing)
{
	(void)nothing;
	windows_clear(&windows);
}

SETUP
{
	bench_begin(event_names, 1);
	ck_assert_uint_eq(streams_number(&bench.streams, 0, 1000000), 0);
	windows_create(&windows, &bench.attributor, 77);
	at_end(end_windows, NULL);
}

static void map(uint64_t time_ns, const char *path, uint64_t start, uint64_t offset)
{
	struct hp_record record = {
		.pid = PID,
		.tid = PID,
		.time_ns = time_ns,
		.mmap = { .start = start, .size = 0x1000, .file_offset = offset, .path = path },
	};

	record.mmap.build_id.kind = HP_IDENTITY_BUILD_ID;
	record.mmap.build_id.size = 4;
	memcpy(record.mmap.build_id.bytes, path, 4);
	ck_assert(processes_map(&bench.processes, &record));
}

static void start_process(uint64_t time_ns, const char *name)
{
	struct hp_record record = {
		.pid = PID, .tid = PID, .time_ns = time_ns, .comm = { .name = name, .exec = true }
	};

	ck_assert(processes_comm(&bench.processes, &record));
}

static void end_process(uint64_t time_ns)
{
	struct hp_record record = { .pid = PID, .tid = PID, .time_ns = time_ns };

	processes_exit(&bench.processes, &record);
}

/* With these blocks and edges, for windows_add to take over. */
static struct hp_window make_window(uint64_t time_ns, const struct hp_window_block *blocks,
				    size_t block_count, const struct hp_window_edge *edges,
				    size_t edge_count)
{
	struct hp_window window = {
		.pid = PID,
		.tid = PID,
		.time_ns = time_ns,
		.parts = { { time_ns, 100000000 } },
		.part_count = 1,
		.blocks = calloc(block_count + 1, sizeof(*blocks)),
		.block_count = block_count,
		.edges = calloc(edge_count + 1, sizeof(*edges)),
		.edge_count = edge_count,
	};

	if (block_count)
		memcpy(window.blocks, blocks, block_count * sizeof(*blocks));
	if (edge_count)
		memcpy(window.edges, edges, edge_count * sizeof(*edges));
	return window;
}

static struct hp_window_evidence read_back(void)
{
	struct hp_window_evidence evidence;
	struct hp_epoch *epoch;
	struct hp_error *lost;

	windows_place(&windows, UINT64_MAX);
	hp_assert_ok(windows_write(&windows, bench.writer, 1));
	hp_assert_ok(hp_epoch_open(bench.db, hp_epoch_writer_stamp(bench.writer), &epoch));
	hp_assert_ok(hp_epoch_read_evidence(epoch, &evidence, &lost));
	ck_assert_ptr_null(lost);
	hp_epoch_close(epoch);
	return evidence;
}

static uint64_t sum(const struct hp_counted *item)
{
	uint64_t counts = 0;

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		counts += item->counts[i];
	return counts;
}

/* The only item of that kind at the place, in all strata. */
static const struct hp_counted *find(const struct hp_window_evidence *evidence, const char *path,
				     uint8_t kind, uint64_t offset)
{
	const struct hp_counted *found = NULL;

	for (size_t i = 0; i < evidence->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &evidence->strata[i];

		for (size_t j = 0; j < stratum->item_count; j++) {
			const struct hp_counted *item = &stratum->items[j];

			if (item->kind != kind || item->at.value != offset ||
			    strcmp(evidence->images[item->image].path, path) != 0)
				continue;
			ck_assert_ptr_null(found);
			found = item;
		}
	}
	return found;
}

static uint64_t times(const struct hp_window_evidence *evidence, const char *reason)
{
	for (size_t i = 0; i < evidence->reason_count; i++)
		if (strcmp(evidence->reasons[i].what, reason) == 0)
			return evidence->reasons[i].count;
	return 0;
}

TEST(addresses_become_offsets_in_their_images)
{
	static const struct hp_window_block blocks[] = { { { 0x10010 }, 8, 3, { 1000 } },
							 { { 0x20020 }, 5, 1, { 40 } },
							 { { 0x90000 }, 5, 1, { 7 } } };
	static const struct hp_window_edge edges[] = {
		{ { 0x10015 }, { 0x10010 }, HP_WINDOW_EDGE_TAKEN, { 960 } },
		{ { 0x10015 }, { 0x20020 }, HP_WINDOW_EDGE_CALL_INDIRECT, { 40 } },
		{ { 0x10015 }, { 0x90000 }, HP_WINDOW_EDGE_JUMP, { 7 } },
	};
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;
	struct hp_window window = make_window(50, blocks, 3, edges, 3);
	const struct hp_counted *item;

	start_process(1, "cat");
	map(2, "/bin/cat", 0x10000, 0x3000);
	map(3, "/lib/libc", 0x20000, 0x5000);
	windows_add_time(&windows, names_number(&bench.processes.commands, "cat"), 2.5e9);
	windows_add(&windows, &window);
	evidence = read_back();
	item = find(&evidence, "/bin/cat", HP_COUNTED_BLOCK, 0x3010);
	ck_assert_ptr_nonnull(item);
	ck_assert_uint_eq(sum(item), 1000);
	ck_assert_uint_eq(item->bytes, 8);
	ck_assert_uint_eq(item->instructions, 3);
	ck_assert_uint_eq(sum(find(&evidence, "/lib/libc", HP_COUNTED_BLOCK, 0x5020)), 40);
	item = find(&evidence, "/bin/cat", HP_COUNTED_INDIRECT_CALL, 0x3015);
	ck_assert_uint_eq(sum(item), 40);
	ck_assert_str_eq(evidence.images[item->to_image].path, "/lib/libc");
	ck_assert_uint_eq(item->to.value, 0x5020);
	item = find(&evidence, "/bin/cat", HP_COUNTED_TAKEN, 0x3015);
	ck_assert_uint_eq(sum(item), 960);
	ck_assert_uint_eq(item->to.value, 0x3010);
	/* Where nothing is mapped nothing is known; it is not forgotten either. */
	ck_assert_ptr_null(find(&evidence, "/bin/cat", HP_COUNTED_JUMP, 0x3015));
	ck_assert_uint_eq(evidence.dropped, 2);
	ck_assert_uint_eq(evidence.stratum_count, 1);
	ck_assert_str_eq(evidence.strata[0].command, "cat");
	ck_assert_uint_eq(evidence.strata[0].recording, 77);
	ck_assert_uint_eq(evidence.strata[0].time_ns, 2500000000);
	ck_assert_uint_eq(hp_window_evidence_counted(&evidence).windows, 1);
	ck_assert_uint_eq(hp_window_evidence_counted(&evidence).time_ns, 100000000);
	ck_assert_uint_eq(times(&evidence, "complete"), 1);
}

static void assert_ticks(bool is_truncated)
{
	static const struct hp_window_block blocks[] = { { { 0x10010 }, 8, 3, { 1000 } } };
	static const struct window_tick ticks[] = {
		{ .time_ns = 49, .address = 0x10010, .tid = PID, .count = 1 }, /* before */
		{ .time_ns = 51, .address = 0x10010, .tid = PID, .count = 2 },
		{ .time_ns = 60, .address = 0x20020, .tid = PID, .count = 1 },
		{ .time_ns = 61, .address = 0x10010, .tid = PID + 1, .count = 1 }, /* elsewhere */
		{ .time_ns = 62, .address = 0x90000, .tid = PID, .count = 1 },	   /* nowhere */
		{ .time_ns = 70, .address = 0x10010, .tid = PID, .count = 1 },
		{ .time_ns = 71, .address = 0x10010, .tid = PID, .count = 1 }, /* after */
	};
	struct hp_window window = make_window(50, blocks, 1, NULL, 0);
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;
	const struct hp_window_stratum *stratum;

	start_process(1, "cat");
	map(2, "/bin/cat", 0x10000, 0x3000);
	map(3, "/lib/libc", 0x20000, 0x5000);
	window.parts[0].end_ns = 70;
	window.is_truncated = is_truncated;
	windows_add(&windows, &window);
	/* Not before its last sample has come. */
	windows_place(&windows, 60);
	for (size_t i = 0; i < HP_ARRAY_COUNT(ticks); i++)
		windows_add_tick(&windows, &ticks[i]);
	evidence = read_back();
	stratum = &evidence.strata[0];
	ck_assert_uint_eq(stratum->tick_count, 2);
	ck_assert_int_eq(stratum->ticks[0].kind, HP_COUNTED_TICK);
	ck_assert_uint_eq(stratum->ticks[0].is_relative, is_truncated);
	ck_assert_uint_eq(stratum->ticks[0].at.value, 0x3010);
	ck_assert_uint_eq(sum(&stratum->ticks[0]), 3);
	ck_assert_uint_eq(stratum->ticks[1].at.value, 0x5020);
	ck_assert_uint_eq(sum(&stratum->ticks[1]), 1);
	ck_assert_uint_eq(evidence.dropped, 0);
}

TEST(samples_within_a_window_tell_where_its_time_went)
{
	assert_ticks(false);
}

TEST(those_of_truncated_windows_are_kept_apart)
{
	assert_ticks(true);
}

TEST(parts_of_a_window_are_neighbouring_groups)
{
	static const struct hp_window_block blocks[] = { { { 0x10010 }, 8, 3, { 5, 0, 7 } } };
	static const struct window_tick ticks[] = {
		{ .time_ns = 55, .address = 0x10010, .tid = PID, .count = 1 },
		{ .time_ns = 60,
		  .address = 0x10010,
		  .tid = PID,
		  .count = 1 }, /* the first's last */
		{ .time_ns = 85, .address = 0x10010, .tid = PID, .count = 1 },
	};
	struct hp_window window = make_window(50, blocks, 1, NULL, 0);
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;
	const struct hp_window_stratum *stratum;
	const struct hp_counted *item;
	size_t first = 0;

	start_process(1, "cat");
	map(2, "/bin/cat", 0x10000, 0x3000);
	window.part_count = 3;
	window.parts[0] = (struct hp_window_part){ 60, 10000000 };
	window.parts[1] = (struct hp_window_part){ 80, 20000000 };
	window.parts[2] = (struct hp_window_part){ 90, 11000000 };
	windows_add(&windows, &window);
	for (size_t i = 0; i < HP_ARRAY_COUNT(ticks); i++)
		windows_add_tick(&windows, &ticks[i]);
	evidence = read_back();
	stratum = &evidence.strata[0];
	item = find(&evidence, "/bin/cat", HP_COUNTED_BLOCK, 0x3010);
	while (first < HP_EVIDENCE_GROUPS && !stratum->groups[first].windows)
		first++;
	ck_assert_uint_lt(first, HP_EVIDENCE_GROUPS);
	ck_assert_uint_eq(first % HP_WINDOW_PARTS, 0);
	ck_assert_uint_eq(hp_window_evidence_counted(&evidence).windows, 1);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(stratum->groups[first + i].time_ns,
				  ((const uint64_t[]){ 10000000, 20000000, 11000000 })[i]);
		ck_assert_uint_eq(item->counts[first + i], ((const uint64_t[]){ 5, 0, 7 })[i]);
		ck_assert_uint_eq(stratum->ticks[0].counts[first + i],
				  ((const uint64_t[]){ 2, 0, 1 })[i]);
	}
}

/* The window is of the time when the program was one thing, and comes when it is another, or gone.
 */
TEST(a_window_is_looked_up_in_the_space_of_its_time)
{
	static const struct hp_window_block block = { { 0x10010 }, 8, 3, { 1 } };
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;
	struct hp_window four[4];

	for (unsigned i = 0; i < 4; i++)
		four[i] = make_window(50 + 100 * i, &block, 1, NULL, 0);
	start_process(10, "sh");
	map(11, "/bin/shell", 0x10000, 0x1000);
	map(100, "/lib/first", 0x10000, 0x2000); /* in place of it */
	start_process(200, "cat");
	map(201, "/bin/cat", 0x10000, 0x3000);
	end_process(300);
	for (unsigned i = 0; i < 4; i++)
		windows_add(&windows, &four[i]);
	evidence = read_back();
	ck_assert_uint_eq(sum(find(&evidence, "/bin/shell", HP_COUNTED_BLOCK, 0x1010)), 1);
	ck_assert_uint_eq(sum(find(&evidence, "/lib/first", HP_COUNTED_BLOCK, 0x2010)), 1);
	ck_assert_uint_eq(sum(find(&evidence, "/bin/cat", HP_COUNTED_BLOCK, 0x3010)), 1);
	ck_assert_uint_eq(evidence.stratum_count, 2);
	ck_assert_str_eq(evidence.strata[0].command, "cat");
	ck_assert_str_eq(evidence.strata[1].command, "sh");
	ck_assert_uint_eq(times(&evidence, "address space not known"), 1);
}

TEST(a_window_waits_for_the_map_changes_of_its_time)
{
	static const struct hp_window_block block = { { 0x10010 }, 8, 3, { 1 } };
	struct hp_window window = make_window(50, &block, 1, NULL, 0);
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;

	start_process(10, "cat");
	windows_add(&windows, &window);
	windows_place(&windows, 50);
	ck_assert_uint_eq(windows.waiting.count, 1);
	map(49, "/bin/cat", 0x10000, 0x3000);
	windows_place(&windows, 51);
	ck_assert_uint_eq(windows.waiting.count, 0);
	evidence = read_back();
	ck_assert_uint_eq(sum(find(&evidence, "/bin/cat", HP_COUNTED_BLOCK, 0x3010)), 1);
}

TEST(windows_are_dealt_out_to_groups_and_truncated_ones_kept_apart)
{
	static const struct hp_window_block block = { { 0x10010 }, 8, 3, { 10 } };
	const struct hp_counted *absolute = NULL;
	const struct hp_counted *relative = NULL;
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;

	start_process(10, "cat");
	map(11, "/bin/cat", 0x10000, 0x3000);
	for (unsigned i = 0; i < HP_EVIDENCE_WINDOWS + 1; i++) {
		struct hp_window window = make_window(50 + i, &block, 1, NULL, 0);

		windows_add(&windows, &window);
		window = make_window(50 + i, &block, 1, NULL, 0);
		window.is_truncated = true;
		if (i < 3)
			windows_add(&windows, &window);
		else
			hp_window_clear(&window);
	}
	evidence = read_back();
	ck_assert_uint_eq(evidence.strata[0].item_count, 2);
	absolute = &evidence.strata[0].items[0];
	relative = &evidence.strata[0].items[1];
	ck_assert(!absolute->is_relative && relative->is_relative);
	ck_assert_uint_eq(sum(relative), 30);
	ck_assert_uint_eq(sum(absolute), 10 * (HP_EVIDENCE_WINDOWS + 1));
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		ck_assert_uint_eq(absolute->counts[i] >= 10, i % HP_WINDOW_PARTS == 0);
		ck_assert_uint_eq(evidence.strata[0].groups[i].windows * 10, absolute->counts[i]);
		ck_assert_uint_eq(evidence.strata[0].relative[i].windows * 10, relative->counts[i]);
	}
}

TEST(a_window_without_counts_leaves_its_reason_only)
{
	struct hp_window window = { .pid = PID, .end = HP_WINDOW_NO_SAMPLES };
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;

	windows_add(&windows, &window);
	evidence = read_back();
	ck_assert_uint_eq(evidence.stratum_count, 0);
	ck_assert_uint_eq(times(&evidence, "no samples"), 1);
}

/* Ten blocks a window: written when there are many, and while that is not done some more are
 * kept. */
TEST(many_blocks_are_written_before_any_is_lost)
{
	enum { BLOCKS = 10, WINDOWS = 5 };
	struct hp_window_block blocks[BLOCKS];
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;

	start_process(10, "cat");
	map(11, "/bin/cat", 0x10000, 0x3000);
	windows.many_items = 2 * BLOCKS;
	for (unsigned i = 0; i < WINDOWS; i++) {
		struct hp_window window;

		for (unsigned j = 0; j < BLOCKS; j++)
			blocks[j] = (struct hp_window_block){
				{ 0x10000 + 8 * (BLOCKS * i + j) }, 8, 3, { 10 }
			};
		window = make_window(50 + i, blocks, BLOCKS, NULL, 0);
		windows_add(&windows, &window);
		windows_place(&windows, UINT64_MAX);
		ck_assert_uint_eq(windows_are_full(&windows), i > 1);
	}
	evidence = read_back();
	ck_assert(!windows_are_full(&windows));
	ck_assert_uint_eq(evidence.strata[0].item_count, BLOCKS * WINDOWS);
	ck_assert_uint_eq(times(&evidence, "the epoch could not be written"), 0);
}

/* A disk that takes nothing is no reason to fill memory. */
TEST(memory_for_what_cannot_be_written_has_an_end)
{
	static const struct hp_window_block block = { { 0x10010 }, 8, 3, { 10 } };
	static const struct hp_window_block other = { { 0x10020 }, 8, 3, { 10 } };
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;
	struct hp_window window;

	start_process(10, "cat");
	map(11, "/bin/cat", 0x10000, 0x3000);
	windows.many_items = 0;
	window = make_window(50, &block, 1, NULL, 0);
	windows_add(&windows, &window);
	window = make_window(51, &other, 1, NULL, 0);
	windows_add(&windows, &window);
	evidence = read_back();
	ck_assert_uint_eq(evidence.strata[0].item_count, 1);
	ck_assert_uint_eq(times(&evidence, "the epoch could not be written"), 1);
}

/* --- of this very process --------------------------------------------------------------------- */

struct loaded {
	uint64_t address;
	char path[4096];
	uint64_t offset; /* in the file */
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded *loaded = context;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || loaded->address < start ||
		    loaded->address - start >= segment->p_filesz)
			continue;
		loaded->offset = loaded->address - start + segment->p_offset;
		return 1;
	}
	return 0;
}

TEST(a_real_process_is_looked_up_in_its_maps)
{
	struct loaded loaded = { .address = (uint64_t)(uintptr_t)find_loaded };
	struct hp_window_block block = { { loaded.address }, 4, 1, { 12 } };
	struct hp_window window = make_window(50, &block, 1, NULL, 0);
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;
	ssize_t length = readlink("/proc/self/exe", loaded.path, sizeof(loaded.path) - 1);

	ck_assert_int_gt(length, 0);
	ck_assert_int_eq(dl_iterate_phdr(find_loaded, &loaded), 1);
	ck_assert(processes_adopt(&bench.processes, (uint32_t)getpid(), 1));
	window.pid = getpid();
	windows_add(&windows, &window);
	evidence = read_back();
	ck_assert_uint_eq(sum(find(&evidence, loaded.path, HP_COUNTED_BLOCK, loaded.offset)), 12);
	ck_assert_uint_ne(evidence.images[0].identity.kind, HP_IDENTITY_NONE);
}

HP_TEST_MAIN("collect/windows")
