/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chosen constants of unwinding: bounds of the work that a file or a stack may require.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a script	which measures it, by its name in this repository
 *	a text		from which it follows, by its title
 *	[chosen]	nobody has measured it alone; scripts/path-accuracy judges all together
 *	[bound]		it limits memory or work where input is hostile or rare: no recording of
 *			an ordinary program reaches it, so none says what is right
 */
#ifndef HPCPROF_SRC_UNWIND_TUNING_H
#define HPCPROF_SRC_UNWIND_TUNING_H

#include <stdint.h>

enum {
	/* The largest section of call frame information that is read: a browser of 200 MB has 20 MB
	 * of it. */
	MOST_SECTION_BYTES = 67108864, /* bytes: 64 MiB [bound] */
	/* The largest decompressed size of a section: a multiple of its size, plus a fixed amount
	 * (image/inflation.c). */
	MOST_UNPACKED_TIMES = 32,	/* times [bound] */
	FREE_UNPACKED_BYTES = 16777216, /* bytes: 16 MiB [bound] */
	/* Rows of one image: libLLVM has 1.0 million. */
	MOST_ROWS = 16777216, /* rows: 40 MiB [bound] */
	/* Rows per block, which are searched one by one. With 16, perl's table is more than half
	 * the size of its .eh_frame. */
	ROWS_PER_BLOCK = 32, /* rows; scripts/path-accuracy */
	/* The longest row: numbers of 32 and 16 bits, with 7 bits per byte. */
	MOST_ROW_BYTES = 8, /* bytes; DWARF 5, section 7.6 */
	/* Recipes of one image, … */
	MOST_RECIPES = 65535, /* recipes [bound] */
	/* … and of one whose rows are made when they are asked for: libLLVM has 1100. */
	MOST_INDEXED_RECIPES = 8192, /* recipes [bound] */
	/* Procedures of such an image: libLLVM has 118 thousand. */
	MOST_INDEX_ENTRIES = 1048576, /* procedures: 8 MiB [bound] */
	/* Procedures of an index per entry of its own index: as many lie in one line of the cache. */
	PROCEDURES_PER_BEGIN = 8, /* procedures: 64 bytes */
	/* Shorter gaps between procedures are padding: compilers align procedures to 16 bytes. */
	PADDING_BYTES = 16, /* bytes; compilers' default */
	/* Shared entries (CIEs); each compiler and language adds a few. */
	MOST_CIES = 65536, /* entries [bound] */
	/* Bytes of instructions executed per byte of the section. Instructions of a shared entry
	 * are executed once, so honest files need 1. */
	MOST_TIMES_RUN = 4, /* times [bound] */
	/* Nesting of DW_CFA_remember_state; compilers use one level. */
	MOST_REMEMBERED = 8, /* states [bound] */
	/* Different expressions per image: assembly and the linker's tables have a handful. */
	MOST_EXPRESSIONS = 256, /* expressions [bound] */
	/* The longest expression; a linker's table has 11 bytes. */
	MOST_EXPRESSION_BYTES = 64, /* bytes [bound] */
	/* Operations of one expression, and values on its stack. */
	MOST_OPERATIONS = 128, /* operations [bound] */
	MOST_VALUES = 16,      /* values [bound] */
};

/* The largest frame that is followed by frame pointer. */
static const uint64_t most_frame_bytes = 16777216; /* bytes: 16 MiB [bound] */

#endif
