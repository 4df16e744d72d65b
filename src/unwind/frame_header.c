/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the index of a file, which .eh_frame_hdr contains. */
#include "index.h"

#include <hpcprof/base/elf_section.h>

#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* The header of .eh_frame_hdr, with the encodings that all linkers use. */
struct frame_header {
	uint8_t version;
	uint8_t frame_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t frame; /* address of .eh_frame, from this member */
	uint32_t count;
};

/* An entry of its table: addresses, from the header's. */
struct header_entry {
	int32_t code;
	int32_t entry;
};

/* Adds a procedure. False if it is not behind the one before, or anywhere else than it should be. */
static bool add(struct index *index, const struct header_entry *entry, uint64_t header)
{
	uint64_t address = header + (uint64_t)(int64_t)entry->code;
	uint64_t at = header + (uint64_t)(int64_t)entry->entry - index->section.address;
	const struct segment *segment = entries_segment(&index->entries, address);
	uint64_t offset;

	if (!segment || at >= index->bytes)
		return false;
	offset = segment->offset + (address - segment->address);
	if (!index->at.count)
		index->first = offset;
	if (offset < index->first || offset - index->first > UINT32_MAX ||
	    (index->at.count && offset - index->first <= index->at.at[index->at.count - 1].place))
		return false;
	return hp_vector_push(&index->at,
			      (struct indexed){ (uint32_t)(offset - index->first), (uint32_t)at });
}

/* requires: a procedure. */
static bool make_begins(struct index *index)
{
	const struct indexed *indexed = index->at.at;
	size_t count = index->at.count;
	uint32_t last = indexed[count - 1].place;
	size_t i = 0;

	while (last >> index->begins_shift > count / PROCEDURES_PER_BEGIN)
		index->begins_shift++;
	for (uint32_t part = 0; part <= (last >> index->begins_shift) + 1; part++) {
		while (i < count && indexed[i].place >> index->begins_shift < part)
			i++;
		if (!hp_vector_push(&index->begins, (uint32_t)i))
			return false;
	}
	return true;
}

/* Reads the table of .eh_frame_hdr. False if it is of another kind, or not in order: then what it
 * says is not relied on. */
static bool read_header(struct index *index, Elf *elf, uint64_t address)
{
	const struct segment *segment = entries_segment(&index->entries, address);
	struct frame_header header;
	struct header_entry entry;
	const Elf_Data *data;
	uint64_t offset;

	if (!segment || segment->bytes - (address - segment->address) < sizeof(header))
		return false;
	offset = segment->offset + (address - segment->address);
	data = elf_getdata_rawchunk(elf, (int64_t)offset, sizeof(header), ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size != sizeof(header))
		return false;
	memcpy(&header, data->d_buf, sizeof(header));
	if (header.version != 1 || header.frame_encoding != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) ||
	    header.count_encoding != DW_EH_PE_udata4 ||
	    header.table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    address + offsetof(struct frame_header, frame) + (uint64_t)(int64_t)header.frame !=
		    index->section.address ||
	    header.count == 0 || header.count > MOST_INDEX_ENTRIES)
		return false;
	data = elf_getdata_rawchunk(elf, (int64_t)(offset + sizeof(header)),
				    header.count * sizeof(entry), ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size != header.count * sizeof(entry) ||
	    !hp_vector_reserve(&index->at, header.count))
		return false;
	for (uint32_t i = 0; i < header.count; i++) {
		memcpy(&entry, (const uint8_t *)data->d_buf + i * sizeof(entry), sizeof(entry));
		if (!add(index, &entry, address))
			return false;
	}
	return make_begins(index);
}

/* False if the file has no index, or more than .eh_frame. */
static bool read_file(struct index *index, Elf *elf, uint64_t least_bytes)
{
	uint64_t frame_header;
	GElf_Ehdr header;
	GElf_Shdr section;

	if (!entries_are_of_machine(elf, &header) ||
	    hp_elf_section(elf, ".debug_frame", &section) ||
	    !hp_elf_section(elf, ".eh_frame", &section) || section.sh_flags & SHF_COMPRESSED ||
	    section.sh_size < least_bytes || section.sh_size > MOST_SECTION_BYTES)
		return false;
	memcpy(index->ident, header.e_ident, sizeof(index->ident));
	index->section.is_eh_frame = true;
	index->section.address = section.sh_addr;
	index->section.budget = section.sh_size * MOST_TIMES_RUN;
	index->offset = section.sh_offset;
	index->bytes = section.sh_size;
	entries_read_segments(&index->entries, elf, &frame_header);
	return frame_header && !index->entries.no_memory && read_header(index, elf, frame_header);
}

struct hp_error *hp_unwind_table_of_index(int fd, uint64_t least_bytes,
					  struct hp_unwind_table **result)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table =
		calloc(1, sizeof(*table));
	struct index *index = table ? calloc(1, sizeof(*index)) : NULL;
	bool is_read;
	Elf *elf;

	if (!index)
		return hp_error_create_no_memory();
	table->index = index;
	index->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	/* Recipes must not move, as their addresses are given away. */
	if (!builder_begin(&index->entries.builder, table) ||
	    !hp_vector_reserve(&table->recipes, MOST_INDEXED_RECIPES))
		return hp_error_create_no_memory();
	index->entries.builder.most_recipes = MOST_INDEXED_RECIPES;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	is_read = index->fd >= 0 && fstat(index->fd, &index->status) == 0 && elf &&
		  read_file(index, elf, least_bytes);
	elf_end(elf);
	if (!is_read)
		return hp_error_create(HP_ERROR_NOT_FOUND, "no index of call frame information");
	table->source_bytes = index->bytes;
	*result = hp_steal(table);
	return NULL;
}
