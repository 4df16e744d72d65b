/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An extent of code, and lists of extents: what each source of procedures produces. Addresses are
 * link-time.
 */
#ifndef HPCPROF_IMAGE_EXTENT_H
#define HPCPROF_IMAGE_EXTENT_H

#include "elf_file.h"

#include <hpcprof/base/arena.h>
#include <hpcprof/base/vector.h>

struct extent {
	uint64_t address;
	uint64_t size; /* > 0 */
	uint64_t lsda; /* address of its exception table (C++ and the like), 0 without one */
};
typedef HP_VECTOR(struct extent) extents;

/* Finds the extents of the FDEs in .eh_frame that lie in executable parts, sorted by address. False
 * when memory is short; reading stops at damage. */
bool eh_frame_extents(const struct elf_file *file, extents *found);

/* How a candidate for a procedure was found; a better rank wins an address. */
enum symbol_rank {
	RANK_PLT,   /* derived, not in a symbol table */
	RANK_LABEL, /* no type: assembly, or a label in it */
	RANK_LOCAL, /* functions, by binding */
	RANK_WEAK,
	RANK_GLOBAL,
};

struct symbol {
	uint64_t address;
	uint64_t size;	   /* 0 unknown */
	uint64_t limit;	   /* the end of the executable part that holds it */
	const char *name;  /* as in the symbol table, with its version suffix */
	uint32_t unit;	   /* the STT_FILE before it: local names are unique in one */
	uint8_t rank;	   /* enum symbol_rank */
	bool global_label; /* RANK_LABEL, but with global binding */
};
typedef HP_VECTOR(struct symbol) symbols;

/* The table that the symbols came from, for hp_image_symbol_origin. */
enum symbol_origin {
	ORIGIN_NONE,
	ORIGIN_SYMTAB,
	ORIGIN_DYNSYM,
	ORIGIN_DEBUGDATA,
	ORIGIN_DEBUG_FILE,
	ORIGIN_GOPCLNTAB,
};

/* Reads every symbol that may name code, from the file or its separate debug file, in table order.
 * False when memory is short. */
bool symbols_read(struct elf_file *file, symbols *found, enum symbol_origin *origin);

/* Reads the functions of a Go program from the table for its runtime. False when memory is short;
 * reading stops at damage. */
bool gopclntab_symbols(const struct elf_file *file, symbols *found);

/* Names PLT entries after their targets, "name@plt" (in `arena`), sorted. `known`, sorted by
 * address and preference, names entries that lead to an address instead of a symbol. */
bool plt_entries(const struct elf_file *file, const symbols *known, struct hp_arena *arena,
		 symbols *found);

#endif
