/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads names of Go's functions from .gopclntab. The runtime needs this table for its own traces,
 * so a file has it even without a symbol table. Layouts as in debug/gosym and runtime/symtab.go:
 *
 *	magic u32, 0 u16, quantum u8, bytes of a pointer u8
 *	functions, files, [start of text, from 1.18 on], then offsets from the table's begin: names,
 *	units, files, line programs, functions; each of a pointer's size
 *
 * The function table consists of pairs (begin of the function, offset of its record) and the end of
 * the last function. Both numbers of a pair are pointers in 1.16, and u32 relative to the start of
 * text from 1.18 on. A record has the begin of its function again, then an s32: the offset of the
 * name among the names. Older layouts are not read.
 */
#include "extent.h"

#include <hpcprof/base/elf_section.h>

#include <string.h>

enum { GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1 };

struct table {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	bool is_big; /* endian */
	unsigned pointer_bytes;
	bool has_start;
	uint64_t start; /* of text: what functions begin relative to */
	uint64_t names;
	uint64_t functions; /* offset of the pairs */
	uint64_t count;
};

/* An unsigned integer; false where the table ends before it. */
static bool read_integer(const struct table *table, uint64_t offset, unsigned bytes,
			 uint64_t *value)
{
	if (offset > table->size || table->size - offset < bytes)
		return false;
	*value = 0;
	for (unsigned i = 0; i < bytes; i++) {
		unsigned at = table->is_big ? i : bytes - 1 - i;

		*value = *value << 8 | table->bytes[offset + at];
	}
	return true;
}

/* Returns the offset in a field of the header, numbered from 0. */
static uint64_t field_offset(const struct table *table, unsigned number)
{
	return 8 + (uint64_t)number * table->pointer_bytes;
}

/* The section may carry either name, the latter where the loader has to relocate it. */
static bool find_section(const struct elf_file *file, struct table *table)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		GElf_Shdr header;

		if (!hp_elf_section(file->elf, names[i], &header) ||
		    header.sh_type != SHT_PROGBITS || header.sh_offset > file->size ||
		    header.sh_size > file->size - header.sh_offset)
			continue;
		*table = (struct table){
			.bytes = file->bytes + header.sh_offset,
			.size = header.sh_size,
			.address = header.sh_addr,
			.is_big = file->header.e_ident[EI_DATA] == ELFDATA2MSB,
		};
		return true;
	}
	return false;
}

/* Returns the value that the loader would store at the address of a position-independent program;
 * 0: none. */
static uint64_t relocated(const struct elf_file *file, uint64_t address)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		size_t entry;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
			continue;
		data = elf_getdata(section, NULL);
		entry = gelf_fsize(file->elf, ELF_T_RELA, 1, EV_CURRENT);
		for (size_t i = 0; data && entry && i < data->d_size / entry && i <= INT32_MAX;
		     i++) {
			GElf_Rela relocation;

			if (gelf_getrela(data, (int)i, &relocation) &&
			    relocation.r_offset == address && relocation.r_addend > 0)
				return (uint64_t)relocation.r_addend;
		}
	}
	return 0;
}

static bool read_start(const struct elf_file *file, struct table *table)
{
	uint64_t offset = field_offset(table, 2);

	if (!read_integer(table, offset, table->pointer_bytes, &table->start))
		return false;
	if (!elf_file_text_at(file, table->start))
		table->start = relocated(file, table->address + offset);
	return elf_file_text_at(file, table->start);
}

static bool read_head(const struct elf_file *file, struct table *table)
{
	uint64_t magic;
	uint64_t pointer_bytes;
	unsigned first; /* field with an offset */

	if (!read_integer(table, 0, 4, &magic) || !read_integer(table, 7, 1, &pointer_bytes) ||
	    (pointer_bytes != 4 && pointer_bytes != 8))
		return false;
	if (magic != GO_1_16 && magic != GO_1_18 && magic != GO_1_20)
		return false;
	table->pointer_bytes = (unsigned)pointer_bytes;
	table->has_start = magic != GO_1_16;
	first = table->has_start ? 3 : 2;
	return read_integer(table, field_offset(table, 0), table->pointer_bytes, &table->count) &&
	       read_integer(table, field_offset(table, first), table->pointer_bytes,
			    &table->names) &&
	       read_integer(table, field_offset(table, first + 4), table->pointer_bytes,
			    &table->functions) &&
	       table->names < table->size && table->functions < table->size &&
	       (!table->has_start || read_start(file, table));
}

/* Returns the name of the function whose record is at `more`; NULL if the table has none. */
static const char *name_of(const struct table *table, uint64_t more)
{
	unsigned entry_bytes = table->has_start ? 4 : table->pointer_bytes;
	uint64_t name;
	const char *text;
	uint64_t at;

	if (more > table->size - table->functions ||
	    !read_integer(table, table->functions + more + entry_bytes, 4, &name) ||
	    name >= table->size - table->names)
		return NULL;
	at = table->names + name;
	text = (const char *)table->bytes + at;
	return *text && memchr(text, 0, table->size - at) ? text : NULL;
}

static bool add_function(const struct elf_file *file, const struct table *table, uint64_t begin,
			 uint64_t end, uint64_t more, symbols *found)
{
	struct symbol symbol = {
		.address = table->start + begin,
		.size = end - begin,
		.rank = RANK_GLOBAL,
	};
	const struct elf_text *text = elf_file_text_at(file, symbol.address);

	symbol.name = text && end > begin ? name_of(table, more) : NULL;
	if (!symbol.name)
		return true;
	symbol.limit = text->end;
	if (symbol.size > text->end - symbol.address)
		symbol.size = text->end - symbol.address;
	return hp_vector_push(found, symbol);
}

bool gopclntab_symbols(const struct elf_file *file, symbols *found)
{
	struct table table;
	unsigned bytes;

	if (!find_section(file, &table) || !read_head(file, &table))
		return true;
	bytes = table.has_start ? 4 : table.pointer_bytes;
	if (table.count > (table.size - table.functions) / (2 * bytes))
		return true;
	for (uint64_t i = 0; i < table.count; i++) {
		uint64_t at = table.functions + i * 2 * bytes;
		uint64_t begin;
		uint64_t more;
		uint64_t end;

		if (!read_integer(&table, at, bytes, &begin) ||
		    !read_integer(&table, at + bytes, bytes, &more) ||
		    !read_integer(&table, at + 2 * bytes, bytes, &end))
			return true;
		if (!add_function(file, &table, begin, end, more, found))
			return false;
	}
	return true;
}
