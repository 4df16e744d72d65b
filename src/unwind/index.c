/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "index.h"

#include <hpcprof/base/search.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_ROWS = INT32_MAX, FIRST_READ_BYTES = 512, LENGTH_BYTES = 4, FDE_HEAD_BYTES = 8 };
static const uint32_t is_made = UINT32_C(1) << 31;

void index_destroy(struct index *index)
{
	if (!index)
		return;
	if (index->fd >= 0)
		close(index->fd);
	entries_free(&index->entries);
	hp_vector_free(&index->at);
	hp_vector_free(&index->begins);
	hp_vector_free(&index->read);
	free(index);
}

size_t index_bytes(const struct index *index)
{
	return sizeof(*index) + index->at.count * sizeof(*index->at.at) +
	       index->begins.count * sizeof(*index->begins.at) + index->read.capacity +
	       index->entries.shared.count * sizeof(*index->entries.shared.at) +
	       index->entries.builder.slot_count * sizeof(*index->entries.builder.slots);
}

/* --- rows of a procedure --------------------------------------------------------------------- */

static bool has_changed(const struct index *index)
{
	struct stat now;

	return fstat(index->fd, &now) != 0 || now.st_size != index->status.st_size ||
	       now.st_mtim.tv_sec != index->status.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != index->status.st_mtim.tv_nsec;
}

static bool read_more(struct index *index, uint64_t at, uint64_t bytes)
{
	ssize_t got;

	if (bytes > index->bytes - at)
		bytes = index->bytes - at;
	if (!hp_vector_reserve(&index->read, bytes))
		return false;
	got = pread(index->fd, index->read.at, bytes, (off_t)(index->offset + at));
	index->read.count = got > 0 ? (size_t)got : 0;
	return got == (ssize_t)bytes;
}

/* Reads the entry at a place of the section, and no more than it. */
static bool read_entry(struct index *index, uint64_t at)
{
	uint32_t length;

	if (at >= index->bytes || !read_more(index, at, FIRST_READ_BYTES) ||
	    index->read.count < LENGTH_BYTES)
		return false;
	memcpy(&length, index->read.at, LENGTH_BYTES);
	/* What is longer than the budget would not be executed. Lengths of 64 bits are larger. */
	if (length > index->section.budget)
		return false;
	if (length > index->read.count - LENGTH_BYTES) {
		index->section.budget -= length;
		if (!read_more(index, at, LENGTH_BYTES + (uint64_t)length) ||
		    length > index->read.count - LENGTH_BYTES)
			return false;
	}
	index->read.count = LENGTH_BYTES + length;
	return true;
}

static Elf_Data read_data(const struct index *index)
{
	return (Elf_Data){
		.d_type = ELF_T_BYTE,
		.d_buf = index->read.at,
		.d_size = index->read.count,
	};
}

/* Reads a CIE. NULL if there is none. */
static const struct shared *read_shared(struct index *index, uint64_t at)
{
	Dwarf_CFI_Entry entry;
	Elf_Data data;
	Dwarf_Off next;
	struct shared added;
	struct shared *all;
	size_t count;
	size_t place;

	if (!read_entry(index, at))
		return NULL;
	data = read_data(index);
	if (dwarf_next_cfi(index->ident, &data, true, 0, &next, &entry) != 0 ||
	    !dwarf_cfi_cie_p(&entry))
		return NULL;
	entries_add_shared(&index->entries, &index->section, at, &entry.cie);
	all = index->entries.shared.at;
	count = index->entries.shared.count;
	/* They are looked for by bisection. */
	if (!count || all[count - 1].offset != at)
		return NULL;
	added = all[count - 1];
	place = hp_bisect(i, count - 1, all[i].offset < at);
	memmove(all + place + 1, all + place, (count - 1 - place) * sizeof(*all));
	all[place] = added;
	return &all[place];
}

/* Reads the FDE at a place of the section; leaves it in `found`. Where its CIE is stands in it as the
 * distance back from there, which libdw follows only within one piece of data. */
static bool find_entry(struct index *index, uint64_t at)
{
	const struct shared *shared;
	struct section section;
	uint64_t shared_at;
	uint32_t distance;
	Dwarf_FDE entry;
	Elf_Data data;

	if (!read_entry(index, at) || index->read.count < FDE_HEAD_BYTES)
		return false;
	memcpy(&distance, index->read.at + LENGTH_BYTES, sizeof(distance));
	if (distance == 0 || distance > at + LENGTH_BYTES)
		return false;
	shared_at = at + LENGTH_BYTES - distance;
	shared = entries_find_shared(&index->entries, &index->section, shared_at);
	if (!shared) {
		shared = read_shared(index, shared_at);
		if (!read_entry(index, at))
			return false;
	}
	if (!shared || !shared->is_usable)
		return false;
	data = read_data(index);
	section = index->section;
	section.data = &data;
	section.address += at;
	entry = (Dwarf_FDE){
		.start = index->read.at + FDE_HEAD_BYTES,
		.end = index->read.at + index->read.count,
	};
	index->entries.found.count = 0;
	entries_add(&index->entries, &section, &entry, shared);
	index->section.budget = section.budget;
	return index->entries.found.count == 1;
}

/* Appends the rows of what was found: the length of the code, that of the rows, and the rows. */
static bool add_rows(struct hp_unwind_table *table, struct builder *builder, uint64_t code_bytes)
{
	const struct raw_rows *rows = &builder->rows;
	size_t begin = table->rows.count;

	if (code_bytes > UINT32_MAX || !rows_complete(builder) ||
	    begin + rows->bytes.count + 2 * MOST_ROW_BYTES >= NO_ROWS ||
	    !hp_vector_reserve(&table->rows, begin + rows->bytes.count + 2 * MOST_ROW_BYTES))
		return false;
	table->rows.count += table_put(table->rows.at + begin, (uint32_t)code_bytes);
	table->rows.count +=
		table_put(table->rows.at + table->rows.count, (uint32_t)rows->bytes.count);
	memcpy(table->rows.at + table->rows.count, rows->bytes.at, rows->bytes.count);
	table->rows.count += rows->bytes.count;
	table->row_count += rows->count;
	return true;
}

/* Makes the rows of a procedure, or notes that it has none. */
static void make(struct hp_unwind_table *table, struct indexed *indexed)
{
	struct index *index = table->index;
	struct entries *entries = &index->entries;
	size_t begin = table->rows.count;
	const struct found *found;
	uint32_t at = indexed->at;

	indexed->at = is_made | NO_ROWS;
	if (has_changed(index) || !find_entry(index, at))
		return;
	found = entries->found.at;
	if (found->offset != index->first + indexed->place)
		return;
	builder_restart(&entries->builder);
	if (entries_add_rows(entries, found) &&
	    add_rows(table, &entries->builder, found->end - found->offset))
		indexed->at = is_made | (uint32_t)begin;
}

/* Whether the code of a procedure ends shortly before the next one. Padding has the last row of the
 * procedure before it: a return address may be that of the next procedure, and is looked up by the
 * byte before. */
static bool is_padded(const struct index *index, size_t at, uint32_t code_bytes)
{
	uint64_t end = (uint64_t)index->at.at[at].place + code_bytes;

	return at + 1 < index->at.count && index->at.at[at + 1].place < end + PADDING_BYTES;
}

/* Returns how many procedures begin up to an offset: the last of them may have its code. */
static size_t count_up_to(const struct index *index, uint64_t offset)
{
	uint64_t place = offset - index->first;
	uint64_t part = place >> index->begins_shift;
	const struct indexed *indexed;
	size_t before;

	if (offset < index->first)
		return 0;
	if (part + 1 >= index->begins.count)
		return index->at.count;
	before = index->begins.at[part];
	indexed = index->at.at + before;
	return before +
	       hp_bisect(i, index->begins.at[part + 1] - before, indexed[i].place <= place);
}

uint64_t index_procedure_at(const struct index *index, uint64_t offset)
{
	size_t after = count_up_to(index, offset);

	return after ? index->first + index->at.at[after - 1].place : offset;
}

const struct hp_unwind_recipe *index_recipe_at(struct hp_unwind_table *table, uint64_t offset)
{
	struct index *index = table->index;
	struct indexed *indexed = index->at.at;
	uint64_t place = offset - index->first;
	size_t after = count_up_to(index, offset);
	const uint8_t *at;
	uint32_t code_bytes;
	uint32_t rows_bytes;

	if (after == 0)
		return NULL;
	indexed += after - 1;
	if (!(indexed->at & is_made))
		make(table, indexed);
	if (indexed->at == (is_made | NO_ROWS))
		return NULL;
	at = table->rows.at + (indexed->at & ~is_made);
	place -= indexed->place;
	code_bytes = table_take(&at);
	if (place >= code_bytes && !is_padded(index, after - 1, code_bytes))
		return NULL;
	rows_bytes = table_take(&at);
	return table_recipe(table, at, at + rows_bytes, 0, place);
}
