/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of one procedure while its graph is being built: which bytes begin instructions, which
 * of those begin blocks, and how each was reached.
 *
 * A position is the number of a byte, counted from 0 through all parts of the procedure, one part
 * after another. So jumps within a part and between parts are treated alike.
 */
#ifndef HPCPROF_CFG_CODE_H
#define HPCPROF_CFG_CODE_H

#include "image.h"
#include "tuning.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/image/code.h>

#define NOWHERE UINT32_MAX

/* Beside the kind of an instruction, in code.marks. */
enum mark {
	MARK_KIND = 0x0f,
	MARK_LEADER = 0x10,
	MARK_ENDS = 0x20,      /* its block ends with it, whatever its kind */
	MARK_NO_RETURN = 0x40, /* nothing follows it, though its kind says so */
	MARK_ENTERED = 0x80,   /* a leader that code elsewhere comes to, as after setjmp */
};

struct code_part {
	uint64_t address;
	uint32_t size;
	uint32_t base; /* position of its first byte */
	const uint8_t *bytes;
	const struct hp_landing *landings;
	size_t landing_count;
};

/* A straight line of code, as it was followed. */
struct run {
	uint32_t start;	   /* position */
	uint32_t from_run; /* that led here, or NOWHERE */
	uint32_t from;	   /* the instruction that led here */
	bool is_orphan;
};

/* An indirect jump. */
struct indirect {
	uint32_t at; /* position */
	uint32_t run;
	uint32_t first_target; /* in code.targets */
	uint32_t target_count;
	uint8_t tries; /* to resolve it */
	bool is_resolved;
	bool goes_out;	 /* a tail call, or a table with targets elsewhere */
	bool is_partial; /* targets are known, but maybe not all */
};

/* The storage of a jump table. */
struct table {
	uint64_t start;
	uint64_t end;
};

struct code {
	struct hp_cfg_image *shared;
	const struct hp_procedure *procedure;
	struct hp_arena *arena;
	HP_VECTOR(struct code_part) parts; /* by address */
	uint32_t total;			   /* positions */
	uint8_t *lengths;		   /* of the instruction that begins at a position, or 0 */
	uint8_t *marks;
	size_t length_room;
	size_t mark_room;
	HP_VECTOR(struct run) runs; /* those from `next_run` on are to be followed */
	size_t next_run;
	HP_VECTOR(struct indirect) indirects; /* by position at last */
	HP_VECTOR(uint32_t) targets;	      /* positions */
	uint8_t *swept;			      /* see code_sweep; one bit a position */
	uint32_t swept_total;		      /* positions that it knows */
	HP_VECTOR(uint64_t) constants;	      /* addresses that instructions name, sorted */
	HP_VECTOR(struct table) tables;	      /* jump tables that were read */
	uint32_t first_label;		      /* in targets: the labels whose address is taken */
	uint32_t label_count;
	bool has_labels;
	uint64_t traced_bytes; /* spent on resolving */
	bool is_short_of_memory;
	bool is_too_large;    /* more blocks than any code has */
	uint64_t undecodable; /* where code leads to first that is no instruction, or 0 */
	uint64_t bad_orphan;  /* the same of code that nothing known leads to */
	bool is_truncated;
	unsigned adopted;
	uint8_t *refused; /* other procedures that are no parts of this one; one bit each */
};

struct hp_error *code_open(struct hp_cfg_image *shared, const struct hp_procedure *procedure,
			   struct hp_arena *arena, struct code *code);
void code_close(struct code *code);

/* Takes in the code of another procedure; false when it has none, or is too large. */
bool code_adopt(struct code *code, const struct hp_procedure *procedure);

/* Position of an address in any of the parts, or NOWHERE. */
uint32_t code_position(const struct code *code, uint64_t address);
const struct code_part *code_part_of(const struct code *code, uint32_t position);
uint64_t code_address(const struct code *code, uint32_t position);

/* Where a call at the address goes on when it throws, or NULL. */
const struct hp_landing *code_landing_of(const struct code_part *part, uint64_t address);

/* Follows all code from the procedure's entry, resolving indirect jumps on the way, and then what
 * is left over. */
struct hp_error *code_discover(struct code *code);

/* Decodes all parts from their beginnings to their ends, which for what compilers make gives the
 * right instructions: `swept` says where they begin, `constants` which addresses they name. For
 * deciding what cannot be known otherwise. Done once. */
bool code_sweep(struct code *code);
/* An instruction begins here, as far as sweeping or following the code tells. */
bool code_is_boundary(const struct code *code, uint32_t position);

/* Nothing more is to be followed. */
bool code_has_failed(const struct code *code);
void code_push_run(struct code *code, struct run run);
/* A block begins here, which was come upon from the instruction `from` in `run`. */
void code_add_leader(struct code *code, uint32_t position, uint32_t from_run, uint32_t from);

/* Finds the targets of one indirect jump. With `guess` a table without a known bound is read for
 * as long as it makes sense; without, such a jump is left for later. False when left. */
bool indirect_resolve(struct code *code, struct indirect *jump, bool guess);

#endif
