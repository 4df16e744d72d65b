/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure_core CORE: what a miss, a wrong guess and an atomic operation cost on the CPU that this
 * runs on, beside what the description of CORE says (src/isa/machine/cores.c). No counters: time
 * stamps, against a chain of dependent additions that runs beside it, each of which takes one
 * cycle. In a virtual machine a walk of the page tables goes through two of them.
 */
#include "core_tasks.h"

#include <hpcprof/base/search.h>
#include <hpcprof/calibrate/latencies.h>
#include <hpcprof/isa/machine.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <x86intrin.h>

enum {
	REPEATS = 101,
	MOST_TRIES = 1000,
	CHAIN = 4000,
	BRANCHES = 4000,
	STEPS = 4000,
	JUMPS = 8192,
};

static long interruptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

static uint64_t time_of(struct task *task)
{
	uint64_t from;
	uint64_t to;

	for (uint64_t i = 0; task->bits && i < task->count; i++)
		task->bits[i] = (uint8_t)(random_next() >> 40) & task->mask;
	_mm_lfence();
	from = __rdtsc();
	_mm_lfence();
	task->run(task);
	_mm_lfence();
	to = __rdtsc();
	_mm_lfence();
	return to - from;
}

HP_ORDER_VALUES(by_value, double);

/* The lower quartile of runs that nothing else ran in: others only ever make it slower. */
static double cycles_of(struct task *task)
{
	struct task chain = { .run = run_additions, .count = CHAIN };
	double ratios[REPEATS];
	int good = 0;

	for (int i = 0; i < MOST_TRIES && good < REPEATS; i++) {
		long interrupted = interruptions();
		uint64_t before = time_of(&chain);
		uint64_t time = time_of(task);
		uint64_t after = time_of(&chain);

		if (i >= 2 && interruptions() == interrupted) /* the first ones warm up */
			ratios[good++] = 2.0 * (double)time / (double)(before + after);
	}
	if (good == 0)
		return 0;
	qsort(ratios, (size_t)good, sizeof(ratios[0]), by_value);
	return ratios[good / 4] * CHAIN / (double)task->count;
}

static char *allocate(size_t bytes, int advice)
{
	char *memory = mmap(NULL, bytes + (2 << 20), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memory += (2 << 20) - (uintptr_t)memory % (2 << 20);
	madvise(memory, bytes, advice);
	memset(memory, 0, bytes);
	return memory;
}

/* A circle through `count` places in random order; the k-th is at k * stride, and a line further in
 * each, so that they do not all meet in one set of the cache. */
static void *make_circle(char *memory, size_t count, size_t stride, size_t shift)
{
	size_t *order = malloc(count * sizeof(*order));

	if (!order)
		exit(1);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i-- > 1;) {
		size_t other = random_next() % (i + 1);
		size_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < count; i++) {
		size_t from = order[i];
		size_t to = order[(i + 1) % count];

		*(void **)(memory + from * stride + from * shift % stride) =
			memory + to * stride + to * shift % stride;
	}
	free(order);
	return memory;
}

/* So that what can be in the caches is there. */
static void walk_once(struct task *task, size_t count)
{
	struct task all = { .run = run_chase, .count = count, .memory = task->memory };

	all.run(&all);
}

/* Lines at random in so much memory, in huge pages where they are given. */
static double lines_in(size_t bytes)
{
	char *memory = allocate(bytes, MADV_HUGEPAGE);
	struct task task = { .run = run_chase, .count = STEPS };
	double cycles;

	task.memory = make_circle(memory, bytes / LINE, LINE, 0);
	walk_once(&task, bytes / LINE);
	cycles = cycles_of(&task);
	munmap(memory, bytes);
	return cycles;
}

/* One line in each of so many small pages. */
static double pages(size_t count)
{
	char *memory = allocate(count * PAGE, MADV_NOHUGEPAGE);
	struct task task = { .run = run_chase, .count = STEPS };
	double cycles;

	task.memory = make_circle(memory, count, PAGE, LINE);
	walk_once(&task, count);
	cycles = cycles_of(&task);
	munmap(memory, count * PAGE);
	return cycles;
}

/* What a load of a line takes longer than one that hits, if they are so many bytes apart (0: at random) and
 * have so much work between them. Each run goes elsewhere. */
static double steps_of(size_t bytes, size_t apart)
{
	enum { COUNT = 1 << 16, RUN = 2000 };
	static uint32_t order[COUNT];
	char *memory = allocate(bytes, MADV_NOHUGEPAGE);
	struct task task = { .run = run_places, .count = RUN, .memory = memory };
	double same, sum = 0;
	uint64_t at = 0;

	known_places = order;
	same = cycles_of(&task);
	for (size_t i = 0; i < COUNT; i++) {
		at = (apart ? at + apart : random_next()) % (bytes - 8);
		order[i] = (uint32_t)at;
	}
	for (size_t i = 0; i + RUN <= COUNT; i += RUN) {
		struct task chain = { .run = run_additions, .count = CHAIN };
		uint64_t before = time_of(&chain);

		known_places = &order[i];
		sum += (double)time_of(&task) / (double)before * CHAIN / RUN;
	}
	munmap(memory, bytes);
	return sum / (COUNT / RUN) - same;
}

/* What a load of a line at random takes longer than one that hits, by so many of an array of pointers or
 * offsets in order, beginning elsewhere each time. */
static double led_to(void (*run)(struct task *), size_t in_order)
{
	enum { COUNT = 1 << 20, BEGINNINGS = 512, BYTES = 64 << 20 };
	static const char *pointers[COUNT];
	static uint32_t offsets[COUNT];
	char *memory = allocate(BYTES, MADV_HUGEPAGE);
	struct task task = { .run = run, .count = in_order, .memory = memory };
	double same, each[BEGINNINGS];

	for (size_t i = 0; i < COUNT; i++)
		pointers[i] = memory + (offsets[i] = 0);
	known_pointers = pointers;
	known_places = offsets;
	same = cycles_of(&task);
	for (size_t i = 0; i < COUNT; i++)
		pointers[i] = memory + (offsets[i] = (uint32_t)(random_next() % (BYTES / LINE)) * LINE);
	for (size_t i = 0; i < BEGINNINGS; i++) {
		struct task chain = { .run = run_additions, .count = CHAIN };
		size_t first = i * (COUNT / BEGINNINGS);
		uint64_t before = time_of(&chain);

		known_pointers = &pointers[first];
		known_places = &offsets[first];
		each[i] = (double)time_of(&task) / (double)before * CHAIN / (double)in_order;
	}
	munmap(memory, BYTES);
	qsort(each, BEGINNINGS, sizeof(each[0]), by_value);
	return each[BEGINNINGS / 2] - same;
}

/* How much longer each takes in one of 65536 pages than always in the same. */
static double in_pages(void (*run)(struct task *))
{
	enum { MANY = 65536 };
	char *memory = allocate((size_t)MANY * PAGE, MADV_NOHUGEPAGE);
	struct task task = { .run = run, .count = STEPS / 10, .memory = memory, .pages = 1 };
	double same = cycles_of(&task), others;

	task.pages = MANY;
	others = cycles_of(&task);
	munmap(memory, (size_t)MANY * PAGE);
	return others - same;
}

static double simple(void (*run)(struct task *), uint64_t count)
{
	static uint64_t memory[512] __attribute__((aligned(PAGE)));
	struct task task = { .run = run, .count = count, .memory = memory };

	return cycles_of(&task);
}

/* Handlers that follow each other in an order that repeats so soon, after another order. */
static double handlers(size_t period)
{
	uint8_t code[STEPS];
	struct task task = { .run = run_handlers, .count = STEPS, .memory = code };

	for (size_t i = 0; i < STEPS; i++)
		code[i] = (uint8_t)(i % 16);
	task.run(&task);
	for (size_t i = 0; i < STEPS; i++)
		code[i] = i < period ? (uint8_t)(random_next() >> 40) % 16 : code[i - period];
	for (int i = 0; i < 20; i++)
		task.run(&task);
	return cycles_of(&task);
}

/* The same where each has only one target by now. */
static double handlers_in_turn(void)
{
	uint8_t code[STEPS];
	struct task task = { .run = run_handlers, .count = STEPS, .memory = code };

	for (size_t i = 0; i < STEPS; i++)
		code[i] = (uint8_t)(random_next() >> 40) % 16;
	task.run(&task);
	for (size_t i = 0; i < STEPS; i++)
		code[i] = (uint8_t)(i % 16);
	for (int i = 0; i < 20; i++)
		task.run(&task);
	return cycles_of(&task);
}

static double mispredict(void)
{
	static uint8_t bits[BRANCHES / 8];
	struct task random = {
		.run = run_branches, .count = sizeof(bits), .bits = bits, .mask = 255
	};
	struct task same = { .run = run_branches, .count = sizeof(bits), .bits = bits };

	return 2 * (cycles_of(&random) - cycles_of(&same)) / 8; /* every other one is wrong */
}

/* Of two branches that go alike by chance: what is lost by them for each time that the first one is. */
static double alike(void (*run)(struct task *))
{
	static uint8_t bits[STEPS];
	struct task random = { .run = run, .count = STEPS, .bits = bits, .mask = 1 };
	struct task same = { .run = run, .count = STEPS, .bits = bits };

	return 2 * (cycles_of(&random) - cycles_of(&same)); /* every other one is wrong */
}

/* What each branch of `count` that repeat takes longer than one that always goes the same way. */
static double repeated(void (*run)(struct task *), size_t count)
{
	uint8_t *memory = calloc(count, 1);
	struct task task = { .run = run, .count = count, .memory = memory };
	double same, known;

	if (!memory)
		exit(1);
	same = cycles_of(&task);
	for (size_t i = 0; i < count; i++)
		memory[i] = (uint8_t)(random_next() >> 40);
	for (int i = 0; i < 20; i++)
		task.run(&task);
	known = cycles_of(&task);
	free(memory);
	return known - same;
}

static void print(const char *name, double measured, int described)
{
	if (described)
		printf("%-52s %8.1f %8d\n", name, measured, described);
	else
		printf("%-52s %8.1f %8s\n", name, measured, "-");
	fflush(stdout);
}

/* A pair behind three products of three cycles each. What the core renames takes no more than these. */
static void print_renamed(const struct hp_core *core)
{
	int renamed = core->renaming == HP_RENAMING_ALL ? 3 * 3 : 0;
	int compared = renamed ? renamed + core->compared_cycles + 1 : 0;

	print("    behind three products", simple(run_moved, STEPS), renamed);
	print("        of a byte", simple(run_moved_byte, STEPS), renamed);
	print("        of 2 bytes", simple(run_moved_word, STEPS), compared);
	print("        the load with an index", simple(run_moved_index, STEPS), compared);
	print("        the load extends the sign", simple(run_moved_sign, STEPS),
	      compared ? compared + 1 : 0);
}

int main(int argc, char **argv)
{
	const struct hp_core *core = argc == 2 ? hp_core_named(argv[1]) : NULL;
	struct hp_uarch_geometry geometry;
	struct hp_core recorded;
	double l2;

	if (!core) {
		fprintf(stderr, "usage: measure_core CORE\n");
		return 2;
	}
	recorded = *core;
	geometry = hp_uarch_geometry_of(core);
	hp_latencies_measure(&geometry, &recorded);
	printf("%-52s %8s %8s\n", "cycles", "measured", core->name);
	print("first-level cache, 16 KiB", lines_in(16 << 10), core->l1_cycles);
	for (size_t kib = 64; kib <= 1 << 20; kib *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "    lines in %zu KiB", kib);
		print(name, lines_in(kib << 10), 0);
	}
	l2 = lines_in(512 << 10);
	print("second-level cache, 512 KiB", l2, core->l2_cycles);
	print("    as a recording measures it", recorded.l2_cycles, core->l2_cycles);
	print("third-level cache, 4 MiB", lines_in(4 << 20), core->l3_cycles);
	print("    as a recording measures it", recorded.l3_cycles, core->l3_cycles);
	print("memory, 1 GiB", lines_in((size_t)1 << 30), core->memory_cycles);
	print("second-level TLB, beyond the first: 512 pages", pages(512) - lines_in(32 << 10),
	      core->l2_tlb_cycles);
	for (size_t count = 64; count <= 65536; count *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "    a line in each of %zu pages", count);
		print(name, pages(count), 0);
	}
	print("walk, beyond both: 8192 pages, data in second level", pages(8192) - l2,
	      core->walk_cycles);
	print("lines of 64 MiB with work between them, at random", steps_of((size_t)64 << 20, 0),
	      0);
	print("    in order", steps_of((size_t)64 << 20, LINE), 0);
	print("    in steps of 190056 bytes", steps_of((size_t)64 << 20, 190056), 0);
	for (size_t count = 8; count <= 2048; count *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "line of 64 MiB, led to by one of %zu offsets", count);
		print(name, led_to(run_offsets, count), 0);
		print("    of pointers", led_to(run_pointers, count), 0);
	}
	print("mispredicted branch", mispredict(), core->mispredict_cycles);
	print("    as a recording measures it", recorded.mispredict_cycles,
	      core->mispredict_cycles);
	print("    two, alike, 600 others not taken between", alike(run_behind_untaken),
	      core->mispredict_cycles);
	print("    120 taken", alike(run_behind_120), core->mispredict_cycles);
	print("    150 taken: both are", alike(run_behind_150), 2 * core->mispredict_cycles);
	/* Half of them go otherwise than the last time, and nearly all of 16 targets. */
	print("branch foretold by a long history, 4096 that repeat",
	      2 * repeated(run_known_branches, 4096), core->late_branch_cycles);
	for (size_t count = 16; count <= 2048; count *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "    %zu that repeat", count);
		print(name, 2 * repeated(run_known_branches, count), 0);
	}
	print("indirect jump, likewise, 128", repeated(run_known_targets, 128) * 16 / 15,
	      core->late_target_cycles);
	for (size_t count = 4096; count <= 1 << 17; count *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "    one of %zu branches that repeat", count);
		print(name, repeated(run_known_branches, count), 0);
		print("        in eight places by turns", repeated(run_known_branches_apart, count), 0);
		snprintf(name, sizeof(name), "    one of %zu targets that repeat", count / 8);
		print(name, repeated(run_known_targets, count / 8), 0);
		print("        in eight places by turns", repeated(run_known_targets_apart, count / 8), 0);
	}
	print("indirect jump that has one target", simple(run_jumps, STEPS),
	      core->indirect_cycles ? core->indirect_cycles : 1);
	print("one of 128 jumps", simple(run_jumps_128, JUMPS), 0);
	print("    256", simple(run_jumps_256, JUMPS), 0);
	print("    512", simple(run_jumps_512, JUMPS), 0);
	print("    2048", simple(run_jumps_2048, JUMPS), 1 + core->late_target_cycles);
	print("    8192", simple(run_jumps_8192, 4 * 8192), 0);
	print("    24576, which no target buffer holds", simple(run_jumps_24576, 2 * 24576),
	      core->resteer_cycles);
	for (size_t period = 16; period <= 1024; period *= 4) {
		char name[64];

		snprintf(name, sizeof(name), "    several, an order of %zu", period);
		print(name, handlers(period),
		      core->late_target_cycles ? 1 + core->late_target_cycles : 0);
	}
	print("    one by now", handlers_in_turn(),
	      core->late_target_cycles ? 1 + core->late_target_cycles : 0);
	print("store forwarded to a load", simple(run_forward, STEPS), core->forward_cycles);
	print("addition to memory, again and again", simple(run_counter, STEPS), 0);
	print("64 stores and loads, each named alike", simple(run_named, STEPS), 0);
	print("    by another register", simple(run_compared, STEPS),
	      core->renamed_stores ? core->compared_cycles + 1 : 0);
	print("    20 of these", simple(run_compared_20, STEPS), 0);
	print("    21", simple(run_compared_21, STEPS), 0);
	print("    40 with a no-op in each", simple(run_compared_apart, STEPS), 0);
	print("    44", simple(run_more_apart, STEPS), 0);
	print("    18 among 36 of a byte", simple(run_compared_bytes, STEPS), 0);
	print("    12 with a product, among 12 of an older store", simple(run_compared_far, STEPS), 0);
	print("    12, these by the stack pointer", simple(run_compared_stack, STEPS), 0);
	print("    by a register that is written before each", simple(run_renamed_base, STEPS), 0);
	print("    of 2 bytes", simple(run_narrow, STEPS), 0);
	print_renamed(core);
	print("    15 other stores behind it, and four products", simple(run_behind_15, STEPS),
	      core->renamed_stores == 16 ? 12 : 0);
	print("    16", simple(run_behind_16, STEPS),
	      core->renamed_stores == 16 ? 12 + core->compared_cycles + 1 : 0);
	print("two chains of 60 products, 300 no-ops between", simple(run_two_chains, STEPS / 16), 0);
	print("store not forwarded: the load is wider", simple(run_failed_forward, STEPS), 0);
	print("    what it waits for behind a chain",
	      simple(run_failed_behind, STEPS / 10) - simple(run_forwarded_behind, STEPS / 10),
	      core->blocked_cycles);
	print("store to one of 65536 pages, among no-ops", in_pages(run_store_alone),
	      core->walk_cycles);
	print("    prefetch", in_pages(run_prefetch_alone), core->walk_cycles);
	print("load with an index", simple(run_indexed, STEPS), core->l1_cycles);
	print("    that is scaled", simple(run_scaled, STEPS),
	      core->l1_cycles + core->indexes_late);
	print("call and return", simple(run_calls, STEPS), 2 * core->call_cycles);
	print("100 instructions of long code", 25 * simple(run_mix, STEPS),
	      core->issued_in_ten ? 1000 / core->issued_in_ten : 100 / core->issue_width);
	print("100 operations, each other one needs that before", 100 * simple(run_chained, STEPS),
	      core->chained_span ? 150 / __builtin_popcount(core->chained_units) : 0);
	print("100 instructions that are not decoded", 100 * simple(run_decoded, 28672),
	      100 / core->decode_width);
	print("locked add", simple(run_locked, STEPS), core->locked_cycles);
	print("store and mfence", simple(run_fences, STEPS), core->fence_cycles);
	print("pause", simple(run_pauses, STEPS / 8), core->pause_cycles);
	return 0;
}
