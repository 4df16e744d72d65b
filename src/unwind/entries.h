/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of call frame information, as libdw splits them: CIEs, which say what others share, and
 * FDEs, which are about a stretch of code each.
 */
#ifndef UNWIND_ENTRIES_H
#define UNWIND_ENTRIES_H

#include "rows.h"

#include <elfutils/libdw.h>
#include <gelf.h>

struct segment {
	uint64_t address;
	uint64_t offset;
	uint64_t bytes;
};

/* An entry of either section, before entries are put in order. */
struct found {
	uint64_t offset;
	uint64_t end;
	uint64_t address;
	const uint8_t *instructions;
	const uint8_t *instructions_end;
	uint32_t shared; /* index */
};

struct section {
	Elf_Data *data;
	uint64_t address; /* link-time address of its first byte */
	bool is_eh_frame;
	size_t first_shared; /* its CIEs begin here in `shared` of the entries */
	uint64_t budget;     /* bytes of instructions that may still be executed */
};

struct entries {
	HP_VECTOR(struct segment) segments; /* with code */
	HP_VECTOR(struct shared) shared;
	HP_VECTOR(struct found) found;
	struct builder builder;
	bool no_memory;
};

void entries_free(struct entries *entries);

/* Whether a file is a 64-bit program of this machine; fills in its header. */
bool entries_are_of_machine(Elf *elf, GElf_Ehdr *header);

/* Reads the segments, and the address of .eh_frame_hdr; 0: none. */
void entries_read_segments(struct entries *entries, Elf *elf, uint64_t *frame_header);

/* Returns the segment that contains the address. */
const struct segment *entries_segment(const struct entries *entries, uint64_t address);

/* Adds a CIE. Those of a section are added in order of their offsets in it. */
void entries_add_shared(struct entries *entries, struct section *section, uint64_t offset,
			const Dwarf_CIE *cie);

/* Returns what was added with this offset, if entries can use it; otherwise NULL. */
const struct shared *entries_find_shared(const struct entries *entries,
					 const struct section *section, uint64_t offset);

/* Adds an FDE to `found`, unless it is damaged or its code is in no segment. */
void entries_add(struct entries *entries, struct section *section, const Dwarf_FDE *fde,
		 const struct shared *shared);

/* Runs the instructions of what was found. False when memory is short. */
bool entries_add_rows(struct entries *entries, const struct found *found);

#endif
