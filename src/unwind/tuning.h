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
	/* A section with call frame information: a browser of 200 MB has 20 MB of it. */
	MOST_SECTION_BYTES = 67108864, /* bytes: 64 MiB [bound] */
	/* A section unpacks to at most so many times its size, beyond what is free (image/inflation.c). */
	MOST_UNPACKED_TIMES = 32,	/* times [bound] */
	FREE_UNPACKED_BYTES = 16777216, /* bytes: 16 MiB [bound] */
	/* Rows of one image: libLLVM has 1.0 million. */
	MOST_ROWS = 16777216, /* rows: 40 MiB [bound] */
	/* Rows that are looked through one by one. With 16, perl's table is more than half of its .eh_frame. */
	ROWS_PER_BLOCK = 32, /* rows; scripts/path-accuracy */
	/* Two numbers of 32 and of 16 bits, with 7 bits in a byte. */
	MOST_ROW_BYTES = 8, /* bytes; DWARF 5, section 7.6 */
	/* A shorter gap between procedures is padding: they are aligned to 16 bytes. */
	PADDING_BYTES = 16, /* bytes; compilers' default */
	/* Entries that others share; each compiler and language brings a few. */
	MOST_CIES = 65536, /* entries [bound] */
	/* Bytes of instructions that are run for each byte of the section: those of a shared entry are
	 * run once, so it is one time in an honest file. */
	MOST_TIMES_RUN = 4, /* times [bound] */
	/* DW_CFA_remember_state within each other; compilers use one. */
	MOST_REMEMBERED = 8, /* states [bound] */
	/* Different expressions of an image: assembly and the linker's tables have a handful. */
	MOST_EXPRESSIONS = 256, /* expressions [bound] */
	/* One expression; that of a linker's table has 11 bytes. */
	MOST_EXPRESSION_BYTES = 64, /* bytes [bound] */
	/* Operations of one expression, and values on its stack. */
	MOST_OPERATIONS = 128, /* operations [bound] */
	MOST_VALUES = 16,      /* values [bound] */
};

/* A caller by frame pointer that is further up the stack than this is no caller. */
static const uint64_t most_frame_bytes = 16777216; /* bytes: 16 MiB [bound] */

#endif
