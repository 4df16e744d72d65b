/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes tables from files: finds the sections, which libdw splits into entries. */
#include "rows.h"

#include <hpcprof/base/elf_section.h>
#include <hpcprof/base/search.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct hp_encoded_form form = { .is_64 = true };

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
	size_t first_shared; /* its CIEs begin here in `making.shared` */
	uint64_t budget;     /* bytes of instructions that may still be executed */
};

struct making {
	Elf *elf;
	const unsigned char *ident;
	HP_VECTOR(struct segment) segments; /* with code */
	HP_VECTOR(struct shared) shared;
	HP_VECTOR(struct found) found;
	struct builder builder;
	bool no_memory;
};

/* --- the file -------------------------------------------------------------------------------- */

static bool is_of_this_machine(Elf *elf, GElf_Ehdr *header)
{
	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, header) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == EM_X86_64 &&
	       (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

/* Returns the segment that contains the address. The section may be in any loaded segment; code is
 * only in executable ones. */
static const struct segment *segment_at(const struct making *making, uint64_t address)
{
	for (size_t i = 0; i < making->segments.count; i++) {
		const struct segment *segment = &making->segments.at[i];

		if (address >= segment->address && address - segment->address < segment->bytes)
			return segment;
	}
	return NULL;
}

static void read_segments(struct making *making, uint64_t *frame_header)
{
	size_t count;

	*frame_header = 0;
	if (elf_getphdrnum(making->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && i <= INT_MAX; i++) {
		GElf_Phdr header;
		struct segment segment;

		if (!gelf_getphdr(making->elf, (int)i, &header))
			return;
		if (header.p_type == PT_GNU_EH_FRAME)
			*frame_header = header.p_vaddr;
		if (header.p_type != PT_LOAD || header.p_filesz == 0 ||
		    header.p_filesz > UINT64_MAX - header.p_vaddr ||
		    header.p_filesz > UINT64_MAX - header.p_offset)
			continue;
		segment = (struct segment){ header.p_vaddr, header.p_offset, header.p_filesz };
		making->no_memory |= !hp_vector_push(&making->segments, segment);
	}
}

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
	const struct segment *segment = segment_at(making, frame_header);
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
	segment = segment_at(making, address);
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

/* --- entries --------------------------------------------------------------------------------- */

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

static void add_shared(struct making *making, struct section *section, uint64_t offset,
		       const Dwarf_CIE *cie)
{
	struct shared shared = {
		.offset = offset,
		.code_factor = cie->code_alignment_factor,
		.data_factor = cie->data_alignment_factor,
		.encoding = DW_EH_PE_absptr,
	};

	if (making->shared.count >= MOST_CIES)
		return;
	shared.is_usable =
		read_augmentation(cie, &shared) && shared.encoding != DW_EH_PE_omit &&
		!(shared.encoding & DW_EH_PE_indirect) &&
		cie->return_address_register == HP_UNWIND_RIP &&
		take_bytes(section, cie->initial_instructions, cie->initial_instructions_end);
	if (shared.is_usable)
		rows_share(&making->builder, &shared,
			   (struct hp_cursor){ cie->initial_instructions,
					       cie->initial_instructions_end });
	making->no_memory |= !hp_vector_push(&making->shared, shared);
}

/* The CIEs of a section are in order. */
static const struct shared *find_shared(const struct making *making, const struct section *section,
					uint64_t offset)
{
	const struct shared *own = making->shared.at + section->first_shared;
	size_t count = making->shared.count - section->first_shared;
	size_t at = hp_bisect(i, count, own[i].offset < offset);

	return at < count && own[at].offset == offset ? &own[at] : NULL;
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
static bool place(const struct making *making, struct found *found, uint64_t size)
{
	const struct segment *segment = segment_at(making, found->address);
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

static void add_entry(struct making *making, struct section *section, const Dwarf_FDE *fde,
		      const struct shared *shared)
{
	struct hp_cursor cursor = { fde->start, fde->end };
	uint64_t here = section->address + (uint64_t)(cursor.at - (uint8_t *)section->data->d_buf);
	struct found found = { .shared = (uint32_t)(shared - making->shared.at) };
	uint64_t size;

	if (!hp_encoded_pointer(form, &cursor, shared->encoding, &found.address) ||
	    !hp_encoded_pointer(form, &cursor, shared->encoding & HP_ENCODING_FORMAT, &size))
		return;
	if ((shared->encoding & HP_ENCODING_BASE) == DW_EH_PE_pcrel)
		found.address += here;
	else if ((shared->encoding & HP_ENCODING_BASE) != DW_EH_PE_absptr)
		return;
	if ((shared->has_augmentation && !skip_augmentation(&cursor)) ||
	    !take_bytes(section, cursor.at, cursor.end) || !place(making, &found, size))
		return;
	found.instructions = cursor.at;
	found.instructions_end = cursor.end;
	making->no_memory |= !hp_vector_push(&making->found, found);
}

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
		if (result > 0 || next <= offset || making->no_memory)
			return;
		if (result == 0 && dwarf_cfi_cie_p(&entry)) {
			if (kinds & CIES)
				add_shared(making, section, offset, &entry.cie);
		} else if (result == 0 && (kinds & FDES)) {
			shared = find_shared(making, section, entry.fde.CIE_pointer);
			if (shared && shared->is_usable)
				add_entry(making, section, &entry.fde, shared);
		}
		offset = next;
	}
}

static void read_section(struct making *making, struct section *section)
{
	if (!section->data || !section->data->d_buf || !section->data->d_size)
		return;
	section->first_shared = making->shared.count;
	section->budget = (uint64_t)section->data->d_size * MOST_TIMES_RUN;
	making->builder.table->source_bytes += section->data->d_size;
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

static void fill(struct making *making)
{
	struct found *found = making->found.at;
	bool ok = true;

	if (making->found.count > 1)
		qsort(found, making->found.count, sizeof(*found), compare_found);
	for (size_t i = 0; ok && i < making->found.count; i++) {
		const struct entry entry = {
			.offset = found[i].offset,
			.end = found[i].end,
			.address = found[i].address,
			.instructions = found[i].instructions,
			.instructions_end = found[i].instructions_end,
			.shared = &making->shared.at[found[i].shared],
		};

		ok = rows_add(&making->builder, &entry);
	}
	making->no_memory |= !ok;
	/* Frees the entries, because packing needs memory. */
	hp_vector_free(&making->found);
	elf_end(making->elf);
	making->elf = NULL;
	making->no_memory |= !rows_finish(&making->builder);
}

/* Makes the table, and closes `elf`. */
static struct hp_error *make(Elf *elf, struct hp_unwind_table **result)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table =
		calloc(1, sizeof(*table));
	struct making making = { .elf = elf };
	GElf_Ehdr header;
	uint64_t frame_header;
	bool is_ours = elf && is_of_this_machine(elf, &header);

	if (is_ours && table && builder_begin(&making.builder, table)) {
		making.ident = header.e_ident;
		read_segments(&making, &frame_header);
		read_sections(&making, frame_header);
		fill(&making);
	} else {
		making.no_memory = is_ours || !table;
	}
	builder_end(&making.builder);
	hp_vector_free(&making.segments);
	hp_vector_free(&making.shared);
	hp_vector_free(&making.found);
	elf_end(making.elf);
	if (making.no_memory)
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
