/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads symbol tables. libdwfl chooses the table: .symtab of the file, else that of its separate
 * debug file, else .dynsym together with .gnu_debugdata. The table itself is read here, because
 * libelf checks that names end inside their string table and libdwfl does not.
 */
#include "extent.h"
#include "inflation.h"

#include <limits.h>
#include <string.h>

struct table {
	Elf *elf;
	uint64_t bias; /* its addresses plus this are link-time addresses of the file */
};

static bool names_code(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    symbol->st_shndx == SHN_COMMON || symbol->st_name == 0)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static uint8_t rank_of(const GElf_Sym *symbol)
{
	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		return RANK_LABEL;
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return RANK_LOCAL;
	case STB_WEAK:
		return RANK_WEAK;
	default:
		return RANK_GLOBAL;
	}
}

/* Labels that assemblers and linkers make for themselves: $x and $d on Arm, .L everywhere. */
static bool is_internal_label(const char *name)
{
	return name[0] == '\0' || name[0] == '$' || strncmp(name, ".L", 2) == 0;
}

static bool add_symbol(const struct elf_file *file, const GElf_Sym *raw, uint64_t bias,
		       const char *name, uint32_t unit, symbols *found)
{
	struct symbol symbol = {
		.address = raw->st_value + bias,
		.size = raw->st_size,
		.name = name,
		.unit = unit,
		.rank = rank_of(raw),
		.global_label = GELF_ST_BIND(raw->st_info) != STB_LOCAL,
	};
	const struct elf_text *text;

	/* Code of 32-bit Arm marks its instruction set in the lowest bit. */
	if (file->header.e_machine == EM_ARM && symbol.rank != RANK_LABEL)
		symbol.address &= ~(uint64_t)1;
	text = elf_file_text_at(file, symbol.address);
	if (!text || (symbol.rank == RANK_LABEL && is_internal_label(name)))
		return true;
	symbol.limit = text->end;
	if (symbol.size > text->end - symbol.address)
		symbol.size = text->end - symbol.address;
	return hp_vector_push(found, symbol);
}

static Elf_Scn *find_table(Elf *elf, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	Elf_Scn *dynamic = NULL;
	GElf_Shdr dynamic_header = { 0 };

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, header))
			continue;
		if (header->sh_type == SHT_SYMTAB)
			return section;
		if (header->sh_type == SHT_DYNSYM && !dynamic) {
			dynamic = section;
			dynamic_header = *header;
		}
	}
	*header = dynamic_header;
	return dynamic;
}

static bool read_table(const struct elf_file *file, const struct table *table, symbols *found,
		       bool *is_dynamic)
{
	GElf_Shdr header;
	Elf_Scn *section = find_table(table->elf, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t entry = gelf_fsize(table->elf, ELF_T_SYM, 1, EV_CURRENT);
	uint32_t unit = 0;

	*is_dynamic = section && header.sh_type == SHT_DYNSYM;
	if (!data || entry == 0)
		return true;
	for (size_t i = 1; i < data->d_size / entry && i <= INT_MAX; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
			unit++;
		if (!names_code(&symbol))
			continue;
		name = elf_strptr(table->elf, header.sh_link, symbol.st_name);
		if (name && !add_symbol(file, &symbol, table->bias, name, unit, found))
			return false;
	}
	return true;
}

/* Finds the one or two tables that libdwfl has combined; the main one is first. Their symbols are
 * in blocks (locals of both, then globals of both), whose borders show the tables. */
static size_t tables_of_dwfl(const struct elf_file *file, struct table *tables)
{
	int count = dwfl_module_getsymtab(file->module);
	int first_global = count > 0 ? dwfl_module_getsymtab_first_global(file->module) : 0;
	int borders[] = { 1, first_global - 1, first_global, count - 1 };
	size_t found = 0;

	for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]) && found < 2; i++) {
		struct table table = { 0 };
		GElf_Sym symbol;
		GElf_Addr address;

		if (borders[i] < 1 || borders[i] >= count)
			continue;
		if (!dwfl_module_getsym_info(file->module, borders[i], &symbol, &address, NULL,
					     &table.elf, &table.bias) ||
		    !table.elf)
			continue;
		if (found == 0 || tables[0].elf != table.elf)
			tables[found++] = table;
	}
	return found;
}

static size_t find_tables(struct elf_file *file, struct table *tables)
{
	if (!inflation_of_debugdata_is_bounded(file->elf))
		file->unpacks_too_far = true;
	if (!file->unpacks_too_far)
		return tables_of_dwfl(file, tables);
	tables[0] = (struct table){ .elf = file->elf };
	return 1;
}

bool symbols_read(struct elf_file *file, symbols *found, enum symbol_origin *origin)
{
	struct table tables[2];
	size_t count = find_tables(file, tables);

	*origin = ORIGIN_NONE;
	for (size_t i = 0; i < count; i++) {
		bool is_dynamic;

		if (!read_table(file, &tables[i], found, &is_dynamic))
			return false;
		if (i > 0)
			*origin = ORIGIN_DEBUGDATA;
		else if (is_dynamic)
			*origin = ORIGIN_DYNSYM;
		else if (tables[i].elf == file->elf)
			*origin = ORIGIN_SYMTAB;
		else
			*origin = ORIGIN_DEBUG_FILE;
	}
	return true;
}
