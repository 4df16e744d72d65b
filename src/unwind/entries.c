/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "entries.h"

#include <hpcprof/base/search.h>

#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>

static const struct hp_encoded_form form = { .is_64 = true };

bool entries_are_of_machine(Elf *elf, GElf_Ehdr *header)
{
	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, header) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == EM_X86_64 &&
	       (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

void entries_read_segments(struct entries *entries, Elf *elf, uint64_t *frame_header)
{
	size_t count;

	*frame_header = 0;
	if (elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && i <= INT_MAX; i++) {
		GElf_Phdr header;
		struct segment segment;

		if (!gelf_getphdr(elf, (int)i, &header))
			return;
		if (header.p_type == PT_GNU_EH_FRAME)
			*frame_header = header.p_vaddr;
		if (header.p_type != PT_LOAD || header.p_filesz == 0 ||
		    header.p_filesz > UINT64_MAX - header.p_vaddr ||
		    header.p_filesz > UINT64_MAX - header.p_offset)
			continue;
		segment = (struct segment){ header.p_vaddr, header.p_offset, header.p_filesz };
		entries->no_memory |= !hp_vector_push(&entries->segments, segment);
	}
}

/* The section may be in any loaded segment; code is only in executable ones. */
const struct segment *entries_segment(const struct entries *entries, uint64_t address)
{
	for (size_t i = 0; i < entries->segments.count; i++) {
		const struct segment *segment = &entries->segments.at[i];

		if (address >= segment->address && address - segment->address < segment->bytes)
			return segment;
	}
	return NULL;
}

void entries_free(struct entries *entries)
{
	builder_end(&entries->builder);
	hp_vector_free(&entries->segments);
	hp_vector_free(&entries->shared);
	hp_vector_free(&entries->found);
}

/* Reads the augmentation: how addresses are encoded, and whether frames are of a signal. False if
 * something in it is unknown. */
static bool read_augmentation(const Dwarf_CIE *cie, struct shared *shared)
{
	const char *letters = cie->augmentation;
	struct hp_cursor cursor = { cie->augmentation_data,
				    cie->augmentation_data + cie->augmentation_data_size };
	uint64_t value = 0;
	uint64_t ignored;

	if (!*letters)
		return true;
	if (*letters != 'z' || !cie->augmentation_data)
		return false;
	shared->has_augmentation = true;
	while (*++letters) {
		switch (*letters) {
		case 'R':
			if (!hp_encoded_fixed(form, &cursor, 1, false, &value))
				return false;
			shared->encoding = (uint8_t)value;
			break;
		case 'L':
			if (!hp_encoded_fixed(form, &cursor, 1, false, &value))
				return false;
			break;
		case 'P':
			if (!hp_encoded_fixed(form, &cursor, 1, false, &value) ||
			    !hp_encoded_pointer(form, &cursor, (uint8_t)value, &ignored))
				return false;
			break;
		case 'S':
			shared->is_signal = true;
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool take_bytes(struct section *section, const uint8_t *from, const uint8_t *to)
{
	uint64_t bytes = (uint64_t)(to - from);

	if (to < from || bytes > section->budget)
		return false;
	section->budget -= bytes;
	return true;
}

void entries_add_shared(struct entries *entries, struct section *section, uint64_t offset,
			const Dwarf_CIE *cie)
{
	struct shared shared = {
		.offset = offset,
		.code_factor = cie->code_alignment_factor,
		.data_factor = cie->data_alignment_factor,
		.encoding = DW_EH_PE_absptr,
	};

	if (entries->shared.count >= MOST_CIES)
		return;
	shared.is_usable =
		read_augmentation(cie, &shared) && shared.encoding != DW_EH_PE_omit &&
		!(shared.encoding & DW_EH_PE_indirect) &&
		cie->return_address_register == HP_UNWIND_RIP &&
		take_bytes(section, cie->initial_instructions, cie->initial_instructions_end);
	if (shared.is_usable)
		rows_share(&entries->builder, &shared,
			   (struct hp_cursor){ cie->initial_instructions,
					       cie->initial_instructions_end });
	entries->no_memory |= !hp_vector_push(&entries->shared, shared);
}

/* The CIEs of a section are in order. */
const struct shared *entries_find_shared(const struct entries *entries,
					 const struct section *section, uint64_t offset)
{
	const struct shared *shared = entries->shared.at;
	size_t first = section->first_shared;
	size_t count = entries->shared.count;
	size_t at = first + hp_bisect(i, count - first, shared[first + i].offset < offset);

	return at < count && shared[at].offset == offset ? &shared[at] : NULL;
}

/* Skips the augmentation data of an entry, which only contains the address of its exception
 * table. */
static bool skip_augmentation(struct hp_cursor *cursor)
{
	uint64_t length;

	if (!hp_encoded_leb128(cursor, false, &length) ||
	    length > (uint64_t)(cursor->end - cursor->at))
		return false;
	cursor->at += length;
	return true;
}

/* Finds the place of the entry's code in the file, cut to its segment. */
static bool place(const struct entries *entries, struct found *found, uint64_t size)
{
	const struct segment *segment = entries_segment(entries, found->address);
	uint64_t skip;

	if (!segment || size == 0)
		return false; /* discarded code, or damage */
	skip = found->address - segment->address;
	if (size > segment->bytes - skip)
		size = segment->bytes - skip;
	found->offset = segment->offset + skip;
	found->end = found->offset + size;
	return true;
}

void entries_add(struct entries *entries, struct section *section, const Dwarf_FDE *fde,
		 const struct shared *shared)
{
	struct hp_cursor cursor = { fde->start, fde->end };
	uint64_t here = section->address + (uint64_t)(cursor.at - (uint8_t *)section->data->d_buf);
	struct found found = { .shared = (uint32_t)(shared - entries->shared.at) };
	uint64_t size;

	if (!hp_encoded_pointer(form, &cursor, shared->encoding, &found.address) ||
	    !hp_encoded_pointer(form, &cursor, shared->encoding & HP_ENCODING_FORMAT, &size))
		return;
	if ((shared->encoding & HP_ENCODING_BASE) == DW_EH_PE_pcrel)
		found.address += here;
	else if ((shared->encoding & HP_ENCODING_BASE) != DW_EH_PE_absptr)
		return;
	if ((shared->has_augmentation && !skip_augmentation(&cursor)) ||
	    !take_bytes(section, cursor.at, cursor.end) || !place(entries, &found, size))
		return;
	found.instructions = cursor.at;
	found.instructions_end = cursor.end;
	entries->no_memory |= !hp_vector_push(&entries->found, found);
}

bool entries_add_rows(struct entries *entries, const struct found *found)
{
	const struct entry entry = {
		.offset = found->offset,
		.end = found->end,
		.address = found->address,
		.instructions = found->instructions,
		.instructions_end = found->instructions_end,
		.shared = &entries->shared.at[found->shared],
	};

	return rows_add(&entries->builder, &entry);
}
