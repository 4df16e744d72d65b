/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates a straight sequence of instructions symbolically, to find the targets of an indirect
 * jump. A value is an unknown times a scale plus an offset, or an entry loaded from a table;
 * comparisons on the way bound unknowns.
 *
 * The sequence is one path through the code, and the result holds on that path only. A load has
 * the value that was stored under the same address expression; stores under other expressions are
 * assumed not to overlap it.
 */
#ifndef HPCPROF_CFG_TRACE_H
#define HPCPROF_CFG_TRACE_H

#include <hpcprof/isa/insn.h>

enum value_kind {
	VALUE_LINEAR, /* scale * unknown + offset; a constant has no unknown and scale 0 */
	VALUE_ENTRY,  /* offset + the contents of a table at index * entry_scale + table */
};

/* Where an unknown came from. */
enum value_origin {
	ORIGIN_UNSEEN,	/* in a register or memory when the trace began */
	ORIGIN_LOADED,	/* loaded from an address without an index */
	ORIGIN_INDEXED, /* loaded from an address with an index, or computed from such a value */
	ORIGIN_OTHER,
};

struct value {
	uint8_t kind;
	uint8_t origin;
	uint8_t entry_bytes;
	bool entry_is_signed;
	uint32_t unknown; /* of LINEAR, and of the index; 0: none */
	int64_t scale;	  /* for LINEAR */
	int64_t offset;
	uint64_t table; /* address of index 0 */
	int64_t entry_scale;
};

struct bound {
	uint32_t unknown;
	int64_t offset; /* 0 <= unknown + offset <= most */
	uint64_t most;
	bool is_natural; /* it follows from the width, not from a comparison */
};

enum { TRACE_REGISTERS = 32, TRACE_SLOTS = 64, TRACE_BOUNDS = 16 };

struct slot {
	uint32_t unknown; /* the address is unknown + offset */
	int64_t offset;
	struct value value;
};

struct trace {
	const struct hp_isa *isa;
	uint32_t unknowns;
	uint32_t stack; /* the unknown that is the initial stack pointer */
	struct value registers[TRACE_REGISTERS];
	struct slot slots[TRACE_SLOTS]; /* a ring */
	unsigned slot_count;
	struct bound bounds[TRACE_BOUNDS]; /* a ring, the newest last */
	unsigned bound_count;
	struct value compared; /* the value that the flags tell something about */
	uint64_t compared_with;
	uint64_t compared_mask; /* largest number of the compared width */
	bool has_compared;
};

void trace_begin(struct trace *trace, const struct hp_isa *isa);
void trace_insn(struct trace *trace, const struct hp_insn *insn);
/* The trace continues after a conditional jump, taken or not. */
void trace_branch(struct trace *trace, enum hp_condition condition, bool is_taken);
/* The value of an operand. */
struct value trace_operand(struct trace *trace, const struct hp_insn *insn, size_t operand);
/* The newest bound on an unknown by a comparison, otherwise by its width, otherwise NULL. */
const struct bound *trace_bound(const struct trace *trace, uint32_t unknown);

#endif
