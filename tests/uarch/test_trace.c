/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces: what is written is read again, and what is damaged is named. */
#include "../support.h"

#include <hpcprof/uarch/trace.h>

#include <elf.h>
#include <string.h>

enum { RUNS = 5 };

static const uint8_t code[] = { 0x90, 0x48, 0x8b, 0x03, 0xf3, 0xa4 };
static const uint8_t lengths[] = { 1, 3, 2 };
static const struct hp_trace_access accesses[] = {
	{ .bytes = 8, .insn = 1, .kind = HP_TRACE_LOAD },
	{ .bytes = 1, .insn = 2, .kind = HP_TRACE_STORE, .is_repeated = true },
};
static struct hp_trace_writer writer;

static uint64_t address_of(unsigned run)
{
	return run % 2 ? UINT64_MAX - run : 0x1000 + 8 * run;
}

SETUP
{
	struct hp_trace_block block = {
		.address = 0x401000,
		.insn_count = 3,
		.access_count = 2,
		.lengths = lengths,
		.code = code,
		.accesses = accesses,
	};

	writer = (struct hp_trace_writer){ 0 };
	at_end((void (*)(void *))hp_trace_writer_free, &writer);
	hp_trace_begin(&writer, EM_X86_64);
	ck_assert(hp_trace_add_block(&writer, &block));
	block.address = 0x402000;
	block.access_count = 0;
	for (unsigned i = 0; i < RUNS; i++) {
		struct hp_trace_run run = {
			.block = i == 3,
			.is_apart = i == 2,
			.addresses = { address_of(i), 0x5000 },
			.elements = { 0, i },
		};

		if (i == 3)
			ck_assert(hp_trace_add_block(&writer, &block));
		hp_trace_add_run(&writer, &run);
	}
	hp_trace_end(&writer);
	ck_assert(!writer.out.failed);
}

TEST(what_is_written_is_read)
{
	struct hp_trace *trace;
	struct hp_trace_cursor *cursor;
	struct hp_trace_run run;

	hp_assert_ok(hp_trace_open(writer.out.bytes, writer.out.size, &trace));
	at_end((void (*)(void *))hp_trace_close, trace);
	ck_assert_uint_eq(trace->machine, EM_X86_64);
	ck_assert_uint_eq(trace->block_count, 2);
	ck_assert_uint_eq(trace->runs, RUNS);
	ck_assert_uint_eq(trace->instructions, 3 * RUNS);
	ck_assert_uint_eq(trace->blocks[1].address, 0x402000);
	ck_assert_mem_eq(trace->blocks[0].code, code, sizeof(code));
	ck_assert_uint_eq(trace->blocks[0].accesses[1].kind, HP_TRACE_STORE);
	cursor = hp_trace_cursor_create(trace);
	at_end((void (*)(void *))hp_trace_cursor_destroy, cursor);
	for (unsigned i = 0; i < RUNS; i++) {
		ck_assert(hp_trace_next(cursor, &run));
		ck_assert_uint_eq(run.block, i == 3);
		ck_assert_int_eq(run.is_apart, i == 2);
		if (i == 3)
			continue;
		ck_assert_uint_eq(run.addresses[0], address_of(i));
		ck_assert_uint_eq(run.elements[0], 1);
		ck_assert_uint_eq(run.addresses[1], 0x5000);
		ck_assert_uint_eq(run.elements[1], i);
	}
	ck_assert(!hp_trace_next(cursor, &run));
	ck_assert(!hp_trace_next(cursor, &run));
}

TEST(wherever_it_is_cut_that_is_said)
{
	struct hp_trace *trace;

	for (size_t size = 0; size < writer.out.size; size++)
		hp_assert_fails(HP_ERROR_DAMAGED, hp_trace_open(writer.out.bytes, size, &trace));
}

TEST(what_is_behind_the_end_is_damage)
{
	struct hp_trace *trace;

	hp_write_u8(&writer.out, 0);
	hp_assert_says(HP_ERROR_DAMAGED, "after its end", NULL,
		       hp_trace_open(writer.out.bytes, writer.out.size, &trace));
}

/* Places: 16 bytes of magic, the machine, a record, an address of 4 bytes, then what is below. */
enum { INSNS = 23, LENGTHS = 24, ACCESSES = 33, INSN = 34, KIND = 35, BYTES = 36 };

static void fails_with(size_t at, uint8_t value, const char *why)
{
	uint8_t before = writer.out.bytes[at];
	struct hp_trace *trace;

	writer.out.bytes[at] = value;
	hp_assert_says(HP_ERROR_DAMAGED, why, NULL,
		       hp_trace_open(writer.out.bytes, writer.out.size, &trace));
	writer.out.bytes[at] = before;
}

TEST(what_cannot_be_is_named)
{
	ck_assert_uint_eq(writer.out.bytes[INSNS], 3);
	ck_assert_uint_eq(writer.out.bytes[ACCESSES], 2);
	fails_with(0, 'x', "not a trace");
	fails_with(LENGTHS, 0, "a length that cannot be");
	fails_with(LENGTHS, 16, "a length that cannot be");
	fails_with(INSN, 3, "an access that cannot be");
	fails_with(KIND, HP_TRACE_ACCESS_KINDS, "an access that cannot be");
	fails_with(BYTES, 0, "an access that cannot be");
	fails_with(writer.out.size - 1, RUNS - 1, "number of runs differs");
}

TEST(a_block_that_is_not_there_does_not_run)
{
	/* The first run's number is the record behind the first block: 3 for block 0. */
	size_t at = BYTES + 1 + 3;

	ck_assert_uint_eq(writer.out.bytes[at], 3);
	fails_with(at, 4, "does not have");
}

TEST(what_is_too_long_is_not_read)
{
	struct hp_trace *trace;

	hp_assert_fails(HP_ERROR_DAMAGED,
			hp_trace_open(writer.out.bytes, HP_TRACE_BYTES_MOST + 1, &trace));
}

HP_TEST_MAIN("uarch/trace")
