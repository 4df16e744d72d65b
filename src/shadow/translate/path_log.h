/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path of a copy, logged: which blocks run, in order, and the addresses that they access.
 *
 * Each block has a second translation that logs. While a cache is logging, blocks go to those (the
 * first bytes of the plain ones are a jump then); the two may be switched while a copy is stopped.
 *
 * A log is 64-bit words. A block that is entered writes its number, then as many words as its plan
 * has: values of registers, from which the addresses of all its accesses follow. What the program
 * could have written over is not trusted: who reads a log checks block numbers, and addresses are
 * only looked up in models.
 *
 * The log lies in the data of the first zone, and ends at that zone's guard page: the word that finds
 * no room faults, and is written again once the log has been taken. The base of gs leads to it, which
 * programs do not use; a path ends with an instruction that does.
 */
#ifndef SHADOW_TRANSLATE_PATH_LOG_H
#define SHADOW_TRANSLATE_PATH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words at the start of the log, relative to gs. */
enum path_log_word {
	PATH_LOG_NEXT,	  /* address where the next word goes, in the copy */
	PATH_LOG_POINTER, /* registers that are put aside */
	PATH_LOG_SCRATCH,
};

enum {
	PATH_LOG_HEAD_BYTES = 4096,
	PATH_NO_WORD = 255,
	PATH_MOST_WORDS = 250,
	PATH_MOST_BLOCKS = 1 << 20,
};

/* An access: of insns[insn], at words[word] + displacement; without a word, the block's address +
 * displacement. */
struct path_access {
	int64_t displacement;
	uint16_t bytes; /* of one element */
	uint8_t insn;
	uint8_t kind; /* enum x86_access_kind */
	uint8_t word; /* behind the number of the block; PATH_NO_WORD */
	/* Of repeated ones: how many elements at most, and of these, how many were not reached. */
	uint8_t count_word, left_word;
	bool is_fs;	  /* and the base of fs */
	bool is_absolute; /* without a word: the displacement alone */
};

struct path_plan {
	uint64_t address; /* of the block, as in struct code_block … */
	uint64_t target;
	uint8_t kind;	    /* enum x86_kind: of its last instruction */
	uint8_t word_count; /* that it logs behind its number */
	uint8_t insn_count;
	uint8_t access_count;
	bool is_partial; /* has accesses that are not logged */
	/* Of its instructions, in the same memory as the plan. */
	uint8_t *lengths; /* bytes */
	uint8_t *code;
	struct path_access accesses[];
};

/* Where an access of a block that has logged `words` (behind its number) begins, and how many elements
 * it has, one behind the other. */
static inline uint64_t path_access_address(const struct path_plan *plan,
					   const struct path_access *access, const uint64_t *words,
					   uint64_t fs_base)
{
	uint64_t from = access->word != PATH_NO_WORD ? words[access->word]
			: access->is_absolute	     ? 0
						     : plan->address;

	return from + (uint64_t)access->displacement + (access->is_fs ? fs_base : 0);
}
static inline uint64_t path_access_elements(const struct path_access *access, const uint64_t *words)
{
	uint64_t left = access->left_word != PATH_NO_WORD ? words[access->left_word] : 0;

	return access->count_word != PATH_NO_WORD ? words[access->count_word] - left : 1;
}

#endif
