/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces: exact paths of a program in a file, for models of a core. The format is in
 * hpcprof-trace(5).
 *
 * A trace consists of blocks, which are stretches of code that are executed from their first
 * instruction to their last one, and of the runs of blocks in order, each with the addresses of the
 * data that it accesses. The code is in the trace, so that a core can also fetch code beside the
 * path.
 *
 * A reader checks the whole trace before it returns the first run, so hp_trace_next does not fail.
 * It makes no system call. Memory grows with the number of blocks, not of runs.
 */
#ifndef HPCPROF_UARCH_TRACE_H
#define HPCPROF_UARCH_TRACE_H

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HP_TRACE_BLOCKS_MOST = 1 << 20,
	HP_TRACE_INSNS_MOST = 255,    /* of a block */
	HP_TRACE_ACCESSES_MOST = 255, /* of a block */
};
/* The longest trace that is read or written. */
#define HP_TRACE_BYTES_MOST (UINT64_C(1) << 30)

enum hp_trace_access_kind {
	HP_TRACE_LOAD,
	HP_TRACE_STORE,
	HP_TRACE_MODIFY, /* a load and a store of the same bytes */
	HP_TRACE_PREFETCH,
	HP_TRACE_ACCESS_KINDS,
};

struct hp_trace_access {
	uint16_t bytes;	  /* of an element; not 0 */
	uint8_t insn;	  /* index in the block; ascending */
	uint8_t kind;	  /* enum hp_trace_access_kind */
	bool is_repeated; /* each run has its number of consecutive elements */
};

struct hp_trace_block {
	uint64_t address;
	uint8_t insn_count, access_count;
	const uint8_t *lengths; /* of its instructions, 1 to 15 bytes each */
	const uint8_t *code;
	const struct hp_trace_access *accesses;
};

/* --- reading ----------------------------------------------------------------------------------- */

struct hp_trace {
	uint16_t machine; /* ELF e_machine */
	struct hp_trace_block *blocks;
	size_t block_count;
	uint64_t runs, instructions;
	uint64_t bytes;
	/* Private. */
	const uint8_t *file;
	struct hp_trace_access *accesses;
};

/* Opens a trace. The bytes are borrowed and must not change. DAMAGED: the message says where and
 * why. */
struct hp_error *hp_trace_open(const void *bytes, size_t size, struct hp_trace **trace);
void hp_trace_close(struct hp_trace *trace);
HP_DEFINE_CLEANUP(struct hp_trace, hp_trace_close);

/* A run of a block. */
struct hp_trace_run {
	uint32_t block;
	bool is_apart; /* it does not follow the previous run: something is omitted */
	uint64_t addresses[HP_TRACE_ACCESSES_MOST]; /* by access */
	uint64_t elements[HP_TRACE_ACCESSES_MOST];
};

/* A cursor from the trace's beginning; several may exist. */
struct hp_trace_cursor;
/* NULL when memory is short. The trace is borrowed. */
struct hp_trace_cursor *hp_trace_cursor_create(const struct hp_trace *trace);
void hp_trace_cursor_destroy(struct hp_trace_cursor *cursor);
HP_DEFINE_CLEANUP(struct hp_trace_cursor, hp_trace_cursor_destroy);
/* Reads the next run; false at the end. */
bool hp_trace_next(struct hp_trace_cursor *cursor, struct hp_trace_run *run);

/* --- writing ----------------------------------------------------------------------------------- */

struct hp_trace_writer {
	struct hp_writer out;		 /* the bytes so far; the owner may take pieces away */
	struct hp_trace_written *blocks; /* private */
	size_t block_count, block_capacity;
	uint64_t runs;
};

/* Zero-initialized before. */
void hp_trace_begin(struct hp_trace_writer *writer, uint16_t machine);
/* Adds a block; blocks are numbered from 0. False: too many, or memory is short. */
bool hp_trace_add_block(struct hp_trace_writer *writer, const struct hp_trace_block *block);
/* Adds a run. `elements` is ignored for accesses that are not repeated. */
void hp_trace_add_run(struct hp_trace_writer *writer, const struct hp_trace_run *run);
void hp_trace_end(struct hp_trace_writer *writer);
void hp_trace_writer_free(struct hp_trace_writer *writer);

#endif
