/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/uarch/trace.h>

#include "trace.h"

#include <hpcprof/base/vector.h>

#include <stdlib.h>
#include <string.h>

static struct hp_error *damaged(const struct hp_reader *reader, const char *why)
{
	return hp_error_create(HP_ERROR_DAMAGED, "at byte %zu: %s", hp_reader_offset(reader), why);
}

/* --- looking at all of it ---------------------------------------------------------------------- */

/* Accesses of all blocks are in one array, which moves as it grows; of each block the index of its
 * first one. */
struct opening {
	struct hp_trace *trace;
	struct hp_reader reader;
	HP_VECTOR(struct hp_trace_block) blocks;
	HP_VECTOR(size_t) first;
	HP_VECTOR(struct hp_trace_access) accesses;
};

static struct hp_error *take_accesses(struct opening *opening, struct hp_trace_block *block)
{
	struct hp_reader *reader = &opening->reader;
	uint8_t before = 0;

	for (size_t i = 0; i < block->access_count; i++) {
		struct hp_trace_access access;
		uint8_t kind = 0;
		uint64_t bytes = 0;

		hp_read_u8(reader, &access.insn);
		hp_read_u8(reader, &kind);
		if (!hp_read_varint(reader, &bytes))
			return damaged(reader, "a block ends early");
		access.is_repeated = kind & TRACE_REPEATED;
		access.kind = (uint8_t)(kind & (TRACE_REPEATED - 1));
		access.bytes = (uint16_t)bytes;
		if (access.insn >= block->insn_count || access.insn < before ||
		    access.kind >= HP_TRACE_ACCESS_KINDS || !bytes || bytes > UINT16_MAX)
			return damaged(reader, "a block has an access that cannot be");
		before = access.insn;
		if (!hp_vector_push(&opening->accesses, access))
			return hp_error_create_no_memory();
	}
	return NULL;
}

static struct hp_error *take_block(struct opening *opening)
{
	struct hp_reader *reader = &opening->reader;
	struct hp_trace_block block = { 0 };
	size_t code = 0;

	hp_read_varint(reader, &block.address);
	hp_read_u8(reader, &block.insn_count);
	if (!hp_read_bytes(reader, block.insn_count, &block.lengths))
		return damaged(reader, "a block ends early");
	for (size_t i = 0; i < block.insn_count; i++) {
		if (!block.lengths[i] || block.lengths[i] > TRACE_LONGEST_INSN)
			return damaged(reader, "an instruction has a length that cannot be");
		code += block.lengths[i];
	}
	if (!hp_read_bytes(reader, code, &block.code) || !hp_read_u8(reader, &block.access_count))
		return damaged(reader, "a block ends early");
	if (!block.insn_count)
		return damaged(reader, "a block has no instruction");
	if (opening->blocks.count == HP_TRACE_BLOCKS_MOST)
		return damaged(reader, "there are too many blocks");
	if (!hp_vector_push(&opening->first, opening->accesses.count) ||
	    !hp_vector_push(&opening->blocks, block))
		return hp_error_create_no_memory();
	return take_accesses(opening, &block);
}

static struct hp_error *take_run(struct opening *opening, uint64_t number)
{
	struct hp_reader *reader = &opening->reader;
	const struct hp_trace_block *block;
	uint64_t value;

	if (number >= opening->blocks.count)
		return damaged(reader, "it runs a block that it does not have");
	block = &opening->blocks.at[number];
	for (size_t i = 0; i < block->access_count; i++) {
		hp_read_varint(reader, &value);
		if (opening->accesses.at[opening->first.at[number] + i].is_repeated)
			hp_read_varint(reader, &value);
	}
	if (reader->failed)
		return damaged(reader, "a run ends early");
	opening->trace->runs++;
	opening->trace->instructions += block->insn_count;
	return NULL;
}

static struct hp_error *take_records(struct opening *opening)
{
	struct hp_reader *reader = &opening->reader;
	struct hp_error *error = NULL;
	uint64_t record = TRACE_APART;

	while (!error) {
		if (!hp_read_varint(reader, &record))
			return damaged(reader, "it ends in the middle");
		if (record == TRACE_END)
			break;
		if (record == TRACE_BLOCK)
			error = take_block(opening);
		else if (record >= TRACE_RUN)
			error = take_run(opening, record - TRACE_RUN);
	}
	if (error)
		return error;
	if (!hp_read_varint(reader, &record) || record != opening->trace->runs)
		return damaged(reader, "its number of runs differs from the one it states");
	if (hp_reader_left(reader))
		return damaged(reader, "there are bytes after its end");
	return NULL;
}

static struct hp_error *take_all(struct opening *opening)
{
	struct hp_reader *reader = &opening->reader;
	const uint8_t *magic;

	if (!hp_read_bytes(reader, TRACE_MAGIC_BYTES, &magic) ||
	    memcmp(magic, TRACE_MAGIC, TRACE_MAGIC_BYTES) != 0)
		return hp_error_create(HP_ERROR_DAMAGED, "it is not a trace of hpcprof");
	if (!hp_read_u16(reader, &opening->trace->machine))
		return damaged(reader, "it ends in the middle");
	return take_records(opening);
}

struct hp_error *hp_trace_open(const void *bytes, size_t size, struct hp_trace **trace)
{
	struct opening opening = { .reader = hp_reader_over(bytes, size) };
	struct hp_error *error;

	if (size > HP_TRACE_BYTES_MOST)
		return hp_error_create(HP_ERROR_DAMAGED, "it is longer than 1 GiB");
	opening.trace = calloc(1, sizeof(*opening.trace));
	if (!opening.trace)
		return hp_error_create_no_memory();
	/* Blocks without accesses point there, too. */
	error = hp_vector_reserve(&opening.accesses, 1) ? take_all(&opening)
							: hp_error_create_no_memory();
	opening.trace->file = bytes;
	opening.trace->bytes = size;
	opening.trace->blocks = opening.blocks.at;
	opening.trace->block_count = opening.blocks.count;
	opening.trace->accesses = opening.accesses.at;
	for (size_t i = 0; i < opening.blocks.count && i < opening.first.count; i++)
		opening.blocks.at[i].accesses = opening.accesses.at + opening.first.at[i];
	hp_vector_free(&opening.first);
	if (error) {
		hp_trace_close(opening.trace);
		return error;
	}
	*trace = opening.trace;
	return NULL;
}

void hp_trace_close(struct hp_trace *trace)
{
	if (!trace)
		return;
	free(trace->blocks);
	free(trace->accesses);
	free(trace);
}

/* --- going through it -------------------------------------------------------------------------- */

struct hp_trace_cursor {
	const struct hp_trace *trace;
	struct hp_reader reader;
	size_t block_count; /* number of blocks met so far */
	uint64_t *last;	    /* by access, over all blocks: its address in the last run */
};

struct hp_trace_cursor *hp_trace_cursor_create(const struct hp_trace *trace)
{
	struct hp_trace_cursor *cursor = calloc(1, sizeof(*cursor));
	size_t accesses = 0;

	for (size_t i = 0; i < trace->block_count; i++)
		accesses += trace->blocks[i].access_count;
	if (!cursor || !(cursor->last = calloc(accesses + 1, sizeof(*cursor->last)))) {
		free(cursor);
		return NULL;
	}
	cursor->trace = trace;
	cursor->reader = hp_reader_over(trace->file, (size_t)trace->bytes);
	cursor->reader.at += TRACE_MAGIC_BYTES + sizeof(trace->machine);
	return cursor;
}

void hp_trace_cursor_destroy(struct hp_trace_cursor *cursor)
{
	if (!cursor)
		return;
	free(cursor->last);
	free(cursor);
}

/* It was checked when the trace was opened. */
static void pass_block(struct hp_trace_cursor *cursor)
{
	const struct hp_trace_block *block = &cursor->trace->blocks[cursor->block_count++];
	size_t first = (size_t)(block->accesses - cursor->trace->accesses);
	uint64_t bytes;

	cursor->reader.at = block->code;
	for (size_t i = 0; i < block->insn_count; i++)
		cursor->reader.at += block->lengths[i];
	cursor->reader.at += sizeof(block->access_count);
	for (size_t i = 0; i < block->access_count; i++) {
		cursor->reader.at += sizeof(block->accesses->insn) + sizeof(block->accesses->kind);
		hp_read_varint(&cursor->reader, &bytes);
		cursor->last[first + i] = block->address;
	}
}

static void take_addresses(struct hp_trace_cursor *cursor, struct hp_trace_run *run)
{
	const struct hp_trace_block *block = &cursor->trace->blocks[run->block];
	uint64_t *last = cursor->last + (block->accesses - cursor->trace->accesses);

	for (size_t i = 0; i < block->access_count; i++) {
		uint64_t step = 0;

		hp_read_varint(&cursor->reader, &step);
		last[i] += step >> 1 ^ -(step & 1);
		run->addresses[i] = last[i];
		run->elements[i] = 1;
		if (block->accesses[i].is_repeated)
			hp_read_varint(&cursor->reader, &run->elements[i]);
	}
}

bool hp_trace_next(struct hp_trace_cursor *cursor, struct hp_trace_run *run)
{
	uint64_t record = TRACE_END;

	run->is_apart = false;
	while (hp_read_varint(&cursor->reader, &record) && record < TRACE_RUN) {
		if (record == TRACE_END)
			cursor->reader.failed = true; /* nothing may follow it */
		else if (record == TRACE_BLOCK)
			pass_block(cursor);
		else
			run->is_apart = true;
	}
	if (cursor->reader.failed)
		return false;
	run->block = (uint32_t)(record - TRACE_RUN);
	take_addresses(cursor, run);
	return true;
}
