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

/* Bits in code.marks, besides the kind of an instruction. */
enum mark {
	MARK_KIND = 0x0f,
	MARK_LEADER = 0x10,
	MARK_ENDS = 0x20,      /* the block ends with it, whatever its kind */
	MARK_NO_RETURN = 0x40, /* nothing follows it, although its kind says so */
	MARK_ENTERED = 0x80,   /* a leader that other code reaches, as after setjmp */
};

struct code_part {
	uint64_t address;
	uint32_t size;
	uint32_t base; /* position of its first byte */
	const uint8_t *bytes;
	const struct hp_landing *landings;
	size_t landing_count;
};

/* A straight run of code, as it was followed. */
struct run {
	uint32_t start;	   /* position */
	uint32_t from_run; /* the run that led here, or NOWHERE */
	uint32_t from;	   /* the instruction that led here */
	bool is_orphan;
};

/* An indirect jump. */
struct indirect {
	uint32_t at; /* its position */
	uint32_t run;
	uint32_t first_target; /* index in code.targets */
	uint32_t target_count;
	uint8_t tries; /* attempts to resolve it so far */
	bool is_resolved;
	bool goes_out;	 /* a tail call, or a table with targets elsewhere */
	bool is_partial; /* some targets are known, but maybe not all */
};

/* The memory of a jump table. */
struct table {
	uint64_t start;
	uint64_t end;
};

struct code {
	struct hp_cfg_image *shared;
	const struct hp_procedure *procedure;
	struct hp_arena *arena;
	HP_VECTOR(struct code_part) parts; /* sorted by address */
	uint32_t total;			   /* number of positions */
	/* by position: length of the instruction that begins there, or 0 */
	uint8_t *lengths;
	uint8_t *marks;
	size_t length_room;
	size_t mark_room;
	HP_VECTOR(struct run) runs; /* runs from `next_run` on are still to be followed */
	size_t next_run;
	HP_VECTOR(struct indirect) indirects; /* sorted by position in the end */
	HP_VECTOR(uint32_t) targets;	      /* positions */
	uint8_t *swept;			      /* see code_sweep; one bit per position */
	uint32_t swept_total;		      /* number of positions that `swept` covers */
	HP_VECTOR(uint64_t) constants;	      /* addresses that instructions name, sorted */
	HP_VECTOR(struct table) tables;	      /* jump tables that were read */
	/* index in `targets` of the labels whose address is taken */
	uint32_t first_label;
	uint32_t label_count;
	bool has_labels;
	uint64_t traced_bytes; /* bytes traced to resolve jumps */
	bool is_short_of_memory;
	bool is_too_large;    /* there are more blocks than any real code has */
	uint64_t undecodable; /* first address reached that is no instruction, or 0 */
	uint64_t bad_orphan;  /* the same for code that nothing known leads to */
	bool is_truncated;
	unsigned adopted;
	uint8_t *refused; /* procedures that are not parts of this one; one bit each */
};

struct hp_error *code_open(struct hp_cfg_image *shared, const struct hp_procedure *procedure,
			   struct hp_arena *arena, struct code *code);
void code_close(struct code *code);

/* Adds the code of another procedure. False if it has none, or is too large. */
bool code_adopt(struct code *code, const struct hp_procedure *procedure);

/* Position of an address in any of the parts, or NOWHERE. */
uint32_t code_position(const struct code *code, uint64_t address);
const struct code_part *code_part_of(const struct code *code, uint32_t position);
uint64_t code_address(const struct code *code, uint32_t position);

/* Where a call at this address continues if it throws, or NULL. */
const struct hp_landing *code_landing_of(const struct code_part *part, uint64_t address);

/* Follows all code from the procedure's entry, and resolves indirect jumps on the way. Then follows
 * the rest. */
struct hp_error *code_discover(struct code *code);

/* Decodes all parts linearly, which gives the right instructions for what compilers make: sets
 * `swept` to where they begin, and `constants` to the addresses that they name. It decides what
 * cannot be known otherwise. Done once. */
bool code_sweep(struct code *code);
/* Whether an instruction begins here, as far as sweeping or following the code tells. */
bool code_is_boundary(const struct code *code, uint32_t position);

/* Nothing more is followed. */
bool code_has_failed(const struct code *code);
void code_push_run(struct code *code, struct run run);
/* A block begins here; the instruction `from` in `run` led to it. */
void code_add_leader(struct code *code, uint32_t position, uint32_t from_run, uint32_t from);

/* Finds the targets of one indirect jump. With `guess`, a table without a known bound is read as
 * long as it makes sense; otherwise such a jump is left for later. False: it is left. */
bool indirect_resolve(struct code *code, struct indirect *jump, bool guess);

#endif
