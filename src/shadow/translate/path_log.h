/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The logged path of a copy: which blocks were executed, in order, and the addresses that they
 * accessed.
 *
 * Each block has a second translation, which logs. While a cache is logging, the first bytes of
 * each plain block are a jump to the logging one. Logging can be switched while a copy is stopped.
 *
 * A log consists of 64-bit words. At its entry a block writes its number, then as many words as its
 * plan says: values of registers from which the addresses of all its accesses follow. The program
 * may have overwritten the log, so it is not trusted: the reader checks block numbers, and
 * addresses are only looked up in models.
 *
 * The log lies in the data of the first zone and ends at that zone's guard page: the word that does
 * not fit faults, and is written again once the log has been taken. The base of gs points to the
 * log. Programs do not use gs; a path ends at an instruction that does.
 */
#ifndef SHADOW_TRANSLATE_PATH_LOG_H
#define SHADOW_TRANSLATE_PATH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words at the start of the log, relative to gs. */
enum path_log_word {
	PATH_LOG_NEXT,	  /* address in the copy where the next word goes */
	PATH_LOG_POINTER, /* registers that are saved here */
	PATH_LOG_SCRATCH,
};

enum {
	PATH_LOG_HEAD_BYTES = 4096,
	PATH_NO_WORD = 255,
	PATH_MOST_WORDS = 250,
	PATH_MOST_BLOCKS = 1 << 20,
};

/* An access by insns[insn]: its address is words[word] + displacement, or, without a word, the
 * block's address + displacement. */
struct path_access {
	int64_t displacement;
	uint16_t bytes; /* size of one element */
	uint8_t insn;
	uint8_t kind; /* enum x86_access_kind */
	uint8_t word; /* index of the word after the block's number; PATH_NO_WORD: none */
	/* For repeated accesses: the words with the largest number of elements, and with the number
	 * of elements that were not reached. */
	uint8_t count_word, left_word;
	bool is_fs;	  /* relative to the base of fs */
	bool is_absolute; /* without a word: the displacement is the address */
};

struct path_plan {
	uint64_t address; /* of the block, as in struct code_block */
	uint64_t target;
	uint8_t kind;	    /* enum x86_kind of its last instruction */
	uint8_t word_count; /* words that it logs after its number */
	uint8_t insn_count;
	uint8_t access_count;
	bool is_partial; /* some of its accesses are not logged */
	/* One element per instruction, in the same allocation as the plan. */
	uint8_t *lengths; /* in bytes */
	uint8_t *code;
	struct path_access accesses[];
};

/* The address of an access by a block that has logged `words` after its number, and its number of
 * consecutive elements. */
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
