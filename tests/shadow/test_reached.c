/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of the memory that registers lead to: here of our own. */
#include "../../src/shadow/copy/reached.h"
#include "../support.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 16 * 4096, RAX = 0, RSP = 4, RBX = 3, FAR = 4, APART = 1024 };

/* Memory with pointers in its middle to words near its end. */
struct bench {
	struct areas areas;
	struct reached reached;
	uint64_t general[16];
	uint8_t *memory;
	uint8_t *far[FAR];
};

static struct bench bench;

static uint64_t address(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

/* The area that holds our memory may hold what lies next to it, too. */
static struct area *area_of(const void *at)
{
	for (size_t i = 0; i < bench.areas.count; i++) {
		struct area *area = &bench.areas.at[i];

		if (address(at) >= area->start && address(at) < area->end)
			return area;
	}
	ck_abort_msg("no such area");
}

SETUP
{
	bench = (struct bench){ 0 };
	/* Apart from everything else, so that it is an area of its own. */
	bench.memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(bench.memory, MAP_FAILED);
	for (size_t i = 0; i < FAR; i++) {
		bench.far[i] = bench.memory + BYTES - FAR * APART + i * APART;
		memcpy(bench.far[i], "far away", 8);
		memcpy(bench.memory + BYTES / 2 + i * 8, &(uint64_t){ address(bench.far[i]) }, 8);
	}
	bench.general[RBX] = address(bench.memory + BYTES / 2);
	bench.general[RSP] = address(__builtin_frame_address(0));
	hp_assert_ok(areas_read(&bench.areas, getpid()));
}

static const uint8_t *found(const void *at)
{
	const struct reached *reached = &bench.reached;

	for (size_t i = 0; i < reached->count; i++) {
		const struct reached_piece *piece = &reached->pieces[i];

		if (address(at) - piece->address < piece->bytes)
			return reached->bytes + piece->offset + (address(at) - piece->address);
	}
	return NULL;
}

static void reach(uint64_t thread_pointer, bool is_alone)
{
	reached_read(&bench.reached, getpid(), &bench.areas, bench.general, thread_pointer,
		     is_alone);
}

/* Of two lines with the same hash one is left out, and addresses differ between runs: one of the far lines
 * may be left out, two hardly ever are. */
TEST(registers_and_what_they_lead_to_are_read)
{
	size_t count = 0;

	reach(1 << 20, true);
	ck_assert_ptr_nonnull(found(bench.memory + BYTES / 2));
	ck_assert_ptr_nonnull(found((const void *)(uintptr_t)bench.general[RSP]));
	for (size_t i = 0; i < FAR; i++) {
		const uint8_t *far = found(bench.far[i]);

		count += far != NULL;
		if (far)
			ck_assert_mem_eq(far, bench.far[i], 8);
	}
	ck_assert_uint_ge(count, FAR - 1);
	/* Not what nothing leads to. */
	ck_assert_ptr_null(found(bench.memory));
}

/* As an interpreter keeps them: moments of a recursive function differ in the frames of its callers. */
TEST(frames_of_callers_lie_before_where_a_register_points)
{
	enum { CALLERS = 40, FRAME_BYTES = 112 };

	reach(1 << 20, true);
	ck_assert_ptr_nonnull(found(bench.memory + BYTES / 2 - CALLERS * FRAME_BYTES));
	/* Pointers in them are not followed: they fill the room of others. */
	bench.general[RBX] = address(bench.memory + BYTES / 2 + 2048);
	reach(1 << 20, true);
	ck_assert_ptr_nonnull(found(bench.memory + BYTES / 2));
	for (size_t i = 0; i < FAR; i++)
		ck_assert_ptr_null(found(bench.far[i]));
}

TEST(registers_that_are_no_addresses_lead_nowhere)
{
	for (unsigned i = 0; i < 16; i++)
		bench.general[i] = i % 2 ? i : UINT64_MAX - i;
	reach(1 << 20, true);
	ck_assert_uint_eq(bench.reached.count, 0);
	/* To the last byte of an area: no whole word is left of it. */
	bench.general[RAX] = address(bench.memory + BYTES - 1);
	reach(1 << 20, true);
	ck_assert_ptr_nonnull(found(bench.memory + BYTES - 1));
	bench.areas.count = 0;
	reach(1 << 20, true);
	ck_assert_uint_eq(bench.reached.count, 0);
}

TEST(of_a_process_of_several_threads_only_the_stack_is_read)
{
	reach(1 << 20, false);
	ck_assert_ptr_nonnull(found((const void *)(uintptr_t)bench.general[RSP]));
	ck_assert_ptr_null(found(bench.memory + BYTES / 2));
}

TEST(secrets_and_what_is_shared_or_only_read_are_left_alone)
{
	struct area *area = area_of(bench.memory);

	area->is_secret = true;
	reach(1 << 20, true);
	ck_assert_ptr_null(found(bench.memory + BYTES / 2));
	area->is_secret = false;
	area->is_shared = true;
	reach(1 << 20, true);
	ck_assert_ptr_null(found(bench.memory + BYTES / 2));
	area->is_shared = false;
	area->protection = PROT_READ;
	reach(1 << 20, true);
	ck_assert_ptr_null(found(bench.memory + BYTES / 2));
}

TEST(so_is_what_the_kernel_keeps_near_the_thread_pointer)
{
	reach(address(bench.memory + BYTES / 2) + 64, true);
	ck_assert_ptr_null(found(bench.memory + BYTES / 2));
	reach(address(bench.memory + BYTES / 2) + 3 * 4096, true);
	ck_assert_ptr_nonnull(found(bench.memory + BYTES / 2));
}

TEST(what_cannot_be_read_is_left_out)
{
	bench.general[RAX] = address(bench.memory + 4096);
	ck_assert_int_eq(munmap(bench.memory, 2 * 4096), 0);
	reach(1 << 20, true);
	ck_assert_ptr_null(found(bench.memory + 4096));
	ck_assert_ptr_nonnull(found(bench.memory + BYTES / 2));
}

TEST(pointers_to_everywhere_fill_the_room_and_no_more)
{
	for (uint64_t i = 0; i < BYTES / 8; i++)
		memcpy(bench.memory + i * 8,
		       &(uint64_t){ address(bench.memory) + i * 1237 % BYTES }, 8);
	for (unsigned i = 0; i < 16; i++)
		if (i != RSP)
			bench.general[i] = address(bench.memory) + i * 4096;
	reach(1 << 20, true);
	ck_assert_uint_le(bench.reached.count, REACHED_PIECES);
	ck_assert_uint_le(bench.reached.used_bytes, REACHED_BYTES);
	ck_assert_uint_gt(bench.reached.count, 16 * 8);
}

HP_TEST_MAIN("shadow/reached")
