/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Extents of procedures from unwind data: what a stripped file still says about its code. libdw
 * splits the section into entries; the pointers in them are decoded here (LSB core, section
 * "DWARF Extensions").
 */
#include "extent.h"

#include <limits.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

enum {
	ENCODING_FORMAT = 0x0f,
	ENCODING_BASE = 0x70,
	NO_CIE = -1,
};

struct unwind_section {
	Elf_Data *data;
	uint64_t address; /* link-time address of its first byte */
	bool is_64;
	bool big_endian;
};

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

static bool get_fixed(const struct unwind_section *section, struct cursor *cursor, size_t size,
		      bool is_signed, uint64_t *value)
{
	uint64_t raw = 0;

	if ((size_t)(cursor->end - cursor->at) < size)
		return false;
	for (size_t i = 0; i < size; i++) {
		size_t shift = 8 * (section->big_endian ? size - 1 - i : i);

		raw |= (uint64_t)cursor->at[i] << shift;
	}
	if (is_signed && size < 8 && (raw >> (8 * size - 1)) & 1)
		raw |= ~(uint64_t)0 << (8 * size);
	cursor->at += size;
	*value = raw;
	return true;
}

static bool get_leb128(struct cursor *cursor, bool is_signed, uint64_t *value)
{
	uint64_t raw = 0;
	unsigned shift = 0;

	while (cursor->at < cursor->end && shift < 64) {
		uint8_t byte = *cursor->at++;

		raw |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if (is_signed && shift < 64 && (byte & 0x40))
				raw |= ~(uint64_t)0 << shift;
			*value = raw;
			return true;
		}
	}
	return false;
}

/* A pointer's number, before any base is added. */
static bool get_encoded(const struct unwind_section *section, struct cursor *cursor,
			uint8_t encoding, uint64_t *value)
{
	switch (encoding & ENCODING_FORMAT) {
	case DW_EH_PE_absptr:
		return get_fixed(section, cursor, section->is_64 ? 8 : 4, false, value);
	case DW_EH_PE_uleb128:
		return get_leb128(cursor, false, value);
	case DW_EH_PE_udata2:
		return get_fixed(section, cursor, 2, false, value);
	case DW_EH_PE_udata4:
		return get_fixed(section, cursor, 4, false, value);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return get_fixed(section, cursor, 8, false, value);
	case DW_EH_PE_sleb128:
		return get_leb128(cursor, true, value);
	case DW_EH_PE_sdata2:
		return get_fixed(section, cursor, 2, true, value);
	case DW_EH_PE_sdata4:
		return get_fixed(section, cursor, 4, true, value);
	default:
		return false;
	}
}

/* The encoding of an FDE's addresses, from the augmentation of its CIE. */
static bool cie_encoding(const struct unwind_section *section, const Dwarf_CIE *cie,
			 uint8_t *encoding)
{
	const char *augmentation = cie->augmentation;
	struct cursor cursor = { cie->augmentation_data,
				 cie->augmentation_data + cie->augmentation_data_size };

	*encoding = DW_EH_PE_absptr;
	if (*augmentation != 'z' || !cie->augmentation_data)
		return *augmentation == '\0';
	while (*++augmentation) {
		uint64_t ignored;
		uint64_t personality;

		switch (*augmentation) {
		case 'R':
			if (!get_fixed(section, &cursor, 1, false, &ignored))
				return false;
			*encoding = (uint8_t)ignored;
			return true;
		case 'L':
			if (!get_fixed(section, &cursor, 1, false, &ignored))
				return false;
			break;
		case 'P':
			if (!get_fixed(section, &cursor, 1, false, &personality) ||
			    !get_encoded(section, &cursor, (uint8_t)personality, &ignored))
				return false;
			break;
		case 'S': /* signal frame */
		case 'B': /* AArch64: return addresses signed with the B key */
		case 'G': /* AArch64: memory tagging */
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool fde_extent(const struct unwind_section *section, const Dwarf_FDE *fde, uint8_t encoding,
		       struct extent *extent)
{
	struct cursor cursor = { fde->start, fde->end };
	const uint8_t *origin = section->data->d_buf;
	uint64_t here = section->address + (uint64_t)(cursor.at - origin);

	if (encoding == DW_EH_PE_omit || (encoding & DW_EH_PE_indirect))
		return false;
	if (!get_encoded(section, &cursor, encoding, &extent->address) ||
	    !get_encoded(section, &cursor, encoding & ENCODING_FORMAT, &extent->size))
		return false;
	switch (encoding & ENCODING_BASE) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		extent->address += here;
		break;
	default: /* relative to the text or data of another age */
		return false;
	}
	if (!section->is_64)
		extent->address &= UINT32_MAX;
	return true;
}

static bool push_extent(const struct elf_file *file, struct extent extent, extents *found)
{
	const struct elf_text *text = elf_file_text_at(file, extent.address);

	if (!text || extent.size == 0)
		return true; /* of discarded code, or nonsense */
	if (extent.size > text->end - extent.address)
		extent.size = text->end - extent.address;
	return hp_vector_push(found, extent);
}

static int compare_extents(const void *a, const void *b)
{
	const struct extent *left = a;
	const struct extent *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->size > right->size) - (left->size < right->size);
}

/* Without section headers .eh_frame_hdr, which has a program header, says where it begins; a zero
 * word ends it. */
static bool find_by_segment(const struct elf_file *file, struct unwind_section *section,
			    uint64_t header_address)
{
	const struct elf_segment *segment = elf_file_segment_at(file, header_address);
	struct cursor cursor;
	uint64_t address;
	uint64_t skip;

	if (!segment)
		return false;
	skip = header_address - segment->address;
	cursor.at = file->bytes + segment->offset + skip;
	cursor.end = file->bytes + segment->offset + segment->file_bytes;
	if (cursor.end - cursor.at < 8 || cursor.at[0] != 1 ||
	    (cursor.at[1] & ENCODING_BASE) != DW_EH_PE_pcrel)
		return false;
	skip = cursor.at[1];
	cursor.at += 4;
	if (!get_encoded(section, &cursor, (uint8_t)skip, &address))
		return false;
	address += header_address + 4;
	if (!section->is_64)
		address &= UINT32_MAX;
	segment = elf_file_segment_at(file, address);
	if (!segment)
		return false;
	skip = address - segment->address;
	section->address = address;
	section->data = elf_getdata_rawchunk(file->elf, (int64_t)(segment->offset + skip),
					     (size_t)(segment->file_bytes - skip), ELF_T_BYTE);
	return section->data != NULL;
}

static bool find_section(const struct elf_file *file, struct unwind_section *section)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_file_section(file->elf, ".eh_frame", &header);
	size_t count;

	section->is_64 = file->header.e_ident[EI_CLASS] == ELFCLASS64;
	section->big_endian = file->header.e_ident[EI_DATA] == ELFDATA2MSB;
	if (scn) {
		if (header.sh_type == SHT_NOBITS)
			return false;
		section->address = header.sh_addr;
		section->data = elf_rawdata(scn, NULL);
		return section->data && section->data->d_buf;
	}
	if (elf_getphdrnum(file->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count && i <= INT_MAX; i++) {
		GElf_Phdr program;

		if (gelf_getphdr(file->elf, (int)i, &program) && program.p_type == PT_GNU_EH_FRAME)
			return find_by_segment(file, section, program.p_vaddr);
	}
	return false;
}

bool eh_frame_extents(const struct elf_file *file, extents *found)
{
	struct unwind_section section = { 0 };
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	int64_t cie_offset = NO_CIE;
	bool cie_usable = false;
	uint8_t encoding = 0;
	Dwarf_CFI_Entry entry;

	if (!find_section(file, &section))
		return true;
	for (;;) {
		struct extent extent;
		int result;

		next = offset;
		result = dwarf_next_cfi(file->header.e_ident, section.data, true, offset, &next,
					&entry);
		/* An entry it does not understand may still let us step over it. */
		if (result > 0 || next <= offset)
			break;
		offset = next;
		if (result < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (cie_offset != (int64_t)entry.fde.CIE_pointer) {
			Dwarf_CFI_Entry cie;
			Dwarf_Off ignored;

			cie_offset = (int64_t)entry.fde.CIE_pointer;
			cie_usable = dwarf_next_cfi(file->header.e_ident, section.data, true,
						    entry.fde.CIE_pointer, &ignored, &cie) == 0 &&
				     dwarf_cfi_cie_p(&cie) &&
				     cie_encoding(&section, &cie.cie, &encoding);
		}
		if (cie_usable && fde_extent(&section, &entry.fde, encoding, &extent) &&
		    !push_extent(file, extent, found))
			return false;
	}
	if (found->count > 1)
		qsort(found->at, found->count, sizeof(*found->at), compare_extents);
	return true;
}
