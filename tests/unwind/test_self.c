/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The callers of this test itself, against backtrace(3), which is another unwinder. */
#include "../support.h"
#include "mapped.h"

#include <alloca.h>
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { MOST_FRAMES = 96, STACK_BYTES = 65536 };

static struct seen {
	void *said[MOST_FRAMES]; /* by backtrace */
	int said_count;
	struct hp_unwind_registers registers;
	uint8_t stack[STACK_BYTES];
	size_t stack_bytes;
} seen;

/* By DWARF's numbers. */
static const int numbers[] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
	REG_R9,	 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

/* A place in the test's own frame: the stack is copied up to there. */
static const char *bottom;

static __attribute__((noinline)) void look(void)
{
	ucontext_t context;
	const uint8_t *from;

	seen.said_count = backtrace(seen.said, MOST_FRAMES);
	ck_assert_int_eq(getcontext(&context), 0);
	for (size_t i = 0; i < HP_UNWIND_REGISTERS; i++)
		seen.registers.at[i] = (uint64_t)context.uc_mcontext.gregs[numbers[i]];
	seen.registers.known = (1u << HP_UNWIND_REGISTERS) - 1;
	from = (const uint8_t *)seen.registers.at[HP_UNWIND_RSP];
	seen.stack_bytes = (size_t)((const uint8_t *)bottom - from) & ~(size_t)7;
	ck_assert_uint_le(seen.stack_bytes, STACK_BYTES);
	memcpy(seen.stack, from, seen.stack_bytes);
}

static void begin(const char *end)
{
	bottom = end;
	memset(&seen, 0, sizeof(seen));
}

static size_t unwind(size_t bytes, hp_unwind_find find, struct hp_unwind_frame *frames,
		     enum hp_unwind_end *end)
{
	const struct hp_unwind_stack stack = { seen.registers.at[HP_UNWIND_RSP], seen.stack,
					       bytes };

	return hp_unwind(&seen.registers, &stack, find, NULL, NULL, frames, MOST_FRAMES, end);
}

/* All frames are those that backtrace() gave, but for the first, which is somewhere else in look().
 * What calls the test lies beyond the stack that was copied. */
static size_t check_frames(void)
{
	struct hp_unwind_frame frames[MOST_FRAMES];
	enum hp_unwind_end end;
	size_t count = unwind(seen.stack_bytes, mapped_find, frames, &end);

	ck_assert_int_eq(end, HP_UNWIND_TRUNCATED);
	ck_assert_uint_le(count, (size_t)seen.said_count);
	for (size_t i = 1; i < count; i++) {
		ck_assert_msg(frames[i].address == (uint64_t)seen.said[i], "frame %zu of %zu", i,
			      count);
		ck_assert_uint_gt(frames[i].stack, frames[i - 1].stack);
		ck_assert_int_eq(frames[i].flags & HP_UNWIND_IS_GUESS, 0);
	}
	return count;
}

/* --- what is called ---------------------------------------------------------------------------- */

static volatile unsigned sink;

static __attribute__((noinline)) void plain(unsigned depth)
{
	volatile char filling[48];

	filling[depth] = 1;
	if (depth)
		plain(depth - 1);
	else
		look();
	sink += (unsigned)filling[depth];
}

static __attribute__((noinline)) void with_alloca(unsigned depth)
{
	volatile char *filling = alloca(depth * 100 + 1);

	filling[0] = 1;
	if (depth)
		with_alloca(depth - 1);
	else
		plain(2);
	sink += (unsigned)filling[0];
}

/* Its stack is aligned more than a call leaves it. */
static __attribute__((noinline)) void aligned(unsigned depth)
{
	volatile char filling[256] __attribute__((aligned(128)));

	filling[depth] = 1;
	with_alloca(depth);
	sink += (unsigned)filling[depth];
}

static int compare(const void *left, const void *right)
{
	(void)left, (void)right;
	if (!seen.stack_bytes)
		aligned(2);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	plain(1);
}

TEST(every_kind_of_frame)
{
	char end = 0;

	begin(&end);
	aligned(3);
	ck_assert_uint_ge(check_frames(), 9);
}

/* Through code of the C library. */
TEST(a_callback)
{
	int numbers_to_sort[] = { 2, 1 };
	char end = 0;

	begin(&end);
	qsort(numbers_to_sort, 2, sizeof(int), compare);
	ck_assert_uint_ge(check_frames(), 10);
}

TEST(a_signal)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct hp_unwind_frame frames[MOST_FRAMES];
	enum hp_unwind_end stop;
	size_t interrupted = 0;
	size_t count;
	char end = 0;

	begin(&end);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(raise(SIGUSR1), 0);
	ck_assert_uint_ge(check_frames(), 6);
	count = unwind(seen.stack_bytes, mapped_find, frames, &stop);
	for (size_t i = 1; i < count; i++)
		interrupted += !(frames[i].flags & HP_UNWIND_IS_RETURN);
	ck_assert_uint_eq(interrupted, 1);
}

/* However little is copied, what comes is the beginning of the path, and says that it is cut. */
TEST(a_stack_that_is_cut)
{
	struct hp_unwind_frame whole[MOST_FRAMES];
	enum hp_unwind_end stop;
	size_t longest = 0;
	size_t count;
	char end = 0;

	begin(&end);
	aligned(3);
	count = unwind(seen.stack_bytes, mapped_find, whole, &stop);
	for (size_t bytes = 0; bytes < seen.stack_bytes; bytes += 8) {
		struct hp_unwind_frame frames[MOST_FRAMES];
		size_t some = unwind(bytes, mapped_find, frames, &stop);

		ck_assert_int_eq(stop, HP_UNWIND_TRUNCATED);
		ck_assert_uint_ge(some, longest);
		ck_assert_uint_le(some, count);
		for (size_t i = 0; i < some; i++)
			ck_assert_uint_eq(frames[i].address, whole[i].address);
		/* Where a frame ends is known before who called it. */
		ck_assert_uint_eq(frames[some - 1].caller_stack, whole[some - 1].caller_stack);
		if (some < count)
			ck_assert_uint_eq(frames[some - 1].caller_stack, whole[some].stack);
		longest = some;
	}
	ck_assert_uint_eq(longest, count);
}

TEST(room_that_ends)
{
	struct hp_unwind_stack stack = { .bytes = seen.stack };
	struct hp_unwind_frame frames[4];
	enum hp_unwind_end stop;
	char end = 0;

	begin(&end);
	plain(8);
	stack.address = seen.registers.at[HP_UNWIND_RSP];
	stack.size = seen.stack_bytes;
	ck_assert_uint_eq(
		hp_unwind(&seen.registers, &stack, mapped_find, NULL, NULL, frames, 4, &stop), 4);
	ck_assert_int_eq(stop, HP_UNWIND_TRUNCATED);
	ck_assert_uint_eq(
		hp_unwind(&seen.registers, &stack, mapped_find, NULL, NULL, frames, 0, &stop), 0);
}

/* --- a past path ------------------------------------------------------------------------------- */

static size_t look_ups;

static bool count_look_ups(void *context, size_t frame, uint64_t address,
			   struct hp_unwind_place *place)
{
	look_ups++;
	return mapped_find(context, frame, address, place);
}

/* Unwinds the stack as it is now with the past path and without. Returns how many frames were those of
 * the past path. */
static size_t check_past(const struct hp_unwind_past *past, size_t bytes)
{
	const struct hp_unwind_stack stack = { seen.registers.at[HP_UNWIND_RSP], seen.stack,
					       bytes };
	static struct hp_unwind_frame frames[MOST_FRAMES];
	static struct hp_unwind_frame with_past[MOST_FRAMES];
	enum hp_unwind_end end;
	enum hp_unwind_end end_with_past;
	size_t count = unwind(bytes, mapped_find, frames, &end);
	size_t taken = 0;

	ck_assert_uint_eq(hp_unwind(&seen.registers, &stack, count_look_ups, NULL, past, with_past,
				    MOST_FRAMES, &end_with_past),
			  count);
	ck_assert_int_eq(end_with_past, end);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(with_past[i].address, frames[i].address);
		ck_assert_uint_eq(with_past[i].stack, frames[i].stack);
		ck_assert_uint_eq(with_past[i].caller_stack, frames[i].caller_stack);
		ck_assert_uint_eq(with_past[i].flags, frames[i].flags);
		taken += with_past[i].past != 0;
		if (with_past[i].past)
			ck_assert_uint_eq(past->frames[with_past[i].past - 1].address,
					  frames[i].address);
	}
	return taken;
}

extern const void *__libc_stack_end;

/* Whatever has become of the registers and the stack. */
TEST(a_past_path_changes_nothing)
{
	static struct hp_unwind_frame frames[MOST_FRAMES];
	struct hp_unwind_past past = { .frames = frames };
	enum hp_unwind_end end;

	begin((const char *)__libc_stack_end);
	aligned(3);
	past.count = unwind(seen.stack_bytes, mapped_find, frames, &end);
	ck_assert_int_eq(end, HP_UNWIND_ROOT);
	hp_unwind_pass(frames, past.count);
	look_ups = 0;
	ck_assert_uint_eq(check_past(&past, seen.stack_bytes), past.count - 1);
	ck_assert_uint_le(look_ups, 2);
	for (size_t bytes = 0; bytes < seen.stack_bytes; bytes += 40)
		check_past(&past, bytes);
	for (size_t at = 0; at + 8 <= seen.stack_bytes; at += 8) {
		uint64_t word;
		uint64_t changed;

		memcpy(&word, seen.stack + at, sizeof(word));
		for (unsigned i = 0; i < 3; i++) {
			changed = i == 0 ? 0 : i == 1 ? word + 16 : word ^ 1;
			memcpy(seen.stack + at, &changed, sizeof(changed));
			check_past(&past, seen.stack_bytes);
		}
		memcpy(seen.stack + at, &word, sizeof(word));
	}
	seen.registers.at[HP_UNWIND_RBP] += 8;
	check_past(&past, seen.stack_bytes);
	seen.registers.at[HP_UNWIND_RSP] += 8;
	check_past(&past, seen.stack_bytes);
}

/* --- code without a table ---------------------------------------------------------------------- */

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void framed(unsigned depth)
{
	if (depth)
		framed(depth - 1);
	else
		look();
	sink++;
}

TEST(frame_pointers_where_there_is_no_table)
{
	struct hp_unwind_frame frames[MOST_FRAMES];
	enum hp_unwind_end stop;
	size_t count;
	char end = 0;

	begin(&end);
	framed(5);
	count = unwind(seen.stack_bytes, mapped_find, frames, &stop);
	ck_assert_uint_ge(count, 7);
	/* look() itself may have none: the path begins where it was called. */
	seen.registers.at[HP_UNWIND_RIP] = frames[1].address;
	seen.registers.at[HP_UNWIND_RBP] = frames[2].stack - 16;
	count = unwind(seen.stack_bytes, mapped_find_elsewhere, frames, &stop);
	ck_assert_uint_ge(count, 6);
	for (size_t i = 1; i < 6; i++) {
		ck_assert_uint_eq(frames[i].address, (uint64_t)seen.said[i + 1]);
		ck_assert_int_eq(frames[i].flags, HP_UNWIND_IS_RETURN | HP_UNWIND_IS_GUESS);
	}
}

static size_t unwind_made_up(const struct hp_unwind_registers *registers, const uint64_t *words,
			     size_t count, enum hp_unwind_end *end)
{
	const struct hp_unwind_stack stack = { registers->at[HP_UNWIND_RSP], (const uint8_t *)words,
					       count * sizeof(*words) };
	struct hp_unwind_frame frames[MOST_FRAMES];

	return hp_unwind(registers, &stack, mapped_find_elsewhere, NULL, NULL, frames, MOST_FRAMES,
			 end);
}

TEST(stacks_that_lie)
{
	uint64_t words[8] = { 0 };
	uint64_t base = 0x7000;
	uint64_t code = (uint64_t)framed + 4;
	struct hp_unwind_registers registers = {
		.known = 1u << HP_UNWIND_RSP | 1u << HP_UNWIND_RIP | 1u << HP_UNWIND_RBP,
	};
	enum hp_unwind_end end;

	registers.at[HP_UNWIND_RSP] = base;
	registers.at[HP_UNWIND_RIP] = code;
	registers.at[HP_UNWIND_RBP] = base;
	words[0] = base; /* a frame that is its own caller */
	words[1] = code;
	ck_assert_uint_eq(unwind_made_up(&registers, words, 8, &end), 2);
	ck_assert_int_eq(end, HP_UNWIND_LOST);
	words[0] = base + 20; /* one that is not aligned */
	ck_assert_uint_eq(unwind_made_up(&registers, words, 8, &end), 2);
	ck_assert_int_eq(end, HP_UNWIND_LOST);
	words[0] = base + 1024; /* one beyond what was copied */
	ck_assert_uint_eq(unwind_made_up(&registers, words, 8, &end), 2);
	ck_assert_int_eq(end, HP_UNWIND_TRUNCATED);
	words[1] = 0x1234; /* a return to what is no code */
	ck_assert_uint_eq(unwind_made_up(&registers, words, 8, &end), 1);
	ck_assert_int_eq(end, HP_UNWIND_LOST);
	registers.at[HP_UNWIND_RBP] = 0; /* where threads begin */
	ck_assert_uint_eq(unwind_made_up(&registers, words, 8, &end), 1);
	ck_assert_int_eq(end, HP_UNWIND_ROOT);
	registers.at[HP_UNWIND_RIP] = 0x1234;
	ck_assert_uint_eq(unwind_made_up(&registers, words, 8, &end), 1);
	ck_assert_int_eq(end, HP_UNWIND_LOST);
}

HP_TEST_MAIN("unwind/self")
