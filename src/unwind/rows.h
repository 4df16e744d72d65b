/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executes call frame instructions (DWARF 5, section 6.4.2), which gives the rows of a table.
 *
 * Time is bounded by the number of bytes: the instructions of an entry are executed once, and
 * those of its CIE, which entries share, once for all.
 */
#ifndef UNWIND_ROWS_H
#define UNWIND_ROWS_H

#include "pack.h"

#include <hpcprof/base/encoded.h>

/* Rules are kept for registers below this number; rules of others are skipped. */
enum { COLUMNS = HP_UNWIND_REGISTERS };

struct frame_state {
	int32_t cfa;
	uint8_t cfa_register;
	bool is_unsupported;
	struct rule at[COLUMNS];
};

/* The data that FDEs of one CIE share. */
struct shared {
	uint64_t offset; /* in its section; look-ups use it */
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t encoding;      /* of addresses */
	bool has_augmentation; /* entries have augmentation data behind their addresses */
	bool is_signal;
	bool is_usable;
	struct frame_state initial;
};

/* The code of one entry, and its instructions. */
struct entry {
	uint64_t offset; /* in the image */
	uint64_t end;
	const uint8_t *instructions;
	const uint8_t *instructions_end;
	const struct shared *shared;
	uint64_t address; /* link-time address of `offset`, for DW_CFA_set_loc */
};

struct builder {
	struct hp_unwind_table *table;
	struct raw_rows rows; /* all but the last row, which may still change */
	struct row row;	      /* the last one, … */
	bool has_row;	      /* … if there is one */
	uint16_t *slots;      /* hash of recipes, at most half full; 0: free */
	size_t slot_count;    /* a power of two */
	size_t most_recipes;  /* of the table */
	uint64_t last;	      /* offset of the last row */
	uint64_t floor;	      /* rows below it belong to an earlier entry */
};

/* False when memory is short. */
bool builder_begin(struct builder *builder, struct hp_unwind_table *table);
void builder_end(struct builder *builder);

/* Forgets the rows: the next entry may be anywhere. Recipes stay. */
void builder_restart(struct builder *builder);

/* Runs the instructions that all entries begin with. */
void rows_share(struct builder *builder, struct shared *shared, struct hp_cursor instructions);

/* Adds the rows of an entry. Entries come in order of their offsets. False when memory is short. */
bool rows_add(struct builder *builder, const struct entry *entry);

/* Call after the last entry: `rows` has all rows. False when memory is short. */
bool rows_complete(struct builder *builder);

/* Instead: completes the table. */
bool rows_finish(struct builder *builder);

#endif
