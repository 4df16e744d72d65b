/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a trace, decoded for one core and found by address, and the path that the trace takes
 * through it.
 */
#ifndef HPCPROF_SRC_CYCLE_CODE_H
#define HPCPROF_SRC_CYCLE_CODE_H

#include <hpcprof/cycle/config.h>
#include <hpcprof/uarch/path.h>
#include <hpcprof/uarch/pointers.h>
#include <hpcprof/uarch/timing.h>
#include <hpcprof/uarch/trace.h>

struct insn {
	uint64_t address;
	uint64_t next;	 /* address after it */
	uint64_t target; /* target of a direct branch */
	bool is_branch;
	uint8_t length;
	enum hp_uarch_branch_kind kind;
	struct hp_timed_insn timed;
};

struct cycle_code {
	struct insn *insns;
	size_t count;
	size_t *first;	  /* by block: index of its first instruction */
	uint32_t *places; /* hash table by address: index of the instruction + 1; 0: free */
	size_t mask;
};

/* USAGE for a machine whose code cannot be decoded. Bytes that are no instruction take one
 * cycle. */
struct hp_error *cycle_code_create(const struct hp_trace *trace,
				   const struct hp_cycle_config *config, struct cycle_code *code);
void cycle_code_clear(struct cycle_code *code);
/* NULL: the trace has no code there. */
const struct insn *cycle_code_at(const struct cycle_code *code, uint64_t address);

/* --- the path ---------------------------------------------------------------------------------- */

enum { STEP_ACCESSES = 4 };

/* An instruction of the path. */
struct step {
	const struct insn *insn;
	bool begins;   /* a run of its block begins here */
	bool has_next; /* the next instruction is known */
	uint64_t next; /* address of the next instruction */
	/* further accesses of one instruction are left out */
	unsigned access_count;
	struct {
		uint64_t address;
		uint32_t bytes;
		enum hp_trace_access_kind kind;
	} accesses[STEP_ACCESSES];
};

struct walk {
	const struct hp_trace *trace;
	const struct cycle_code *code;
	struct hp_trace_cursor *cursor;
	struct hp_trace_run runs[2]; /* the current one and the next */
	unsigned now;
	bool is_over, has_next;
	unsigned insn, access; /* next instruction and access of the current run */
};

/* False: out of memory. Everything else is borrowed. */
bool walk_begin(struct walk *walk, const struct hp_trace *trace, const struct cycle_code *code);
void walk_end(struct walk *walk);
/* False: the path is over. */
bool walk_step(struct walk *walk, struct step *step);

#endif
