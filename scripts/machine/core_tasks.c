/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core_tasks.h"

#include <string.h>

static uint64_t random_state = 88172645463325252u;

uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

void run_additions(struct task *task)
{
	uint64_t sum = 1;

	for (uint64_t i = 0; i < task->count / 20; i++)
		__asm__ volatile(".rept 20; add %1, %0; .endr" : "+r"(sum) : "r"(i) : "cc");
}

void run_chase(struct task *task)
{
	void *at = task->memory;

	for (uint64_t i = 0; i < task->count / 8; i++)
		__asm__ volatile(".rept 8; mov (%0), %0; .endr" : "+r"(at) : : "memory");
	task->memory = at; /* the next run goes on from there */
}

/* Loads that wait for what was done with the last one, of known places: only prefetchers are early. */
const uint32_t *known_places;

void run_places(struct task *task)
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

/* The same with a fence for the waiting, since prefetchers may look for addresses without an index: by
 * pointers that are loaded, … */
const char *const *known_pointers;

static uint64_t work_with(const char *place, uint64_t value)
{
	__asm__ volatile("add (%1), %0\n\t"
			 ".rept 60; add $1, %0; .endr\n\t"
			 "lfence"
			 : "+r"(value)
			 : "r"(place)
			 : "cc", "memory");
	return value;
}

void run_pointers(struct task *task)
{
	uint64_t value = 0;

	for (uint64_t i = 0; i < task->count; i++)
		value = work_with(known_pointers[i], value);
}

/* … and by offsets that are. */
void run_offsets(struct task *task)
{
	const char *memory = task->memory;
	uint64_t value = 0;

	for (uint64_t i = 0; i < task->count; i++)
		value = work_with(memory + known_places[i], value);
}

/* Eight per byte, on registers: a load would add its own latency to that of the branch. */
void run_branches(struct task *task)
{
	for (uint64_t i = 0; i + 8 <= task->count; i += 8) {
		uint64_t word;

		memcpy(&word, task->bits + i, sizeof(word));
		__asm__ volatile(".rept 64; add %0, %0; jnc 1f; nop; 1:; .endr"
				 : "+r"(word)
				 :
				 : "cc");
	}
}

/* The same branches in each run, which a predictor may have learnt. */
void run_known_branches(struct task *task)
{
	const uint8_t *bits = task->memory;

	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("testb $1, %0; jz 1f; nop; 1:" : : "m"(bits[i]) : "cc");
}

/* Two branches that go alike, with others between them. The first test clears the carry. */
#define ALIKE(function, others)                                                                    \
	void function(struct task *task)                                                           \
	{                                                                                          \
		for (uint64_t i = 0; i < task->count; i++)                                         \
			__asm__ volatile("testb $1, %0; jz 1f; nop; 1:\n\t" others                 \
					 "testb $1, %0; jz 1f; nop; 1:"                            \
					 :                                                         \
					 : "m"(task->bits[i])                                      \
					 : "cc");                                                  \
	}

ALIKE(run_behind_untaken, ".rept 600; jc 1f; .endr; 1:\n\t")
ALIKE(run_behind_120, ".rept 120; jmp 1f; nop; 1:; .endr\n\t")
ALIKE(run_behind_150, ".rept 150; jmp 1f; nop; 1:; .endr\n\t")

/* Jumps to one of 16 places, 20 bytes apart: predictors tell them by low bits of their addresses. */
void run_known_targets(struct task *task)
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

/* The same in eight places by turns, at different distances from the beginnings of their lines: some cores
 * have a part of their tables for each. */
#define IN_PLACES(one)                                                                             \
	one(0, 1) one(1, 33) one(2, 7) one(3, 40) one(4, 15) one(5, 20) one(6, 45) one(7, 3)

#define BRANCH_AT(number, distance)                                                                \
	__asm__ volatile(".balign 64; .skip " #distance ", 0x90; testb $1, %0; jz 1f; nop; 1:"     \
			 :                                                                         \
			 : "m"(bits[i + (number)])                                                 \
			 : "cc");

void run_known_branches_apart(struct task *task)
{
	const uint8_t *bits = task->memory;

	for (uint64_t i = 0; i < task->count; i += 8) {
		IN_PLACES(BRANCH_AT)
	}
}

#define JUMP_AT(number, distance)                                                                  \
	__asm__ volatile("lea 1f(%%rip), %%rax; add %0, %%rax\n\t"                                 \
			 ".balign 64; .skip " #distance ", 0x90; jmp *%%rax\n\t"                   \
			 ".balign 64\n"                                                            \
			 "1: .rept 16; .byte 0xe9; .long 2f - . - 4; .skip 15; .endr\n"            \
			 "2:"                                                                      \
			 :                                                                         \
			 : "r"((uint64_t)places[i + (number)] % 16 * 20)                           \
			 : "rax", "cc");

void run_known_targets_apart(struct task *task)
{
	const uint8_t *places = task->memory;

	for (uint64_t i = 0; i < task->count; i += 8) {
		IN_PLACES(JUMP_AT)
	}
}

void run_pauses(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("pause");
}

/* Stores, and loads at once what was stored, each time elsewhere. */
void run_forward(struct task *task)
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
 * another register, or by one that is written before each. Each of 64 pairs, or of so many, is other code,
 * all of it in one page. */
#define PAIRS(function, code) PAIRS_OF(64, function, code)
#define PAIRS_OF(pairs, function, code)                                                            \
	__attribute__((aligned(1024))) void function(struct task *task)                            \
	{                                                                                          \
		char *to = (char *)task->memory + 256, *from = to;                                 \
		uint64_t value = 0;                                                                \
                                                                                                   \
		__asm__("" : "+r"(from)); /* a register of its own */                              \
		for (uint64_t i = 0; i < task->count / pairs; i++)                                 \
			__asm__ volatile(".rept " #pairs "; " code "; .endr"                       \
					 : "+r"(value), "+r"(to)                                   \
					 : "r"(from), "r"((uint64_t)0)                             \
					 : "memory", "cc", "rax");                                 \
	}
PAIRS(run_named, "mov %0, 64(%1); mov 64(%1), %0")
PAIRS(run_compared, "mov %0, 64(%1); mov 64(%2), %0")
/* Eight bytes of code each, so all loads have the same low bits; with a no-op half of them have. */
PAIRS_OF(20, run_compared_20, "mov %0, 64(%1); mov 64(%2), %0")
PAIRS_OF(21, run_compared_21, "mov %0, 64(%1); mov 64(%2), %0")
PAIRS_OF(40, run_compared_apart, "mov %0, 64(%1); nop; mov 64(%2), %0")
PAIRS_OF(44, run_more_apart, "mov %0, 64(%1); nop; mov 64(%2), %0")
PAIRS_OF(18, run_compared_bytes,
	 "mov %0, 64(%1); mov 64(%2), %0;"
	 ".rept 2; movb %b3, 128(%1); movzbl 128(%2), %%eax; .endr")
/* Beside each a load from a store 22 stores ago, by another register or by the stack pointer. */
#define BESIDE(number, to, from)                                                                   \
	".ifndef " number "; .set " number ", 0; .endif;"                                          \
	"mov %0, 64(%1); .balign 4; mov 64(%2), %0; imul $1, %0, %0;"                              \
	"mov %3, " number " %% 12 * 8 - 256(" to "); .balign 4;"                                   \
	"mov (" number " + 1) %% 12 * 8 - 256(" from "), %%rax; .set " number ", " number " + 1"
PAIRS_OF(12, run_compared_far, BESIDE("far", "%1", "%2"))
PAIRS_OF(12, run_compared_stack, BESIDE("far_stack", "%%rsp", "%%rsp"))
PAIRS(run_renamed_base, "add %3, %1; mov %0, 64(%1); mov 64(%1), %0")
PAIRS(run_narrow, "movw %w0, 64(%1); movzwl 64(%1), %k0")
/* Pairs behind three products, which give the core time to know the store: of 8 bytes and less, and of loads
 * that need more than the register. */
#define BEHIND_PRODUCTS(function, code)                                                            \
	PAIRS_OF(8, function, ".rept 3; imul $1, %0, %0; .endr; " code)
BEHIND_PRODUCTS(run_moved, "mov %0, 64(%1); mov 64(%2), %0")
BEHIND_PRODUCTS(run_moved_word, "mov %w0, 64(%1); movzwl 64(%2), %k0")
BEHIND_PRODUCTS(run_moved_byte, "mov %b0, 64(%1); movzbl 64(%2), %k0")
BEHIND_PRODUCTS(run_moved_index, "mov %0, 64(%1); mov 64(%2,%3), %0")
BEHIND_PRODUCTS(run_moved_sign, "mov %k0, 64(%1); movslq 64(%2), %0")
/* With other stores between them, which take less time than four products of the pair's value. */
#define AFTER(others)                                                                              \
	"mov %0, -256(%%rsp); .rept " #others "; mov %3, 1024(%2); .endr; mov -256(%%rsp), %0;"    \
	".rept 4; imul $1, %0, %0; .endr"
PAIRS(run_behind_15, AFTER(15))
PAIRS(run_behind_16, AFTER(16))

/* Two chains of 60 products. The second begins 360 operations behind the first, beside it if the core has room
 * for all of these. */
void run_two_chains(struct task *task)
{
	uint64_t first = 1, second = 1;

	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile(".rept 60; imul $1, %0, %0; .endr; .rept 300; nop; .endr\n\t"
				 ".rept 60; imul $1, %1, %1; .endr; lfence"
				 : "+r"(first), "+r"(second)
				 :
				 : "cc");
}

/* 16 places in turn call the same procedure, which does nothing. */
void run_calls(struct task *task)
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
void run_jumps(struct task *task)
{
	for (uint64_t i = 0; i < task->count / 16; i++)
		__asm__ volatile(".balign 64\n\t"
				 ".rept 16; lea 1f(%%rip), %%rax; jmp *%%rax; .balign 64; 1:; .endr"
				 :
				 :
				 : "rax");
}

/* So many jumps by turns, each 16 bytes on. */
#define JUMPS(number)                                                                              \
	void run_jumps_##number(struct task *task)                                                 \
	{                                                                                          \
		for (uint64_t i = 0; i < task->count / (number); i++)                              \
			__asm__ volatile(".balign 64\n\t"                                          \
					 ".rept " #number "; jmp 1f; .balign 16; 1:; .endr");      \
	}
JUMPS(128)
JUMPS(256)
JUMPS(512)
JUMPS(2048)
JUMPS(8192)
JUMPS(24576)

/* Handlers of an interpreter, each of which jumps to the next one by a table of opcodes. */
void run_handlers(struct task *task)
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
void run_chained(struct task *task)
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

void run_indexed(struct task *task)
{
	uint64_t *memory = task->memory, value = 0;

	memory[0] = 0;
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("mov (%1, %0), %0" : "+r"(value) : "r"(memory));
}

void run_scaled(struct task *task)
{
	uint64_t *memory = task->memory, value = 0;

	memory[0] = 0;
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("mov (%1, %0, 8), %0" : "+r"(value) : "r"(memory));
}

/* Additions, loads and moves that wait for nothing, four to be issued for each count. */
void run_mix(struct task *task)
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
void run_decoded(struct task *task)
{
	for (uint64_t i = 0; i < task->count / 7168; i++)
		__asm__ volatile(".rept 7168; nopl 0(%%rax); .endr" : : : "memory");
}

/* The same place again and again, named in the same way. */
void run_counter(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("addq $1, (%0)" : : "r"(task->memory) : "memory", "cc");
}

/* The load is wider than the store, and cannot have its bytes. */
void run_failed_forward(struct task *task)
{
	char *memory = task->memory;
	uint64_t value = 0;

	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("movb %b0, (%1); mov (%1), %0"
				 : "+q"(value)
				 : "r"(memory + i % 32 * 64)
				 : "memory");
}

/* A chain of 20 multiplications goes on with what is loaded behind it from the place of two older stores. */
#define BEHIND(function, stores)                                                                   \
	void function(struct task *task)                                                           \
	{                                                                                          \
		uint64_t chain = 3;                                                                \
                                                                                                   \
		for (uint64_t i = 0; i < task->count; i++)                                         \
			__asm__ volatile(".rept 20; imul %0, %0; .endr;" stores                    \
					 "mov (%1), %%rax; add %%rax, %0"                          \
					 : "+r"(chain)                                             \
					 : "r"(task->memory)                                       \
					 : "rax", "cc", "memory");                                 \
	}
BEHIND(run_failed_behind, "movb $1, (%1); movb $0, 5(%1);")
BEHIND(run_forwarded_behind, "movq $1, (%1); movb $0, 32(%1);")

/* What is done among so many no-ops delays them by all that it takes to retire. */
#define ALONE(function, instruction)                                                               \
	void function(struct task *task)                                                           \
	{                                                                                          \
		for (uint64_t i = 0; i < task->count; i++)                                         \
			__asm__ volatile(                                                          \
				instruction "; .rept 880; nop; .endr"                              \
				:                                                                  \
				: "r"((char *)task->memory + random_next() % task->pages * PAGE)   \
				: "memory");                                                       \
	}
ALONE(run_store_alone, "movb $1, (%0)")
ALONE(run_prefetch_alone, "prefetcht0 (%0)")

void run_locked(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("lock addq $1, (%0)" : : "r"(task->memory) : "memory", "cc");
}

void run_fences(struct task *task)
{
	for (uint64_t i = 0; i < task->count; i++)
		__asm__ volatile("movq %1, (%0); mfence" : : "r"(task->memory), "r"(i) : "memory");
}
