/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An excerpt of an image's file: what the file says about the procedures that have samples. The
 * epoch stores it, so that reports work when the file is gone or is another build. It has three
 * layers; each can be used without the later ones:
 *
 *	map	segments, and the parts of procedures: those with samples, and those that their code
 *		refers to
 *	lines	source positions and inlined frames of their instructions
 *	code	their bytes, jump tables, landing pads, and pointers to their labels
 *
 * All addresses are link-time addresses. Everything is owned. hp_excerpt_check gives the rules for
 * an excerpt that was read from a file.
 */
#ifndef HPCPROF_MODEL_EXCERPT_H
#define HPCPROF_MODEL_EXCERPT_H

#include <hpcprof/base/error.h>
#include <hpcprof/base/vector.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits for writers and readers: each entry takes more memory than bytes in the file. The largest
 * programs measured reach a twentieth of them. */
enum {
	HP_EXCERPT_MOST_SEGMENTS = 64,
	HP_EXCERPT_MOST_TEXTS = 1024,
	HP_EXCERPT_MOST_PARTS = 1 << 17,
	HP_EXCERPT_MOST_LINES = 1 << 20,
	HP_EXCERPT_MOST_PLACES = 1 << 19,
	HP_EXCERPT_MOST_WORDS = 1 << 17,
	HP_EXCERPT_MOST_RANGES = 1 << 16,
	HP_EXCERPT_MOST_LANDINGS = 1 << 17,
	HP_EXCERPT_MOST_POINTERS = 1 << 17,
	HP_EXCERPT_MOST_IMPORTS = 1 << 16,
	HP_EXCERPT_MOST_CODE_BYTES = 16 << 20, /* of sums; one recording keeps far less */
	HP_EXCERPT_MOST_WORD_BYTES = 1 << 16,  /* of one name */
	HP_EXCERPT_DEEPEST = 200,	       /* inlined frames at one address */
};

#define HP_EXCERPT_NONE UINT32_MAX

/* A loaded segment of the file. */
struct hp_excerpt_segment {
	uint64_t address;
	uint64_t offset;
	uint64_t bytes; /* > 0 */
	bool is_executable;
	bool is_writable;
};

/* A section with code. */
struct hp_excerpt_text {
	uint64_t address;
	uint64_t end; /* > address */
};

enum hp_excerpt_source {
	HP_EXCERPT_SYMBOL = 1,
	HP_EXCERPT_PLT = 2,
	HP_EXCERPT_EH_FRAME = 3, /* without a name */
};

/* As struct hp_procedure. */
struct hp_excerpt_part {
	uint64_t address;
	uint64_t size;	/* > 0 */
	uint64_t owner; /* address of the part that owns it; its own of one that owns itself */
	char *linkage;	/* NULL without a name of its own */
	uint8_t source; /* enum hp_excerpt_source */
	/* False also if no kept code leads to it: then it was not asked. */
	bool never_returns;
	bool has_namesake;
};

/* The source position of an address: function, file and line, and the place where it was
 * inlined. */
struct hp_excerpt_place {
	uint32_t function; /* number of a word, or NONE */
	uint32_t file;	   /* likewise */
	uint32_t line;	   /* 0 unknown */
	uint32_t outer;	   /* number of a place before this one, or NONE */
};

struct hp_excerpt_line {
	uint64_t address;
	uint64_t bytes; /* > 0 */
	uint32_t place;
};

struct hp_excerpt_range {
	uint64_t address;
	size_t size; /* > 0 */
	uint8_t *bytes;
};

/* An exception from a call in [start, end) continues at `landing`. */
struct hp_excerpt_landing {
	uint64_t start;
	uint64_t end;
	uint64_t landing;
};

struct hp_excerpt_pointer {
	uint64_t where;
	uint64_t target;
};

struct hp_excerpt_import {
	uint64_t where;
	char *name;
};

struct hp_excerpt_known_word;
struct hp_excerpt_known_place;

struct hp_excerpt {
	/* The map. */
	uint16_t machine;   /* ELF's e_machine; 0: there is no map, and nothing else */
	char *origin;	    /* where names came from, for people */
	uint8_t *compilers; /* section .comment */
	size_t compilers_size;
	HP_VECTOR(struct hp_excerpt_segment) segments; /* by address, not overlapping */
	HP_VECTOR(struct hp_excerpt_text) texts;       /* likewise */
	HP_VECTOR(struct hp_excerpt_part) parts;       /* likewise */
	/* Lines. */
	HP_VECTOR(char *) words;
	HP_VECTOR(struct hp_excerpt_place) places;
	HP_VECTOR(struct hp_excerpt_line) lines; /* by address, not overlapping */
	/* Code. */
	HP_VECTOR(struct hp_excerpt_range) ranges;     /* by address, not touching */
	HP_VECTOR(struct hp_excerpt_landing) landings; /* by start, end and landing, distinct */
	HP_VECTOR(struct hp_excerpt_pointer) pointers; /* by target and place, distinct */
	HP_VECTOR(struct hp_excerpt_import) imports;   /* by place, distinct */
	/* Indexes of words and places while the excerpt is being made. */
	struct hp_excerpt_known_word *known_words;
	struct hp_excerpt_known_place *known_places;
};

void hp_excerpt_clear(struct hp_excerpt *excerpt);
void hp_excerpt_clear_lines(struct hp_excerpt *excerpt);
void hp_excerpt_clear_code(struct hp_excerpt *excerpt);

static inline bool hp_excerpt_is_empty(const struct hp_excerpt *excerpt)
{
	return !excerpt->machine;
}

/* NULL when everything is in order and nothing is more than there may be; else DAMAGED. */
struct hp_error *hp_excerpt_check(const struct hp_excerpt *excerpt);

/* The number of a word or a place, which is added if it is new. NONE when memory is short or there
 * are too many. */
uint32_t hp_excerpt_word(struct hp_excerpt *excerpt, const char *text);
uint32_t hp_excerpt_place(struct hp_excerpt *excerpt, const struct hp_excerpt_place *place);

/* For excerpts whose entries were pushed in any order: sorts everything, removes duplicates and
 * overlaps, and joins adjacent ranges. Of two overlapping parts, the one that begins first remains,
 * then the larger one. */
struct hp_error *hp_excerpt_finish(struct hp_excerpt *excerpt);

/* Adds an excerpt of the same file. DAMAGED, without changing `into`, if they are not of the same
 * file or are together larger than the limits. */
struct hp_error *hp_excerpt_add(struct hp_excerpt *into, const struct hp_excerpt *from);

#endif
