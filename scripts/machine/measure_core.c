/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure_core CORE: what a miss, a wrong guess and an atomic operation cost on the CPU that this
 * runs on, beside what the description of CORE says (src/isa/machine/cores.c). No counters: time
 * stamps, against a chain of dependent additions that runs beside it, each of which takes one
 * cycle. In a virtual machine a walk of the page tables goes through two of them.
 */
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
	LINE = 64,
	PAGE = 4096,
	CHAIN = 4000,
	BRANCHES = 4000,
	STEPS = 4000,
};

struct task {
	void (*run)(struct task *task);
	uint64_t count; /* of what is measured, in one run: short, so that few are interrupted */
	void *memory;
	uint8_t *bits; /* filled anew with `mask` of random ones for each run */
	uint8_t mask;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* --- what is run ------------------------------------------------------------------------------ */

static void run_additions(struct task *task)
{
	uint64_t sum = 1;

	for (uint64_t i = 0; i < task->count / 20; i++)
		__asm__ volatile(".rept 20; add %1, %0; .endr" : "+r"(sum) : "r"(i) : "cc");
}

static void run_chase(struct task *task)
{
	void *at = task->memory;

	for (uint64_t i = 0; i < task->count / 8; i++)
		__asm__ volatile(".rept 8; mov (%0), %0; .endr" : "+r"(at) : : "memory");
	task->memory = at; /* the next run goes on from there */
}

/* Loads that wait for what was done with the last one, of known places: only prefetchers are early. */
static const uint32_t *known_places;

static void run_places(struct task *task)
{
	const char *memory = task->memory;
	uint64_t value = 0;

	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("and $0, %0\n\t"
				 "add (%1, %0), %0\n\t"
				 ".rept 60; add $1, %0; .endr"
				 : "+r"(value)
				 : "r"(memory + known_places[i])
				 : "cc");
}

static void run_branches(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("testb $1, %0; jz 1f; nop; 1:" : : "m"(task->bits[i]) : "cc");
}

/* The same branches in each run, which a predictor may have learnt. */
static void run_known_branches(struct task *task)
{
	const uint8_t *bits = task->memory;

	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("testb $1, %0; jz 1f; nop; 1:" : : "m"(bits[i]) : "cc");
}

/* Jumps to one of 16 places, 20 bytes apart: predictors tell them by low bits of their addresses. */
static void run_known_targets(struct task *task)
{
	const uint8_t *places = task->memory;

	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("lea 1f(%%rip), %%rax\n\t"
				 "add %0, %%rax\n\t"
				 "jmp *%%rax\n\t"
				 ".balign 64\n"
				 "1: .rept 16; .byte 0xe9; .long 2f - . - 4; .skip 15; .endr\n"
				 "2:"
				 :
				 : "r"((uint64_t)places[i] % 16 * 20)
				 : "rax", "cc");
}

static void run_pauses(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("pause");
}

/* Stores, and loads at once what was stored, each time elsewhere. */
static void run_forward(struct task *task)
{
	char *memory = task->memory;
	uint64_t value = 0;

	for (uint64_t i = 0; i < task->count; i++) {
		char *to = memory + i % 32 * 64;

		__asm__ volatile("mov %0, (%1)\n\t"
				 "add %2, %1\n\t"
				 "mov -24(%1), %0"
				 : "+r"(value), "+r"(to)
				 : "r"((uint64_t)24)
				 : "memory", "cc");
	}
}

/* Pairs of a store and a load that depend on each other: their places are named in the same way, by
 * another register, or by one that is written before each. Each of 64 pairs is other code. */
#define PAIRS(function, code)                                                                      \
	static void function(struct task *task)                                                    \
	{                                                                                          \
		char *to = task->memory, *from = task->memory;                                     \
		uint64_t value = 0;                                                                \
                                                                                                   \
		__asm__("" : "+r"(from)); /* a register of its own */                              \
		for (uint64_t i = 0; i < task->count / 64; i++)                                    \
			__asm__ volatile(".rept 64; " code "; .endr"                               \
					 : "+r"(value), "+r"(to)                                   \
					 : "r"(from), "r"((uint64_t)0)                             \
					 : "memory", "cc");                                        \
	}
PAIRS(run_named, "mov %0, 64(%1); mov 64(%1), %0")
PAIRS(run_compared, "mov %0, 64(%1); mov 64(%2), %0")
PAIRS(run_renamed_base, "add %3, %1; mov %0, 64(%1); mov 64(%1), %0")
PAIRS(run_narrow, "movw %w0, 64(%1); movzwl 64(%1), %k0")

/* 16 places in turn call the same procedure, which does nothing. */
static void run_calls(struct task *task)
{
	for (uint64_t i = 0; i < task->count / 16; i++)
		__asm__ volatile("sub $128, %%rsp\n\t"
				 ".balign 64\n\t"
				 ".rept 16; call 1f; .balign 32; .endr\n\t"
				 "add $128, %%rsp; jmp 2f\n\t"
				 ".balign 64\n"
				 "1: ret\n\t"
				 ".balign 64\n"
				 "2:"
				 :
				 :
				 : "memory", "cc");
}

/* Each jumps to one place only, which a register has. */
static void run_jumps(struct task *task)
{
	for (uint64_t i = 0; i < task->count / 16; i++)
		__asm__ volatile(".balign 64\n\t"
				 ".rept 16; lea 1f(%%rip), %%rax; jmp *%%rax; .balign 64; 1:; .endr"
				 :
				 :
				 : "rax");
}

/* Handlers of an interpreter, each of which jumps to the next one by a table of opcodes. */
static void run_handlers(struct task *task)
{
	const uint8_t *code = task->memory;
	uint64_t left = task->count;

	__asm__ volatile("lea 1f(%%rip), %%r8\n\t"
			 ".balign 64\n"
			 "1: .rept 16\n\t"
			 "movzbl (%0), %%eax; inc %0; dec %1; jz 2f\n\t"
			 "shl $6, %%eax; add %%r8, %%rax; jmp *%%rax\n\t"
			 ".balign 64; .endr\n"
			 "2:"
			 : "+r"(code), "+r"(left)
			 :
			 : "rax", "r8", "memory", "cc");
}

/* Operations of one cycle that wait for nothing else, the second of each two for the first. */
static void run_chained(struct task *task)
{
	for (uint64_t i = 0; i < task->count / 100; i++)
		__asm__ volatile(
			".rept 10\n\t"
			"lea 1(%0), %%eax; cmp %0, %%rax; lea 1(%0), %%ecx; cmp %0, %%rcx\n\t"
			"lea 1(%0), %%edx; cmp %0, %%rdx; lea 1(%0), %%esi; cmp %0, %%rsi\n\t"
			"lea 1(%0), %%edi; cmp %0, %%rdi\n\t"
			".endr"
			:
			: "r"(task->memory)
			: "rax", "rcx", "rdx", "rsi", "rdi", "cc");
}

static void run_indexed(struct task *task)
{
	uint64_t *memory = task->memory, value = 0;

	memory[0] = 0;
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("mov (%1, %0), %0" : "+r"(value) : "r"(memory));
}

static void run_scaled(struct task *task)
{
	uint64_t *memory = task->memory, value = 0;

	memory[0] = 0;
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("mov (%1, %0, 8), %0" : "+r"(value) : "r"(memory));
}

/* Additions, loads and moves that wait for nothing, four to be issued for each count. */
static void run_mix(struct task *task)
{
	for (uint64_t i = 0; i < task->count / 100; i++)
		__asm__ volatile(
			".rept 50\n\t"
			"add $1, %%eax; add $1, %%ecx; mov (%0), %%edx; mov %0, %%rsi\n\t"
			"add $1, %%r8d; mov 8(%0), %%r9d; add $1, %%r10d; mov %0, %%r11\n\t"
			".endr"
			:
			: "r"(task->memory)
			: "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc");
}

/* More code than the cache of decoded instructions holds, and less than the instruction cache. */
static void run_decoded(struct task *task)
{
	for (uint64_t i = 0; i < task->count / 7168; i++)
		__asm__ volatile(".rept 7168; nopl 0(%%rax); .endr" : : : "memory");
}

/* The same place again and again, named in the same way. */
static void run_counter(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("addq $1, (%0)" : : "r"(task->memory) : "memory", "cc");
}

/* The load is wider than the store, and cannot have its bytes. */
static void run_failed_forward(struct task *task)
{
	char *memory = task->memory;
	uint64_t value = 0;

	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("movb %b0, (%1); mov (%1), %0"
				 : "+q"(value)
				 : "r"(memory + i % 32 * 64)
				 : "memory");
}

static void run_locked(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("lock addq $1, (%0)" : : "r"(task->memory) : "memory", "cc");
}

static void run_fences(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("movq %1, (%0); mfence" : : "r"(task->memory), "r"(i) : "memory");
}

/* --- measuring -------------------------------------------------------------------------------- */

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

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

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

static double mispredict(void)
{
	static uint8_t bits[BRANCHES];
	struct task random = { .run = run_branches, .count = BRANCHES, .bits = bits, .mask = 1 };
	struct task same = { .run = run_branches, .count = BRANCHES, .bits = bits };

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

int main(int argc, char **argv)
{
	const struct hp_core *core = argc == 2 ? hp_core_named(argv[1]) : NULL;
	double l2;

	if (!core) {
		fprintf(stderr, "usage: measure_core CORE\n");
		return 2;
	}
	printf("%-52s %8s %8s\n", "cycles", "measured", core->name);
	print("first-level cache, 16 KiB", lines_in(16 << 10), core->l1_cycles);
	for (size_t kib = 64; kib <= 1 << 20; kib *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "    lines in %zu KiB", kib);
		print(name, lines_in(kib << 10), 0);
	}
	l2 = lines_in(512 << 10);
	print("second-level cache, 512 KiB", l2, core->l2_cycles);
	print("third-level cache, 16 MiB", lines_in(16 << 20), core->l3_cycles);
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
	print("mispredicted branch", mispredict(), core->mispredict_cycles);
	/* Half of them go otherwise than the last time, and nearly all of 16 targets. */
	print("branch foretold by a long history, 4096 that repeat",
	      2 * repeated(run_known_branches, 4096), core->late_branch_cycles);
	for (size_t count = 16; count <= 2048; count *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "    %zu that repeat", count);
		print(name, 2 * repeated(run_known_branches, count), 0);
	}
	print("indirect jump, likewise, 512", repeated(run_known_targets, 512) * 16 / 15,
	      core->late_target_cycles);
	for (size_t count = 4096; count <= 1 << 17; count *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "    one of %zu branches that repeat", count);
		print(name, repeated(run_known_branches, count), 0);
		snprintf(name, sizeof(name), "    one of %zu targets that repeat", count / 8);
		print(name, repeated(run_known_targets, count / 8), 0);
	}
	print("indirect jump that has one target", simple(run_jumps, STEPS), 1);
	for (size_t period = 16; period <= 1024; period *= 4) {
		char name[64];

		snprintf(name, sizeof(name), "    several, an order of %zu", period);
		print(name, handlers(period),
		      core->late_target_cycles ? 1 + core->late_target_cycles : 0);
	}
	print("store forwarded to a load", simple(run_forward, STEPS), core->forward_cycles);
	print("addition to memory, again and again", simple(run_counter, STEPS), 0);
	print("64 stores and loads, each named alike", simple(run_named, STEPS), 0);
	print("    by another register", simple(run_compared, STEPS),
	      core->compared_cycles ? core->compared_cycles + 1 : 0);
	print("    by a register that is written before each", simple(run_renamed_base, STEPS), 0);
	print("    of 2 bytes", simple(run_narrow, STEPS), 0);
	print("store not forwarded: the load is wider", simple(run_failed_forward, STEPS), 0);
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
