/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * culprits --list
 * culprits KERNEL ROUNDS true|control|count
 *
 * Runs one kernel and prints how many nanoseconds of its thread's time the kernel took, and what it
 * computed. `true` has the cause, `control` has not and does the same work otherwise; `count` takes
 * the same path as `true`, on data that are made quickly: for counting. The list has a line a
 * kernel: name, procedure, causes ("+" between two, "none" for none), and what the
 * control has other: "data", "code", or "no" for no control.
 */
#include "work.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum mode { MODE_TRUE, MODE_CONTROL, MODE_COUNT };

enum data {
	DATA_LIST,  /* of `size` bytes, in random order, a node every `stride` */
	DATA_TABLE, /* of `size` bytes */
	DATA_BYTES, /* of random values */
	DATA_TURNS, /* of bytes by turns */
	DATA_SORTED,
};

struct known {
	const char *name;
	const char *procedure;
	const char *causes;
	kernel run;
	kernel control; /* NULL: the same, on data that are cached or predictable */
	uint64_t size;
	uint64_t stride;
	uint64_t steps;
	uint8_t data; /* enum data */
	bool is_in_small_pages;
	bool has_no_control;
};

#define KIB	     1024ul
#define MIB	     (1024 * KIB)
#define OF(function) .procedure = #function, .run = function

static const struct known kernels[] = {
	{ "chase-l2", OF(chase), .causes = "dcache", .size = 512 * KIB, .stride = 64 },
	{ "chase-l3", OF(chase), .causes = "dcache", .size = 7 * MIB, .stride = 64 },
	{ "chase-memory", OF(chase), .causes = "dcache", .size = 2048 * MIB, .stride = 128 },
	{ "gather-memory", OF(gather), .causes = "dcache", .size = 1024 * MIB, .data = DATA_TABLE },
	{ "page-stride", OF(pages), .causes = "dtlb", .size = 34 * MIB, .steps = 8192,
	  .data = DATA_TABLE, .is_in_small_pages = true },
	{ "chase-pages", OF(chase), .causes = "dcache+dtlb", .size = 256 * MIB, .stride = 4096 + 64,
	  .is_in_small_pages = true },
	{ "chase-far-pages", OF(chase), .causes = "dcache+dtlb", .size = 1024 * MIB,
	  .stride = 4096 + 64, .is_in_small_pages = true },
	{ "gather-pages", OF(gather), .causes = "dcache+dtlb", .size = 256 * MIB,
	  .data = DATA_TABLE, .is_in_small_pages = true },
	{ "branch-random", OF(branch), .causes = "branch-mispredict", .data = DATA_BYTES,
	  .steps = 65536 },
	{ "branch-alternating", OF(branch), .causes = "none", .data = DATA_TURNS, .steps = 65536,
	  .has_no_control = true },
	{ "branch-indirect", OF(dispatch), .causes = "branch-mispredict", .data = DATA_BYTES,
	  .steps = 65536 },
	{ "code-4m", OF(jumping), .control = jumping_little, .causes = "icache", .steps = 65536,
	  .data = DATA_TABLE },
	{ "store-burst", OF(scatter), .causes = "store-buffer", .size = 4 * MIB,
	  .data = DATA_TABLE },
	{ "store-forward", OF(narrow_store), .control = whole_store, .causes = "store-forward",
	  .data = DATA_TABLE },
	{ "divide", OF(divide), .control = not_divide, .causes = "divider", .data = DATA_TABLE },
	{ "square-root", OF(root), .control = not_root, .causes = "divider", .data = DATA_TABLE },
	{ "multiply", OF(multiply), .control = not_multiply, .causes = "multiplier",
	  .data = DATA_TABLE },
	{ "fp-add", OF(sum_reals), .control = not_sum_reals, .causes = "fp-latency",
	  .data = DATA_TABLE },
	{ "lock-add", OF(locked), .control = not_locked, .causes = "sync", .data = DATA_TABLE },
	{ "mfence", OF(fenced), .control = not_fenced, .causes = "sync", .data = DATA_TABLE },
	{ "pause", OF(paused), .control = not_paused, .causes = "sync", .data = DATA_TABLE },
	{ "adds", OF(adds), .causes = "none", .data = DATA_TABLE, .has_no_control = true },
	{ "mix-load-branch", OF(search), .causes = "dcache+branch-mispredict", .size = 1 * MIB,
	  .data = DATA_SORTED, .steps = 512, .has_no_control = true },
	{ "mix-load-divide", OF(chase_and_divide), .causes = "dcache+divider", .size = 512 * KIB,
	  .stride = 64, .has_no_control = true },
	{ "mix-store-multiply", OF(store_and_multiply), .causes = "store-forward+multiplier",
	  .data = DATA_TABLE, .has_no_control = true },
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Whole huge pages: what is smaller the kernel gives in small ones, 512 KiB of which miss in first TLBs. */
static void *get_memory(size_t bytes, bool in_small_pages)
{
	size_t huge = 2 * MIB;
	size_t size = (bytes + huge - 1) / huge * huge;
	char *memory =
		mmap(NULL, size + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("culprits: mmap");
		exit(1);
	}
	memory += huge - (uintptr_t)memory % huge;
	madvise(memory, size, in_small_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	for (size_t at = 0; at < bytes; at += 4096)
		memory[at] = 0;
	return memory;
}

/* One cycle through all nodes (Sattolo). */
static void **make_list(char *memory, uint64_t size, uint64_t stride)
{
	uint64_t count = size / stride;
	uint64_t random = 88172645463325252u;
	uint32_t *order = malloc(count * sizeof(*order));

	if (!order)
		exit(1);
	for (uint64_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = count - 1; i > 0; i--) {
		uint64_t other = next_random(&random) % i;
		uint32_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (uint64_t i = 0; i < count; i++)
		*(void **)(memory + order[i] * stride) = memory + order[(i + 1) % count] * stride;
	free(order);
	return (void **)memory;
}

static void make_data(const struct known *one, enum mode mode, struct work *work)
{
	bool is_control = mode == MODE_CONTROL && !one->control;
	bool is_small = is_control || mode == MODE_COUNT;
	uint64_t size = one->size && !is_small ? one->size : 16 * KIB;
	uint64_t bytes = work->steps * 16;
	uint64_t random = 362436069;

	if (one->data == DATA_SORTED)
		size = one->size;
	work->divisor = 10007;
	work->indices = get_memory(work->steps * sizeof(*work->indices), false);
	work->reals = get_memory(4096 * sizeof(*work->reals), false);
	for (uint64_t i = 0; i < 4096; i++)
		work->reals[i] = 1 + (double)i / 4096;
	for (uint64_t i = 0; i < work->steps; i++)
		work->indices[i] = (uint32_t)next_random(&random);
	if (one->data == DATA_LIST) {
		work->start =
			make_list(get_memory(size, one->is_in_small_pages), size, one->stride);
		work->mask = 0xffff;
		return;
	}
	if (one->run == pages) {
		work->bytes = get_memory(one->size, true);
		if (is_control) { /* few of them, as often */
			work->rounds *= work->steps / 64;
			work->steps = 64;
		}
		return;
	}
	work->words = get_memory(size + 4096, one->is_in_small_pages);
	work->mask = size / (one->run == scatter ? 64 : 8) - 1;
	work->bytes = get_memory(bytes < 4096 ? 4096 : bytes, false);
	if (one->data == DATA_SORTED)
		for (uint64_t i = 0; i <= work->mask; i++)
			work->words[i] = i * 3;
	for (uint64_t i = 0; i < bytes; i++)
		work->bytes[i] = one->data == DATA_BYTES && !is_control
					 ? (uint8_t)(next_random(&random) >> 20)
					 : (uint8_t)i;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int list(void)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		printf("%s %s %s %s\n", kernels[i].name, kernels[i].procedure, kernels[i].causes,
		       kernels[i].has_no_control ? "no"
		       : kernels[i].control	 ? "code"
						 : "data");
	return 0;
}

static int run(const struct known *one, uint64_t rounds, enum mode mode)
{
	struct work work = { .rounds = rounds, .steps = one->steps ? one->steps : 4096 };
	kernel function = mode == MODE_CONTROL && one->control ? one->control : one->run;
	double begin;
	uint64_t result;

	make_data(one, mode, &work);
	if (function == jumping_little)
		work.rounds *= 1024; /* as many lines */
	begin = now_ns();
	result = function(&work);
	printf("%.0f %llu\n", now_ns() - begin, (unsigned long long)result);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list();
	for (size_t i = 0; argc == 4 && i < sizeof(kernels) / sizeof(*kernels); i++)
		if (strcmp(kernels[i].name, argv[1]) == 0)
			return run(&kernels[i], strtoull(argv[2], NULL, 10),
				   strcmp(argv[3], "control") == 0 ? MODE_CONTROL
				   : strcmp(argv[3], "count") == 0 ? MODE_COUNT
								   : MODE_TRUE);
	fprintf(stderr, "culprits: --list, or KERNEL ROUNDS true|control|count\n");
	return 2;
}
