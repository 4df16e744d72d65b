/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names PLT entries. The instructions of an entry give the slot of the global offset table that it
 * jumps through; the relocation of that slot gives the name.
 */
#include "extent.h"

#include <hpcprof/base/elf_section.h>
#include <hpcprof/base/search.h>

#include <limits.h>
#include <string.h>

struct slot {
	uint64_t address; /* in the global offset table */
	const char *name; /* of the symbol, or NULL */
	uint64_t target;  /* without a symbol: the address in the relocation */
};

struct slots {
	HP_VECTOR(struct slot) sorted; /* by address */
	HP_VECTOR(struct slot) lazy;   /* slots of .rela.plt, in its order */
};

static bool is_wanted_relocation(uint16_t machine, uint64_t type, bool *is_relative)
{
	if (machine == EM_X86_64) {
		*is_relative = type == R_X86_64_IRELATIVE;
		return *is_relative || type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	}
	*is_relative = type == R_AARCH64_IRELATIVE;
	return *is_relative || type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static const char *symbol_name(const struct elf_file *file, size_t table, uint64_t index)
{
	Elf_Scn *section = elf_getscn(file->elf, table);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!data || index == 0 || index > INT_MAX || !gelf_getshdr(section, &header) ||
	    !gelf_getsym(data, (int)index, &symbol))
		return NULL;
	return elf_strptr(file->elf, header.sh_link, symbol.st_name);
}

static bool read_relocations(const struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header,
			     bool is_lazy, struct slots *found)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t entry = gelf_fsize(file->elf, ELF_T_RELA, 1, EV_CURRENT);

	if (!data || entry == 0)
		return true;
	for (size_t i = 0; i < data->d_size / entry && i <= INT_MAX; i++) {
		GElf_Rela relocation;
		struct slot slot = { 0 };
		bool is_relative;
		bool is_wanted;

		if (!gelf_getrela(data, (int)i, &relocation))
			break;
		is_wanted = is_wanted_relocation(file->header.e_machine,
						 GELF_R_TYPE(relocation.r_info), &is_relative);
		if (is_wanted) {
			slot.address = relocation.r_offset;
			if (is_relative)
				slot.target = (uint64_t)relocation.r_addend;
			else
				slot.name = symbol_name(file, header->sh_link,
							GELF_R_SYM(relocation.r_info));
			if (!hp_vector_push(&found->sorted, slot))
				return false;
		}
		if (is_lazy && !hp_vector_push(&found->lazy, slot))
			return false;
	}
	return true;
}

HP_ORDER_BY(compare_slots, struct slot, address);

static bool read_slots(const struct elf_file *file, struct slots *found)
{
	GElf_Shdr header;
	Elf_Scn *lazy = hp_elf_section(file->elf, ".rela.plt", &header);
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    (header.sh_flags & SHF_ALLOC) &&
		    !read_relocations(file, section, &header, section == lazy, found))
			return false;
	if (found->sorted.count > 1)
		qsort(found->sorted.at, found->sorted.count, sizeof(struct slot), compare_slots);
	return true;
}

static const struct slot *slot_at(const struct slots *slots, uint64_t address)
{
	struct slot key = { .address = address };

	return slots->sorted.count ? bsearch(&key, slots->sorted.at, slots->sorted.count,
					     sizeof(key), compare_slots)
				   : NULL;
}

/* Finds the slot of an entry by the number that the entry pushes for the dynamic linker. */
static const struct slot *slot_numbered(const struct slots *slots, uint64_t number)
{
	return number < slots->lazy.count ? &slots->lazy.at[number] : NULL;
}

static uint32_t get_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* [endbr64] [bnd] jmp *slot(%rip), or endbr64, push $number of a lazy entry with a second PLT. */
static const struct slot *x86_64_slot(const struct slots *slots, uint64_t address,
				      const uint8_t *bytes, size_t size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (size >= sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0) {
		at = sizeof(endbr64);
		if (size >= at + 5 && bytes[at] == 0x68)
			return slot_numbered(slots, get_u32(bytes + at + 1));
	}
	if (at < size && bytes[at] == 0xf2)
		at++;
	if (size < at + 6 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return NULL;
	return slot_at(slots,
		       address + at + 6 + (uint64_t)(int64_t)(int32_t)get_u32(bytes + at + 2));
}

/* adrp x16, page; ldr x17, [x16, #offset] */
static const struct slot *aarch64_slot(const struct slots *slots, uint64_t address,
				       const uint8_t *bytes, size_t size)
{
	uint32_t adrp;
	uint32_t load;
	int64_t pages;

	if (size < 8)
		return NULL;
	adrp = get_u32(bytes);
	load = get_u32(bytes + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return NULL;
	pages = (int64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
	if (pages & 1 << 20)
		pages -= 1 << 21;
	return slot_at(slots, (address & ~(uint64_t)0xfff) + (uint64_t)pages * 4096 +
				      (uint64_t)(load >> 10 & 0xfff) * 8);
}

struct naming {
	const struct elf_file *file;
	const struct slots *slots;
	const symbols *known;
	struct hp_arena *arena;
	symbols *found;
};

static const char *known_name_at(const symbols *known, uint64_t address)
{
	size_t first = hp_bisect(i, known->count, known->at[i].address < address);

	return first < known->count && known->at[first].address == address ? known->at[first].name
									   : NULL;
}

static bool add_entry(const struct naming *naming, const struct slot *slot,
		      const struct elf_text *text, uint64_t address, uint64_t size)
{
	const char *name = slot->name;
	char *full;
	size_t length;

	if (!name && slot->target)
		name = known_name_at(naming->known, slot->target);
	if (!name || !*name)
		return true;
	length = strcspn(name, "@");
	full = hp_arena_alloc(naming->arena, length + sizeof("@plt"));
	if (!full)
		return false;
	memcpy(full, name, length);
	memcpy(full + length, "@plt", sizeof("@plt"));
	return hp_vector_push(naming->found, (struct symbol){ .address = address,
							      .size = size,
							      .limit = text->end,
							      .name = full,
							      .rank = RANK_PLT });
}

static bool x86_64_entries(const struct naming *naming, const struct elf_text *text,
			   const uint8_t *bytes, size_t size)
{
	size_t step = text->entry_bytes == 8 ? 8 : 16;

	for (size_t at = 0; at < size; at += step) {
		size_t left = size - at < step ? size - at : step;
		const struct slot *slot =
			x86_64_slot(naming->slots, text->address + at, bytes + at, left);

		if (slot && !add_entry(naming, slot, text, text->address + at, left))
			return false;
	}
	return true;
}

/* Names entries of AArch64. Their size depends on branch protection: each begins at its adrp, or at
 * the bti before. */
static bool aarch64_entries(const struct naming *naming, const struct elf_text *text,
			    const uint8_t *bytes, size_t size)
{
	static const uint32_t bti_c = 0xd503245f;
	const struct slot *open = NULL;
	size_t open_at = 0;

	for (size_t at = 0; size - at >= 4; at += 4) {
		const struct slot *slot =
			aarch64_slot(naming->slots, text->address + at, bytes + at, size - at);
		size_t begin = at;

		if (!slot)
			continue;
		if (at >= 4 && get_u32(bytes + at - 4) == bti_c)
			begin = at - 4;
		if (open &&
		    !add_entry(naming, open, text, text->address + open_at, begin - open_at))
			return false;
		open = slot;
		open_at = begin;
	}
	return !open || add_entry(naming, open, text, text->address + open_at, size - open_at);
}

static bool name_section(const struct naming *naming, const struct elf_text *text)
{
	const struct elf_segment *segment = elf_file_segment_at(naming->file, text->address);
	const uint8_t *bytes;
	uint64_t skip;
	uint64_t size;

	if (!segment)
		return true;
	skip = text->address - segment->address;
	size = text->end - text->address;
	if (size > segment->file_bytes - skip)
		size = segment->file_bytes - skip;
	bytes = naming->file->bytes + segment->offset + skip;
	if (naming->file->header.e_machine == EM_X86_64)
		return x86_64_entries(naming, text, bytes, (size_t)size);
	return aarch64_entries(naming, text, bytes, (size_t)size);
}

bool plt_entries(const struct elf_file *file, const symbols *known, struct hp_arena *arena,
		 symbols *found)
{
	struct slots slots = { 0 };
	struct naming naming = { file, &slots, known, arena, found };
	bool slots_read = false;
	bool fine = true;

	if (file->header.e_machine != EM_X86_64 && file->header.e_machine != EM_AARCH64)
		return true;
	for (size_t i = 0; i < file->text_count && fine; i++) {
		const struct elf_text *text = &file->texts[i];

		if (strncmp(text->name, ".plt", 4) != 0 && strcmp(text->name, ".iplt") != 0)
			continue;
		if (!slots_read)
			fine = read_slots(file, &slots);
		slots_read = true;
		fine = fine && name_section(&naming, text);
	}
	hp_vector_free(&slots.sorted);
	hp_vector_free(&slots.lazy);
	return fine;
}
