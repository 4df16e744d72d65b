/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emits the code that logs a block (path_log.h).
 *
 * Each value is logged once per block: base and index of an operand are logged again only after
 * they have changed; pushes, calls and returns move the stack pointer by known amounts. Two
 * registers that the block does not use hold the position in the log and an address. If none are
 * free, or if the program's own registers must be intact at each instruction, two registers are
 * saved and restored around each word.
 */
#ifndef SHADOW_TRANSLATE_X86_LOG_H
#define SHADOW_TRANSLATE_X86_LOG_H

#include "path_log.h"
#include "x86_block.h"

/* A word to be logged: a register, or base + (index << shift). */
struct x86_log_word {
	uint8_t insn;
	bool is_behind; /* after the instruction rather than before it */
	uint8_t base, index, shift;
};

struct x86_log {
	uint32_t number;
	bool keeps_registers; /* `pointer` and `scratch` are reserved throughout the block */
	uint8_t pointer, scratch;
	uint8_t word_count;
	struct x86_log_word words[PATH_MOST_WORDS];
};

/* Plans the logging of a block with this number. False: it cannot be logged, because it uses gs.
 * The caller frees `*plan`; NULL: out of memory. */
bool x86_log_plan(const struct x86_block *decoded, uint32_t number, struct x86_log *log,
		  struct path_plan **plan);

/* Called before the block, around each of its instructions, and before its branch. */
void x86_log_begin(const struct x86_log *log, struct x86_emitter *emitter);
void x86_log_insn(const struct x86_log *log, struct x86_emitter *emitter, size_t insn,
		  bool is_behind);
void x86_log_end(const struct x86_log *log, struct x86_emitter *emitter);

/* The register that points into the log, in the instruction at `code` that was emitted here to
 * write a word. False: it is no such instruction. */
bool x86_log_pointer_of(const uint8_t *code, size_t bytes, unsigned *reg);

#endif
