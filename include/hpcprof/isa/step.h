/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interprets one instruction in a partly known state. With it, the registers of a sample determine
 * the next branches (DCPI section 7, "instruction interpretation").
 *
 * Known values are correct for every value of the unknown ones. Instructions that are not
 * understood make their results unknown. There is one assumption: a store to an unknown address
 * does not overwrite values that were pushed or spilled to the stack.
 *
 * Addresses are run-time addresses. Nothing allocates; a state is a plain value.
 */
#ifndef HPCPROF_ISA_STEP_H
#define HPCPROF_ISA_STEP_H

#include <hpcprof/isa/insn.h>

/* A number whose bits in `known` are known; the other bits are 0 in `value`. */
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

/* Memory outside the state; NULL: unknown. */
struct hp_step_memory {
	/* Reads `bytes` (1 to 8, in the machine's byte order) at the address; false if they are
	 * unknown. With `is_constant` only memory that is never written is known. */
	bool (*read)(void *context, uint64_t address, size_t bytes, bool is_constant,
		     uint8_t *into);
	void *context;
};

enum hp_step {
	HP_STEP_ON, /* to the next instruction, or to the target of an unconditional jump or call */
	HP_STEP_TAKEN, /* a conditional jump */
	HP_STEP_NOT_TAKEN,
	HP_STEP_INDIRECT, /* a jump, call or return through a register or memory */
	HP_STEP_UNKNOWN,  /* the target depends on unknown values: `address` is unchanged */
	HP_STEP_END,	  /* the kernel, a trap, or a certain fault: `address` is unchanged */
};

/* Runs `insn`, which is at `state->address` and was decoded as if at `shift` less. */
enum hp_step hp_step_x86_64(const struct hp_insn *insn, uint64_t shift,
			    const struct hp_step_memory *memory, struct hp_state *state);

#endif
