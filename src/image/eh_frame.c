/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds extents of procedures in unwind data, which stripped files have, too. libdw splits the
 * section into entries.
 */
#include "extent.h"

#include <hpcprof/base/elf_section.h>
#include <hpcprof/base/encoded.h>
#include <hpcprof/base/search.h>

#include <limits.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

enum { NO_CIE = -1 };

struct unwind_section {
	Elf_Data *data;
	uint64_t address; /* link-time address of its first byte */
	struct hp_encoded_form form;
};

/* The data of a CIE that its FDEs need. */
struct cie_says {
	bool usable;
	bool has_augmentation; /* their augmentation data begins with its length */
	uint8_t encoding;      /* of addresses */
	uint8_t lsda_encoding; /* of the pointer to the exception table */
};

static struct cie_says read_cie(const struct unwind_section *section, const Dwarf_CIE *cie)
{
	const char *augmentation = cie->augmentation;
	struct hp_cursor cursor = { cie->augmentation_data,
				    cie->augmentation_data + cie->augmentation_data_size };
	struct cie_says says = { .encoding = DW_EH_PE_absptr, .lsda_encoding = DW_EH_PE_omit };

	says.usable = *augmentation == '\0';
	if (*augmentation != 'z' || !cie->augmentation_data)
		return says;
	says.has_augmentation = true;
	while (*++augmentation) {
		uint64_t value = 0;
		uint64_t ignored;

		switch (*augmentation) {
		case 'R':
			if (!hp_encoded_fixed(section->form, &cursor, 1, false, &value))
				return says;
			says.encoding = (uint8_t)value;
			says.usable = true;
			break;
		case 'L':
			if (!hp_encoded_fixed(section->form, &cursor, 1, false, &value))
				return says;
			says.lsda_encoding = (uint8_t)value;
			break;
		case 'P':
			if (!hp_encoded_fixed(section->form, &cursor, 1, false, &value) ||
			    !hp_encoded_pointer(section->form, &cursor, (uint8_t)value, &ignored))
				return says;
			break;
		case 'S': /* signal frame */
		case 'B': /* AArch64: return addresses signed with the B key */
		case 'G': /* AArch64: memory tagging */
			break;
		default:
			return says;
		}
	}
	says.usable = true;
	return says;
}

/* Returns the address of the exception table, 0 without one. The pointer may be absolute or
 * relative to its own place; no other base is in use. */
static uint64_t fde_lsda(const struct unwind_section *section, const struct cie_says *cie,
			 struct hp_cursor *cursor)
{
	const uint8_t *origin = section->data->d_buf;
	uint64_t length;
	uint64_t address;
	uint64_t here;

	if (!cie->has_augmentation || cie->lsda_encoding == DW_EH_PE_omit ||
	    (cie->lsda_encoding & DW_EH_PE_indirect) ||
	    !hp_encoded_leb128(cursor, false, &length) || length == 0)
		return 0;
	here = section->address + (uint64_t)(cursor->at - origin);
	if (!hp_encoded_pointer(section->form, cursor, cie->lsda_encoding, &address) ||
	    address == 0)
		return 0;
	switch (cie->lsda_encoding & HP_ENCODING_BASE) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		address += here;
		break;
	default:
		return 0;
	}
	return section->form.is_64 ? address : address & UINT32_MAX;
}

static bool fde_extent(const struct unwind_section *section, const Dwarf_FDE *fde,
		       const struct cie_says *cie, struct extent *extent)
{
	uint8_t encoding = cie->encoding;
	struct hp_cursor cursor = { fde->start, fde->end };
	const uint8_t *origin = section->data->d_buf;
	uint64_t here = section->address + (uint64_t)(cursor.at - origin);

	if (encoding == DW_EH_PE_omit || (encoding & DW_EH_PE_indirect))
		return false;
	if (!hp_encoded_pointer(section->form, &cursor, encoding, &extent->address) ||
	    !hp_encoded_pointer(section->form, &cursor, encoding & HP_ENCODING_FORMAT,
				&extent->size))
		return false;
	switch (encoding & HP_ENCODING_BASE) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		extent->address += here;
		break;
	default: /* relative to text or data, which is obsolete */
		return false;
	}
	if (!section->form.is_64)
		extent->address &= UINT32_MAX;
	extent->lsda = fde_lsda(section, cie, &cursor);
	return true;
}

static bool push_extent(const struct elf_file *file, struct extent extent, extents *found)
{
	const struct elf_text *text = elf_file_text_at(file, extent.address);

	if (!text || extent.size == 0)
		return true; /* discarded code, or damage */
	if (extent.size > text->end - extent.address)
		extent.size = text->end - extent.address;
	return hp_vector_push(found, extent);
}

HP_ORDER_BY_TWO(compare_extents, struct extent, address, size);

/* Without section headers, .eh_frame_hdr, which has a program header, gives the beginning of
 * .eh_frame; a zero word ends it. */
static bool find_by_segment(const struct elf_file *file, struct unwind_section *section,
			    uint64_t header_address)
{
	const struct elf_segment *segment = elf_file_segment_at(file, header_address);
	struct hp_cursor cursor;
	uint64_t address;
	uint64_t skip;

	if (!segment)
		return false;
	skip = header_address - segment->address;
	cursor.at = file->bytes + segment->offset + skip;
	cursor.end = file->bytes + segment->offset + segment->file_bytes;
	if (cursor.end - cursor.at < 8 || cursor.at[0] != 1 ||
	    (cursor.at[1] & HP_ENCODING_BASE) != DW_EH_PE_pcrel)
		return false;
	skip = cursor.at[1];
	cursor.at += 4;
	if (!hp_encoded_pointer(section->form, &cursor, (uint8_t)skip, &address))
		return false;
	address += header_address + 4;
	if (!section->form.is_64)
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
	Elf_Scn *scn = hp_elf_section(file->elf, ".eh_frame", &header);
	size_t count;

	section->form.is_64 = file->header.e_ident[EI_CLASS] == ELFCLASS64;
	section->form.big_endian = file->header.e_ident[EI_DATA] == ELFDATA2MSB;
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
	struct cie_says says = { 0 };
	Dwarf_CFI_Entry entry;

	if (!find_section(file, &section))
		return true;
	for (;;) {
		struct extent extent;
		int result;

		next = offset;
		result = dwarf_next_cfi(file->header.e_ident, section.data, true, offset, &next,
					&entry);
		/* libdw can step over some entries that it cannot parse. */
		if (result > 0 || next <= offset)
			break;
		offset = next;
		if (result < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (cie_offset != (int64_t)entry.fde.CIE_pointer) {
			Dwarf_CFI_Entry cie;
			Dwarf_Off ignored;

			cie_offset = (int64_t)entry.fde.CIE_pointer;
			says = (struct cie_says){ 0 };
			if (dwarf_next_cfi(file->header.e_ident, section.data, true,
					   entry.fde.CIE_pointer, &ignored, &cie) == 0 &&
			    dwarf_cfi_cie_p(&cie))
				says = read_cie(&section, &cie.cie);
		}
		if (says.usable && fde_extent(&section, &entry.fde, &says, &extent) &&
		    !push_extent(file, extent, found))
			return false;
	}
	if (found->count > 1)
		qsort(found->at, found->count, sizeof(*found->at), compare_extents);
	return true;
}
