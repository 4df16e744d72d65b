/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the call-site table of one function's exception table (.gcc_except_table), as the
 * personality routines of GCC and Clang do.
 */
#include "code.h"
#include <hpcprof/base/encoded.h>

#include <dwarf.h>

struct table {
	struct hp_encoded_form form;
	const uint8_t *origin; /* of `address` */
	uint64_t address;
	struct hp_cursor cursor;
};

static bool open_table(const struct elf_file *file, uint64_t address, struct table *table)
{
	const struct elf_segment *segment = elf_file_segment_at(file, address);

	if (!segment)
		return false;
	table->form.is_64 = file->header.e_ident[EI_CLASS] == ELFCLASS64;
	table->form.big_endian = file->header.e_ident[EI_DATA] == ELFDATA2MSB;
	table->address = address;
	table->origin = file->bytes + segment->offset + (address - segment->address);
	table->cursor.at = table->origin;
	table->cursor.end = file->bytes + segment->offset + segment->file_bytes;
	return true;
}

static bool read_byte(struct table *table, uint8_t *byte)
{
	uint64_t value;

	if (!hp_encoded_fixed(table->form, &table->cursor, 1, false, &value))
		return false;
	*byte = (uint8_t)value;
	return true;
}

/* Leaves the cursor at the call sites. `pads`: the base of landing pads. */
static bool read_header(struct table *table, uint64_t *pads, uint8_t *encoding)
{
	uint64_t ignored;
	uint64_t length;
	uint8_t byte;

	if (!read_byte(table, &byte))
		return false;
	if (byte != DW_EH_PE_omit) {
		uint64_t here = table->address + (uint64_t)(table->cursor.at - table->origin);

		if ((byte & DW_EH_PE_indirect) ||
		    !hp_encoded_pointer(table->form, &table->cursor, byte, pads))
			return false;
		if ((byte & HP_ENCODING_BASE) == DW_EH_PE_pcrel)
			*pads += here;
		else if ((byte & HP_ENCODING_BASE) != DW_EH_PE_absptr)
			return false;
	}
	if (!read_byte(table, &byte) ||
	    (byte != DW_EH_PE_omit && !hp_encoded_leb128(&table->cursor, false, &ignored)) ||
	    !read_byte(table, encoding) || !hp_encoded_leb128(&table->cursor, false, &length) ||
	    length > (uint64_t)(table->cursor.end - table->cursor.at))
		return false;
	table->cursor.end = table->cursor.at + length;
	return true;
}

bool exceptions_read(const struct elf_file *file, const struct extent *function, uint64_t *budget,
		     landing_list *found)
{
	struct table table;
	uint64_t pads = function->address;
	uint8_t encoding;

	if (!function->lsda || !open_table(file, function->lsda, &table) ||
	    !read_header(&table, &pads, &encoding))
		return true;
	for (; table.cursor.at<table.cursor.end && * budget> 0; --*budget) {
		uint64_t start;
		uint64_t length;
		uint64_t pad;
		uint64_t action;
		struct hp_landing landing;

		if (!hp_encoded_pointer(table.form, &table.cursor, encoding, &start) ||
		    !hp_encoded_pointer(table.form, &table.cursor, encoding, &length) ||
		    !hp_encoded_pointer(table.form, &table.cursor, encoding, &pad) ||
		    !hp_encoded_leb128(&table.cursor, false, &action))
			break;
		if (pad == 0 || start >= function->size || length > function->size - start)
			continue; /* exceptions pass through */
		landing = (struct hp_landing){ .start = function->address + start,
					       .end = function->address + start + length,
					       .landing = pads + pad };
		if (length > 0 && !hp_vector_push(found, landing))
			return false;
	}
	return true;
}
