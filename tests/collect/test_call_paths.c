/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From samples to call paths in an epoch: the samples are of this test itself, or made up. */
#include "../support.h"

#include "bench.h"

#include "../../src/collect/paths/call_paths.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/pmu/registers.h>

#include <execinfo.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_FRAMES = 64, STACK_BYTES = 32768 };

static char event_name[] = "cpu-clock:u";
static char *event_names[] = { event_name };

static struct made {
	struct call_paths *paths;
	struct hp_paths written;
	struct hp_record record;
	uint8_t stack[STACK_BYTES];
	void *said[MOST_FRAMES]; /* by backtrace(3) */
	int said_count;
} made;

static void end_paths(void *nothing)
{
	(void)nothing;
	hp_paths_clear(&made.written);
	call_paths_destroy(made.paths);
}

static void begin(enum hp_call_paths how)
{
	hp_assert_ok(call_paths_create(how, &bench.attributor, &made.paths));
	ck_assert(processes_adopt(&bench.processes, (uint32_t)getpid(), 1));
}

SETUP
{
	bench_begin(event_names, 1);
	ck_assert_uint_eq(streams_number(&bench.streams, 0, 1000000), 0);
	at_end(end_paths, NULL);
}

static void take(uint64_t count)
{
	uint32_t context = processes_context(&bench.processes, &made.record, 0, 0, count);

	ck_assert_uint_ne(context, 0);
	call_paths_take(made.paths, &made.record, context, count);
}

/* Writes the tree, and reads the epoch's as anybody does. */
static void read_back(void)
{
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta = { .start_ns = 1, .end_ns = 2 };
	struct hp_epoch *epoch;

	hp_assert_ok(call_paths_write(made.paths, bench.writer));
	hp_assert_ok(hp_epoch_writer_commit(bench.writer, &meta));
	hp_paths_clear(&made.written);
	hp_assert_ok(hp_epoch_open(bench.db, hp_epoch_writer_stamp(bench.writer), &epoch));
	hp_assert_ok(hp_epoch_read_paths(epoch, &made.written));
	hp_epoch_close(epoch);
}

/* The only node with samples. */
static const struct hp_path_node *find_leaf(uint64_t samples)
{
	const struct hp_path_node *leaf = NULL;

	for (size_t i = 0; i < made.written.nodes.count; i++) {
		const struct hp_path_node *node = &made.written.nodes.at[i];

		ck_assert(!node->samples || !leaf);
		if (node->samples)
			leaf = node;
	}
	ck_assert_ptr_nonnull(leaf);
	ck_assert_uint_eq(leaf->samples, samples);
	return leaf;
}

static const struct hp_path_node *caller_of(const struct hp_path_node *node)
{
	ck_assert(!hp_path_is_root(node));
	return &made.written.nodes.at[node->parent];
}

/* Where the address of a call is in its file. */
static void check_place(const struct hp_path_node *node, const void *return_address)
{
	struct hp_record record = { .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid() };
	uint32_t context = processes_context(&bench.processes, &record, 0, 0, 1);
	const struct mapping *hint = NULL;
	struct image *image;
	uint64_t offset;

	ck_assert(attributor_place(&bench.attributor, &bench.processes.contexts[context],
				   (uint64_t)return_address - 1, &hint, &image, &offset));
	ck_assert_uint_eq(node->offset, offset + 1);
	ck_assert_uint_lt(node->image, made.written.images.count);
	ck_assert_int_eq(hp_image_id_compare(&made.written.images.at[node->image], &image->id), 0);
	image_release(image);
}

/* --- a sample of this test ---------------------------------------------------------------------- */

static const char *bottom;
extern const void *__libc_stack_end;

/* As the kernel samples what runs here. */
static __attribute__((noinline)) void sample_here(void)
{
	static const int numbers[HP_SAMPLED_GENERAL] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};
	struct hp_record *record = &made.record;
	ucontext_t context;
	greg_t *registers = context.uc_mcontext.gregs;

	made.said_count = backtrace(made.said, MOST_FRAMES);
	ck_assert_int_eq(getcontext(&context), 0);
	*record = (struct hp_record){
		.kind = HP_RECORD_SAMPLE,
		.cpu_mode = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.time_ns = 1,
	};
	for (unsigned i = 0; i < HP_SAMPLED_GENERAL; i++)
		record->sample.registers[hp_sampled_register_place(i)] =
			(uint64_t)registers[numbers[i]];
	record->sample.registers[hp_sampled_register_place(HP_SAMPLED_ADDRESS)] =
		(uint64_t)registers[REG_RIP];
	record->sample.register_count = HP_SAMPLED_REGISTERS;
	record->sample.address = (uint64_t)registers[REG_RIP];
	record->sample.stack_bytes = (size_t)(bottom - (const char *)registers[REG_RSP]);
	ck_assert_uint_le(record->sample.stack_bytes, STACK_BYTES);
	memcpy(made.stack, (const void *)registers[REG_RSP], record->sample.stack_bytes);
	record->sample.stack = made.stack;
}

static volatile unsigned sink;

static __attribute__((noinline)) void descend(unsigned depth)
{
	if (depth)
		descend(depth - 1);
	else
		sample_here();
	sink++;
}

/* Leaves a stack of at least six frames. */
static void sample_deep(void)
{
	char end;

	bottom = &end;
	descend(5);
}

TEST(a_path_is_what_another_unwinder_says)
{
	const struct hp_path_node *node;
	struct call_path_figures figures;

	begin(HP_CALL_PATHS_CFI);
	sample_deep();
	take(3);
	take(4);
	read_back();
	ck_assert_uint_eq(made.written.series.count, 1);
	ck_assert_str_eq(made.written.series.at[0].event, event_name);
	ck_assert_uint_eq(made.written.series.at[0].period, 1000000);
	node = find_leaf(7);
	ck_assert_uint_eq(node->flags, HP_PATH_EXACT);
	for (int i = 1; i < 7; i++) {
		node = caller_of(node);
		check_place(node, made.said[i]);
		ck_assert_uint_eq(node->flags, 0);
	}
	figures = call_paths_figures(made.paths);
	ck_assert_uint_eq(figures.samples, 2);
	ck_assert_uint_eq(figures.truncated, 2);
	ck_assert_uint_eq(figures.guesses, 0);
	/* The stack ends in the test's own frame: what called it is not known. */
	while (!(node->flags & HP_PATH_TRUNCATED))
		node = caller_of(node);
	ck_assert_uint_eq(node->image, HP_PATH_NO_IMAGE);
	ck_assert(hp_path_is_root(caller_of(node)));
}

/* Wherever that is: otherwise each caller would be two nodes. */
TEST(a_path_that_is_joined_is_marked_at_its_beginning)
{
	const struct hp_path_node *node;

	begin(HP_CALL_PATHS_CFI);
	bottom = (const char *)__libc_stack_end;
	descend(5);
	take(3);
	made.record.sample.stack_bytes = 256;
	take(4);
	ck_assert_uint_eq(call_paths_figures(made.paths).whole, 2);
	ck_assert_uint_eq(call_paths_figures(made.paths).joined, 1);
	read_back();
	for (size_t i = 0; i < made.written.nodes.count; i++) {
		node = &made.written.nodes.at[i];
		if (node->samples)
			ck_assert_uint_eq(node->flags,
					  HP_PATH_EXACT |
						  (node->samples == 4 ? HP_PATH_GRAFTED : 0));
		else
			ck_assert(!(node->flags & HP_PATH_GRAFTED));
	}
}

TEST(figures_outlive_what_they_are_of)
{
	struct call_path_figures before;
	struct call_path_figures after;

	begin(HP_CALL_PATHS_CFI);
	sample_deep();
	take(3);
	read_back();
	before = call_paths_figures(made.paths);
	call_paths_end(made.paths);
	after = call_paths_figures(made.paths);
	ck_assert_uint_gt(before.tables, 0);
	ck_assert_uint_gt(before.table_bytes, 0);
	ck_assert_uint_eq(after.samples, before.samples);
	ck_assert_uint_eq(after.frames, before.frames);
	ck_assert_uint_eq(after.tables, before.tables);
	ck_assert_uint_eq(after.table_bytes, before.table_bytes);
}

/* The second tree is added to the first. */
TEST(trees_add_up_in_an_epoch)
{
	begin(HP_CALL_PATHS_CFI);
	sample_deep();
	take(1);
	read_back();
	find_leaf(1);
	take(1);
	call_paths_forget_contexts(made.paths);
	take(1);
	read_back();
	find_leaf(3);
}

/* Frames of an address that was found before are not looked up again, but for good reason. */
TEST(what_was_mapped_over_is_not_taken_for_what_it_was)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct hp_path_node *node;
	struct hp_record over = {
		.kind = HP_RECORD_MMAP,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.time_ns = 2,
		.mmap = { .size = page, .file_offset = 7 * page, .path = "/bin/true" },
	};

	begin(HP_CALL_PATHS_CFI);
	sample_deep();
	take(1);
	over.mmap.start = made.record.sample.address & -page;
	ck_assert(processes_map(&bench.processes, &over));
	take(2);
	read_back();
	node = &made.written.nodes.at[0];
	while (node->samples != 2)
		node++;
	ck_assert_uint_eq(node->offset, 7 * page + made.record.sample.address % page);
	ck_assert_str_eq(made.written.images.at[node->image].path, "/bin/true");
}

TEST(the_kernel_s_own_part_and_paths_by_frame_pointers)
{
	const struct hp_path_node *node;
	struct hp_record *record = &made.record;

	begin(HP_CALL_PATHS_FP);
	sample_deep();
	record->cpu_mode = PERF_RECORD_MISC_KERNEL;
	record->sample.chain[0] = 0xffffffff81000010;
	record->sample.chain[1] = 0xffffffff81000021;
	record->sample.chain[2] = record->sample.address;
	record->sample.chain[3] = (uint64_t)made.said[1];
	record->sample.chain[4] = 0x17; /* garbage, where frame pointers led */
	record->sample.chain_user = 2;
	record->sample.chain_count = 5;
	take(1);
	read_back();
	node = find_leaf(1);
	ck_assert_uint_eq(node->flags, HP_PATH_KERNEL | HP_PATH_EXACT);
	node = caller_of(node);
	ck_assert_uint_eq(node->flags, HP_PATH_KERNEL);
	ck_assert_uint_ne(node->image, HP_PATH_NO_IMAGE);
	ck_assert_int_eq(made.written.images.at[node->image].kind, HP_IMAGE_KERNEL);
	node = caller_of(node);
	ck_assert_uint_eq(node->flags, HP_PATH_EXACT);
	node = caller_of(node);
	ck_assert_uint_eq(node->flags, HP_PATH_GUESS);
	check_place(node, made.said[1]);
	node = caller_of(node);
	ck_assert_uint_eq(node->flags, HP_PATH_TRUNCATED);
}

/* Calls that have not returned, the latest first, as the hardware has them. */
static void record_calls(int count)
{
	struct hp_record *record = &made.record;

	for (int i = 0; i < count; i++) {
		record->sample.branches[i].from = (uint64_t)made.said[i + 1] - 1;
		record->sample.branches[i].to = (uint64_t)made.said[i] - 1;
	}
	record->sample.branch_count = (unsigned)count;
	record->sample.register_count = 0;
	record->sample.stack_bytes = 0;
}

TEST(paths_by_the_hardware_s_records_of_calls)
{
	const struct hp_path_node *node;
	int calls;

	begin(HP_CALL_PATHS_LBR);
	sample_deep();
	calls = made.said_count - 1;
	record_calls(calls);
	take(2);
	read_back();
	node = find_leaf(2);
	ck_assert_uint_eq(node->flags, HP_PATH_EXACT);
	for (int i = 1; i <= calls; i++) {
		node = caller_of(node);
		check_place(node, made.said[i]);
		ck_assert_uint_eq(node->flags, 0);
	}
	/* The last one is where the process began. */
	ck_assert(hp_path_is_root(caller_of(node)));
	ck_assert_uint_eq(call_paths_figures(made.paths).whole, 1);
}

TEST(who_called_the_kernel_by_the_hardware_s_records)
{
	const struct hp_path_node *node;

	begin(HP_CALL_PATHS_LBR);
	sample_deep();
	record_calls(3);
	made.record.cpu_mode = PERF_RECORD_MISC_KERNEL;
	made.record.sample.address = 0xffffffff81000010;
	take(1);
	read_back();
	node = find_leaf(1);
	ck_assert_uint_eq(node->flags, HP_PATH_KERNEL | HP_PATH_EXACT);
	/* The procedure that did, though not where in it. */
	node = caller_of(node);
	ck_assert_uint_eq(node->flags, HP_PATH_GUESS);
	check_place(node, made.said[0]);
	for (int i = 1; i <= 3; i++) {
		node = caller_of(node);
		check_place(node, made.said[i]);
	}
}

/* It records 32 at most, and none of those before the recording. */
TEST(calls_that_the_hardware_did_not_record)
{
	const struct hp_path_node *node;

	begin(HP_CALL_PATHS_LBR);
	sample_deep();
	record_calls(5);
	take(1);
	read_back();
	node = find_leaf(1);
	for (int i = 1; i <= 5; i++)
		node = caller_of(node);
	check_place(node, made.said[5]);
	ck_assert_uint_eq(caller_of(node)->flags, HP_PATH_TRUNCATED);
	ck_assert_uint_eq(call_paths_figures(made.paths).truncated, 1);
}

/* Generated code: named when the tree is written, by what its map says then. */
TEST(frames_in_generated_code)
{
	const struct hp_path_node *node;
	struct hp_record *record = &made.record;
	_cleanup_free_ char *map = NULL;
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t words[4] = { 0 };
	FILE *file;

	ck_assert_ptr_ne(code, MAP_FAILED);
	begin(HP_CALL_PATHS_CFI);
	sample_deep();
	record->sample.address = (uint64_t)code + 8;
	record->sample.registers[hp_sampled_register_place(HP_SAMPLED_ADDRESS)] =
		(uint64_t)code + 8;
	/* A frame pointer, and two frames that it leads to. */
	record->sample.registers[hp_sampled_register_place(4)] = 0x1000;
	record->sample.registers[hp_sampled_register_place(5)] = 0x1000;
	words[0] = 0;
	words[1] = (uint64_t)code + 64; /* behind the end of its procedure */
	record->sample.stack = (const uint8_t *)words;
	record->sample.stack_bytes = sizeof(words);
	take(1);
	ck_assert_int_gt(asprintf(&map, "/tmp/perf-%d.map", (int)getpid()), 0);
	file = fopen(map, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "%lx 10 leaf\n%lx 20 caller\n", (unsigned long)code,
		(unsigned long)code + 32);
	fclose(file);
	read_back();
	unlink(map);
	node = find_leaf(1);
	ck_assert_int_eq(made.written.images.at[node->image].kind, HP_IMAGE_JIT);
	ck_assert_uint_eq(node->offset % (1 << 24), 8);
	node = caller_of(node);
	ck_assert_int_eq(made.written.images.at[node->image].kind, HP_IMAGE_JIT);
	ck_assert_uint_eq(node->offset % (1 << 24), 32);
	ck_assert_uint_eq(node->flags, HP_PATH_GUESS);
	ck_assert(hp_path_is_root(caller_of(node)));
	munmap(code, 4096);
}

/* Whatever a program puts into its registers and on its stack: a path comes of it, and no more. */
TEST(registers_and_stacks_that_lie)
{
	struct hp_random random = hp_random_seeded(25);
	struct hp_record honest;
	struct hp_record *record = &made.record;
	struct call_path_figures figures;
	enum { LIES = 2000 };

	begin(HP_CALL_PATHS_CFI);
	sample_deep();
	honest = *record;
	for (unsigned i = 0; i < LIES; i++) {
		uint64_t rsp = honest.sample.registers[hp_sampled_register_place(4)];

		*record = honest;
		for (unsigned k = 0; k < record->sample.register_count; k++)
			if (hp_random_between(&random, 0, 3) == 0)
				record->sample.registers[k] =
					rsp + hp_random_between(&random, 0, 512) - 64;
		for (unsigned k = 0; k < 8; k++)
			made.stack[hp_random_between(&random, 0, record->sample.stack_bytes - 1)] =
				(uint8_t)hp_random_between(&random, 0, 255);
		if (i % 5 == 0)
			record->sample.stack_bytes = hp_random_between(&random, 0, 64);
		if (i % 7 == 0)
			record->sample.register_count = 0;
		if (i % 11 == 0)
			record->sample.registers[hp_sampled_register_place(HP_SAMPLED_ADDRESS)] =
				hp_random_between(&random, 0, UINT64_MAX - 1);
		take(1);
	}
	figures = call_paths_figures(made.paths);
	ck_assert_uint_eq(figures.samples, LIES);
	ck_assert_uint_eq(figures.whole + figures.truncated + figures.lost, LIES);
	read_back();
	ck_assert_uint_eq(hp_paths_samples(&made.written, NULL), LIES);
	hp_assert_ok(hp_paths_check(&made.written));
}

HP_TEST_MAIN("collect/call_paths")
