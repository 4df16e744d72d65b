/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code.h"

#include <hpcprof/base/search.h>

#include <limits.h>
#include <string.h>

/* The amount of data, a power of two, after which the pages of a file are released. */
enum { SCAN_BYTES = 1 << 22 };

struct import {
	uint64_t where;
	const char *name; /* name in the file */
};

struct code {
	const struct elf_file *file;
	extents functions; /* functions with exception tables, sorted */
	bool has_functions;
	uint64_t budget; /* entries of exception tables left: many functions may share one */
	HP_VECTOR(struct hp_code_pointer) pointers; /* by target */
	HP_VECTOR(struct import) imports;	    /* by place */
	bool has_pointers;
	const struct elf_segment *last_segment; /* the segment that the last look-up used */
};

struct code *code_create(const struct elf_file *file)
{
	struct code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->file = file;
	code->budget = 4 * (uint64_t)file->size + 4096; /* allows each byte to be read many times */
	return code;
}

void code_destroy(struct code *code)
{
	if (!code)
		return;
	hp_vector_free(&code->functions);
	hp_vector_free(&code->pointers);
	hp_vector_free(&code->imports);
	free(code);
}

/* --- exceptions ------------------------------------------------------------------------------- */

static void find_functions(struct code *code)
{
	size_t kept = 0;

	code->has_functions = true;
	if (!eh_frame_extents(code->file, &code->functions)) {
		hp_vector_free(&code->functions);
		return;
	}
	for (size_t i = 0; i < code->functions.count; i++)
		if (code->functions.at[i].lsda)
			code->functions.at[kept++] = code->functions.at[i];
	code->functions.count = kept;
}

HP_ORDER_BY(compare_landings, struct hp_landing, start);

void code_landings(struct code *code, uint64_t address, uint64_t size, struct hp_arena *arena,
		   const struct hp_landing **result, size_t *count)
{
	landing_list found = { 0 };
	struct hp_landing *copy = NULL;
	size_t first;

	*result = NULL;
	*count = 0;
	if (!code->has_functions)
		find_functions(code);
	first = hp_bisect(i, code->functions.count, code->functions.at[i].address < address);
	/* The part may begin inside a function, whose table then applies to it. */
	if (first > 0 &&
	    address - code->functions.at[first - 1].address < code->functions.at[first - 1].size)
		first--;
	for (; first < code->functions.count; first++) {
		const struct extent *function = &code->functions.at[first];

		if (function->address > address && function->address - address >= size)
			break;
		if (!exceptions_read(code->file, function, &code->budget, &found))
			break;
	}
	if (found.count > 0)
		copy = hp_arena_array(arena, found.count, sizeof(*copy));
	if (copy) {
		memcpy(copy, found.at, found.count * sizeof(*copy));
		qsort(copy, found.count, sizeof(*copy), compare_landings);
		*result = copy;
		*count = found.count;
	}
	hp_vector_free(&found);
}

/* --- pointers to code ------------------------------------------------------------------------- */

static uint64_t word_at(const struct code *code, const uint8_t *at)
{
	uint64_t word = 0;

	for (size_t i = 0; i < 8; i++)
		word |= (uint64_t)at[code->file->header.e_ident[EI_DATA] == ELFDATA2MSB ? 7 - i : i]
			<< 8 * i;
	return word;
}

static bool push_pointer(struct code *code, uint64_t where, uint64_t target)
{
	return !elf_file_text_at(code->file, target) ||
	       hp_vector_push(&code->pointers, (struct hp_code_pointer){ where, target });
}

static bool push_word(struct code *code, uint64_t where)
{
	const struct elf_segment *segment = code->last_segment;
	uint64_t skip;

	if (!segment || where - segment->address >= segment->file_bytes)
		segment = elf_file_segment_at(code->file, where);
	if (!segment)
		return true;
	code->last_segment = segment;
	skip = where - segment->address;
	return segment->file_bytes - skip < 8 ||
	       push_pointer(code, where, word_at(code, code->file->bytes + segment->offset + skip));
}

static bool is_relative(uint16_t machine, uint64_t type)
{
	return machine == EM_X86_64    ? type == R_X86_64_RELATIVE
	       : machine == EM_AARCH64 ? type == R_AARCH64_RELATIVE
				       : false;
}

static bool is_import(uint16_t machine, uint64_t type)
{
	return machine == EM_X86_64    ? type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT
	       : machine == EM_AARCH64 ? type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT
				       : false;
}

static bool push_import(struct code *code, const GElf_Rela *relocation, Elf_Data *symbol_data,
			size_t names)
{
	uint64_t index = GELF_R_SYM(relocation->r_info);
	const char *name;
	GElf_Sym symbol;

	if (!symbol_data || index == 0 || index > INT_MAX ||
	    !gelf_getsym(symbol_data, (int)index, &symbol))
		return true;
	name = elf_strptr(code->file->elf, names, symbol.st_name);
	return !name ||
	       hp_vector_push(&code->imports, (struct import){ relocation->r_offset, name });
}

static bool read_rela(struct code *code, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *table = elf_getscn(code->file->elf, header->sh_link);
	Elf_Data *symbol_data = table ? elf_getdata(table, NULL) : NULL;
	GElf_Shdr of_symbols;
	size_t names = table && gelf_getshdr(table, &of_symbols) ? of_symbols.sh_link : 0;
	Elf_Data *data = elf_getdata(section, NULL);
	size_t entry = gelf_fsize(code->file->elf, ELF_T_RELA, 1, EV_CURRENT);

	for (size_t i = 0; data && entry && i < data->d_size / entry && i <= INT_MAX; i++) {
		GElf_Rela relocation;

		if (!gelf_getrela(data, (int)i, &relocation))
			break;
		if (is_relative(code->file->header.e_machine, GELF_R_TYPE(relocation.r_info)) &&
		    !push_pointer(code, relocation.r_offset, (uint64_t)relocation.r_addend))
			return false;
		if (is_import(code->file->header.e_machine, GELF_R_TYPE(relocation.r_info)) &&
		    !push_import(code, &relocation, symbol_data, names))
			return false;
	}
	return true;
}

/* Packed relative relocations: an even word is an address, an odd one a bitmap of the 63 words that
 * follow the last address. */
static bool read_relr(struct code *code, Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	uint64_t next = 0;

	for (size_t at = 0; data && data->d_buf && data->d_size - at >= 8; at += 8) {
		uint64_t word = word_at(code, (const uint8_t *)data->d_buf + at);

		if (!(word & 1)) {
			if (!push_word(code, word))
				return false;
			next = word + 8;
			continue;
		}
		for (uint64_t bit = 1; bit < 64; bit++)
			if ((word >> bit & 1) && !push_word(code, next + 8 * (bit - 1)))
				return false;
		next += UINT64_C(8) * 63;
	}
	return true;
}

static bool scan_words(struct code *code, const GElf_Shdr *header)
{
	uint64_t at = (header->sh_addr + 7) & ~(uint64_t)7;

	if (header->sh_size > code->file->size)
		return true;
	for (uint64_t end = header->sh_addr + header->sh_size; at < end && end - at >= 8; at += 8) {
		if (!push_word(code, at))
			return false;
		if ((at & (SCAN_BYTES - 1)) == 0)
			elf_file_forget_pages(code->file);
	}
	return true;
}

HP_ORDER_BY_TWO(compare_pointers, struct hp_code_pointer, target, where);

HP_ORDER_BY(compare_imports, struct import, where);

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

static void find_pointers(struct code *code)
{
	bool is_fixed = code->file->header.e_type == ET_EXEC &&
			code->file->header.e_ident[EI_CLASS] == ELFCLASS64;
	Elf_Scn *section = NULL;
	bool fine = true;

	code->has_pointers = true;
	while (fine && (section = elf_nextscn(code->file->elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC))
			continue;
		if (header.sh_type == SHT_RELA)
			fine = read_rela(code, section, &header);
		else if (header.sh_type == SHT_RELR)
			fine = read_relr(code, section);
		else if (header.sh_type == SHT_PROGBITS && is_fixed &&
			 !(header.sh_flags & SHF_EXECINSTR))
			fine = scan_words(code, &header);
		elf_file_forget_pages(code->file);
	}
	if (code->pointers.count > 1)
		qsort(code->pointers.at, code->pointers.count, sizeof(*code->pointers.at),
		      compare_pointers);
	if (code->imports.count > 1)
		qsort(code->imports.at, code->imports.count, sizeof(*code->imports.at),
		      compare_imports);
}

const char *code_import(struct code *code, uint64_t where)
{
	const struct import key = { .where = where };
	const struct import *found = NULL;

	if (!code->has_pointers)
		find_pointers(code);
	if (code->imports.count)
		found = bsearch(&key, code->imports.at, code->imports.count, sizeof(key),
				compare_imports);
	return found ? found->name : NULL;
}

static size_t first_pointer(const struct code *code, uint64_t target)
{
	return hp_bisect(i, code->pointers.count, code->pointers.at[i].target < target);
}

void code_pointers(struct code *code, uint64_t low, uint64_t high,
		   const struct hp_code_pointer **pointers, size_t *count)
{
	size_t first;

	*pointers = NULL;
	*count = 0;
	if (!code->has_pointers)
		find_pointers(code);
	if (low >= high)
		return;
	first = first_pointer(code, low);
	*count = first_pointer(code, high) - first;
	if (*count)
		*pointers = &code->pointers.at[first];
}
