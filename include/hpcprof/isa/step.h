/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running one instruction in a state of which only a part is known: what the registers of a sample
 * say about the branches that come next (DCPI section 7, "instruction interpretation").
 *
 * What is said to be known is right whatever the rest is; instructions that are not understood make
 * what they write unknown. One thing is taken for granted: a store to an address that is not known
 * does not hit what was pushed or spilled to the stack.
 *
 * Run-time addresses. Nothing allocates; a state is a plain value.
 */
#ifndef HPCPROF_ISA_STEP_H
#define HPCPROF_ISA_STEP_H

#include <hpcprof/isa/insn.h>

/* A number of which the bits in `known` are known; the others are 0 in `value`. */
struct hp_partial {
	uint64_t value;
	uint64_t known;
};

enum { HP_STATE_REGISTERS = 16, HP_STATE_STORES = 16 };

struct hp_stored {
	uint64_t address;
	struct hp_partial value;
	uint8_t bytes; /* 1 to 8 */
};

struct hp_state {
	struct hp_partial registers[HP_STATE_REGISTERS]; /* the general ones, by number */
	uint8_t flags;					 /* enum hp_flag; of those known */
	uint8_t known_flags;
	uint64_t address; /* of the instruction to run next */
	struct hp_stored stores[HP_STATE_STORES];
	unsigned store_count; /* ever; the latest are kept */
};

/* Memory that the state did not write itself; NULL: none of it is known. */
struct hp_step_memory {
	/* Fills `into` (`bytes`: 1 to 8, of the machine's order) with what is at the address; false
	 * when that is not known. With `is_constant` only what nothing ever writes is. */
	bool (*read)(void *context, uint64_t address, size_t bytes, bool is_constant,
		     uint8_t *into);
	void *context;
};

enum hp_step {
	HP_STEP_ON,    /* to the next, or where an unconditional jump or call leads */
	HP_STEP_TAKEN, /* a conditional jump */
	HP_STEP_NOT_TAKEN,
	HP_STEP_INDIRECT, /* a jump, call or return through a register or memory */
	HP_STEP_UNKNOWN,  /* where it goes depends on what is not known: `address` is unchanged */
	HP_STEP_END,	  /* the kernel, a trap, or a fault for certain: `address` is unchanged */
};

/* Runs `insn`, which is at `state->address` and was decoded as if at `shift` less. */
enum hp_step hp_step_x86_64(const struct hp_insn *insn, uint64_t shift,
			    const struct hp_step_memory *memory, struct hp_state *state);

#endif
