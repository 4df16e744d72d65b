/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes tables from files: finds the sections, which libdw splits into entries. */
#include "entries.h"

#include <hpcprof/base/elf_section.h>

#include <dwarf.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct hp_encoded_form form = { .is_64 = true };

struct making {
	Elf *elf;
	const unsigned char *ident;
	struct entries entries;
};

/* --- the file -------------------------------------------------------------------------------- */

static bool unpacks_too_far(Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Chdr compressed;

	return !gelf_getchdr(section, &compressed) || compressed.ch_size > MOST_SECTION_BYTES ||
	       compressed.ch_size > FREE_UNPACKED_BYTES + header->sh_size * MOST_UNPACKED_TIMES;
}

/* Go's compiler compresses .debug_frame. */
static Elf_Data *contents_of(Elf_Scn *section, const GElf_Shdr *header)
{
	if (header->sh_size > MOST_SECTION_BYTES)
		return NULL;
	if (!(header->sh_flags & SHF_COMPRESSED))
		return elf_rawdata(section, NULL);
	if (unpacks_too_far(section, header) || elf_compress(section, 0, 0) < 0)
		return NULL;
	return elf_getdata(section, NULL);
}

/* Without section headers .eh_frame_hdr, which has a program header, says where .eh_frame begins; a
 * zero word ends it. */
static void find_by_segment(const struct making *making, uint64_t frame_header,
			    struct section *section)
{
	const struct segment *segment = entries_segment(&making->entries, frame_header);
	const Elf_Data *data;
	struct hp_cursor cursor;
	uint64_t address;
	uint64_t bytes;

	if (!segment)
		return;
	data = elf_getdata_rawchunk(making->elf,
				    (int64_t)(segment->offset + (frame_header - segment->address)),
				    12, ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size != 12)
		return;
	cursor = (struct hp_cursor){ (uint8_t *)data->d_buf + 4, (uint8_t *)data->d_buf + 12 };
	if (cursor.at[-4] != 1 || (cursor.at[-3] & HP_ENCODING_BASE) != DW_EH_PE_pcrel ||
	    !hp_encoded_pointer(form, &cursor, cursor.at[-3], &address))
		return;
	address += frame_header + 4;
	segment = entries_segment(&making->entries, address);
	if (!segment)
		return;
	bytes = segment->bytes - (address - segment->address);
	if (bytes > MOST_SECTION_BYTES)
		bytes = MOST_SECTION_BYTES;
	section->address = address;
	section->data = elf_getdata_rawchunk(
		making->elf, (int64_t)(segment->offset + (address - segment->address)), bytes,
		ELF_T_BYTE);
}

/* --- entries ---------------------------------------------------------------------------------- */

enum kinds { CIES = 1, FDES = 2 };

/* Visits entries of these kinds. */
static void walk(struct making *making, struct section *section, unsigned kinds)
{
	Dwarf_Off offset = 0;
	Dwarf_Off next;

	for (;;) {
		Dwarf_CFI_Entry entry;
		const struct shared *shared;
		int result;

		next = offset;
		result = dwarf_next_cfi(making->ident, section->data, section->is_eh_frame, offset,
					&next, &entry);
		/* libdw can step over some entries that it cannot parse. */
		if (result > 0 || next <= offset || making->entries.no_memory)
			return;
		if (result == 0 && dwarf_cfi_cie_p(&entry)) {
			if (kinds & CIES)
				entries_add_shared(&making->entries, section, offset, &entry.cie);
		} else if (result == 0 && (kinds & FDES)) {
			shared = entries_find_shared(&making->entries, section,
						     entry.fde.CIE_pointer);
			if (shared && shared->is_usable)
				entries_add(&making->entries, section, &entry.fde, shared);
		}
		offset = next;
	}
}

static void read_section(struct making *making, struct section *section)
{
	if (!section->data || !section->data->d_buf || !section->data->d_size)
		return;
	section->first_shared = making->entries.shared.count;
	section->budget = (uint64_t)section->data->d_size * MOST_TIMES_RUN;
	making->entries.builder.table->source_bytes += section->data->d_size;
	if (section->is_eh_frame) {
		walk(making, section, CIES | FDES);
		return;
	}
	/* In .debug_frame, an entry may refer to a later CIE. */
	walk(making, section, CIES);
	walk(making, section, FDES);
}

static void read_sections(struct making *making, uint64_t frame_header)
{
	struct section eh_frame = { .is_eh_frame = true };
	struct section debug_frame = { 0 };
	GElf_Shdr header;
	Elf_Scn *section = hp_elf_section(making->elf, ".eh_frame", &header);

	if (section) {
		eh_frame.address = header.sh_addr;
		eh_frame.data = contents_of(section, &header);
	} else if (frame_header) {
		find_by_segment(making, frame_header, &eh_frame);
	}
	read_section(making, &eh_frame);
	section = hp_elf_section(making->elf, ".debug_frame", &header);
	if (section)
		debug_frame.data = contents_of(section, &header);
	read_section(making, &debug_frame);
}

/* --- all together ---------------------------------------------------------------------------- */

/* Sorts by address; of two entries for the same code, that of the first section comes first. */
static int compare_found(const void *left, const void *right)
{
	const struct found *a = left;
	const struct found *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->shared > b->shared) - (a->shared < b->shared);
}

/* Keeps where the procedures of sorted entries begin. */
static bool keep_procedures(struct hp_unwind_table *table, const struct found *found, size_t count)
{
	if (!hp_vector_reserve(&table->procedures, count))
		return false;
	for (size_t i = 0; i < count && found[i].offset <= UINT32_MAX; i++)
		table->procedures.at[table->procedures.count++] = (uint32_t)found[i].offset;
	return true;
}

static void fill(struct making *making)
{
	struct found *found = making->entries.found.at;
	bool ok;

	if (making->entries.found.count > 1)
		qsort(found, making->entries.found.count, sizeof(*found), compare_found);
	ok = keep_procedures(making->entries.builder.table, found, making->entries.found.count);
	for (size_t i = 0; ok && i < making->entries.found.count; i++)
		ok = entries_add_rows(&making->entries, &found[i]);
	making->entries.no_memory |= !ok;
	/* Frees the entries, because packing needs memory. */
	hp_vector_free(&making->entries.found);
	elf_end(making->elf);
	making->elf = NULL;
	making->entries.no_memory |= !rows_finish(&making->entries.builder);
}

/* Makes the table, and closes `elf`. */
static struct hp_error *make(Elf *elf, struct hp_unwind_table **result)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table =
		calloc(1, sizeof(*table));
	struct making making = { .elf = elf };
	GElf_Ehdr header;
	uint64_t frame_header;
	bool is_ours = elf && entries_are_of_machine(elf, &header);

	if (is_ours && table && builder_begin(&making.entries.builder, table)) {
		making.ident = header.e_ident;
		entries_read_segments(&making.entries, elf, &frame_header);
		read_sections(&making, frame_header);
		fill(&making);
	} else {
		making.entries.no_memory = is_ours || !table;
	}
	entries_free(&making.entries);
	elf_end(making.elf);
	if (making.entries.no_memory)
		return hp_error_create_no_memory();
	if (!is_ours)
		return hp_error_create(HP_ERROR_DAMAGED, "no 64-bit ELF program of this machine");
	*result = hp_steal(table);
	return NULL;
}

struct hp_error *hp_unwind_table_of_fd(int fd, struct hp_unwind_table **table)
{
	elf_version(EV_CURRENT);
	return make(elf_begin(fd, ELF_C_READ, NULL), table);
}

struct hp_error *hp_unwind_table_of_bytes(const void *bytes, size_t size,
					  struct hp_unwind_table **table)
{
	/* libelf requires writable memory. */
	_cleanup_free_ char *copy = malloc(size + 1);

	if (!copy)
		return hp_error_create_no_memory();
	memcpy(copy, bytes, size);
	elf_version(EV_CURRENT);
	return make(elf_memory(copy, size), table);
}
