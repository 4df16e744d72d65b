/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/uarch/trace.h>

#include "trace.h"

#include <hpcprof/base/vector.h>

#include <stdlib.h>
#include <string.h>

/* A block, and the address of each of its accesses in the last run. */
struct hp_trace_written {
	uint8_t access_count;
	struct {
		uint64_t last;
		bool is_repeated;
	} * accesses;
};

void hp_trace_begin(struct hp_trace_writer *writer, uint16_t machine)
{
	hp_write_bytes(&writer->out, TRACE_MAGIC, TRACE_MAGIC_BYTES);
	hp_write_u16(&writer->out, machine);
}

bool hp_trace_add_block(struct hp_trace_writer *writer, const struct hp_trace_block *block)
{
	struct hp_writer *out = &writer->out;
	struct hp_trace_written *made;
	size_t bytes = 0;

	if (writer->block_count == HP_TRACE_BLOCKS_MOST ||
	    !hp_grow((void **)&writer->blocks, &writer->block_capacity, writer->block_count + 1,
		     sizeof(*writer->blocks)))
		return false;
	made = &writer->blocks[writer->block_count];
	made->access_count = block->access_count;
	made->accesses = calloc(block->access_count + 1U, sizeof(*made->accesses));
	if (!made->accesses)
		return false;
	writer->block_count++;
	hp_write_varint(out, TRACE_BLOCK);
	hp_write_varint(out, block->address);
	hp_write_u8(out, block->insn_count);
	hp_write_bytes(out, block->lengths, block->insn_count);
	for (size_t i = 0; i < block->insn_count; i++)
		bytes += block->lengths[i];
	hp_write_bytes(out, block->code, bytes);
	hp_write_u8(out, block->access_count);
	for (size_t i = 0; i < block->access_count; i++) {
		const struct hp_trace_access *access = &block->accesses[i];

		hp_write_u8(out, access->insn);
		hp_write_u8(out, access->kind | (access->is_repeated ? TRACE_REPEATED : 0));
		hp_write_varint(out, access->bytes);
		made->accesses[i].last = block->address;
		made->accesses[i].is_repeated = access->is_repeated;
	}
	return true;
}

void hp_trace_add_run(struct hp_trace_writer *writer, const struct hp_trace_run *run)
{
	struct hp_trace_written *block = &writer->blocks[run->block];

	if (run->is_apart)
		hp_write_varint(&writer->out, TRACE_APART);
	hp_write_varint(&writer->out, TRACE_RUN + (uint64_t)run->block);
	for (size_t i = 0; i < block->access_count; i++) {
		uint64_t step = run->addresses[i] - block->accesses[i].last;

		/* Zigzag: small steps in either direction are small numbers. */
		hp_write_varint(&writer->out, step << 1 ^ -(step >> 63));
		if (block->accesses[i].is_repeated)
			hp_write_varint(&writer->out, run->elements[i]);
		block->accesses[i].last = run->addresses[i];
	}
	writer->runs++;
}

void hp_trace_end(struct hp_trace_writer *writer)
{
	hp_write_varint(&writer->out, TRACE_END);
	hp_write_varint(&writer->out, writer->runs);
}

void hp_trace_writer_free(struct hp_trace_writer *writer)
{
	for (size_t i = 0; i < writer->block_count; i++)
		free(writer->blocks[i].accesses);
	free(writer->blocks);
	hp_writer_free(&writer->out);
	*writer = (struct hp_trace_writer){ 0 };
}
