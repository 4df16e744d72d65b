/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables as bytes: the arrays one after the other, in this machine's own layout. */
#include "stored.h"

#include "rows.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/hash.h>

#include <stdlib.h>
#include <string.h>

/* The header before the arrays. */
struct head {
	char magic[8];
	uint64_t checksum; /* of all that is behind it */
	uint64_t first;
	uint64_t row_count;
	uint64_t unsupported;
	uint64_t source_bytes;
	uint64_t blocks; /* number of entries, per array */
	uint64_t rows;	 /* bytes */
	uint64_t recipes;
	uint64_t others;
	uint64_t expressions;
	uint64_t bytes;
};

static const char magic[8] = "hpunw 1";
enum { UNCHECKED_BYTES = offsetof(struct head, first) };

static uint64_t checksum_of(const uint8_t *bytes, size_t size)
{
	return XXH3_64bits(bytes + UNCHECKED_BYTES, size - UNCHECKED_BYTES);
}

void stored_seal(uint8_t *bytes, size_t size)
{
	uint64_t checksum;

	if (size < sizeof(struct head))
		return;
	checksum = checksum_of(bytes, size);
	memcpy(bytes + offsetof(struct head, checksum), &checksum, sizeof(checksum));
}

struct hp_error *hp_unwind_table_encode(const struct hp_unwind_table *table, uint8_t **bytes,
					size_t *size)
{
	struct hp_writer writer = { 0 };
	struct head head = {
		.first = table->first,
		.row_count = table->row_count,
		.unsupported = table->unsupported,
		.source_bytes = table->source_bytes,
		.blocks = table->blocks.count,
		.rows = table->rows.count,
		.recipes = table->recipes.count,
		.others = table->others.count,
		.expressions = table->expressions.count,
		.bytes = table->bytes.count,
	};

	memcpy(head.magic, magic, sizeof(magic));
	hp_write_bytes(&writer, &head, sizeof(head));
	hp_write_bytes(&writer, table->blocks.at, head.blocks * sizeof(*table->blocks.at));
	hp_write_bytes(&writer, table->recipes.at, head.recipes * sizeof(*table->recipes.at));
	hp_write_bytes(&writer, table->others.at, head.others * sizeof(*table->others.at));
	hp_write_bytes(&writer, table->expressions.at,
		       head.expressions * sizeof(*table->expressions.at));
	hp_write_bytes(&writer, table->bytes.at, head.bytes);
	hp_write_bytes(&writer, table->rows.at, head.rows);
	if (writer.failed) {
		hp_writer_free(&writer);
		return hp_error_create_no_memory();
	}
	stored_seal(writer.bytes, writer.size);
	*bytes = writer.bytes;
	*size = writer.size;
	return NULL;
}

/* --- checks ---------------------------------------------------------------------------------- */

static bool is_rule(const struct hp_unwind_table *table, struct rule rule)
{
	uint64_t value = (uint64_t)(int64_t)rule.value;

	if (rule.kind == RULE_REGISTER)
		return value < COLUMNS;
	if (rule.kind == RULE_SAVED_AT || rule.kind == RULE_IS_EXPRESSION)
		return value < table->expressions.count;
	return rule.kind <= RULE_UNSUPPORTED;
}

static bool is_recipe(const struct hp_unwind_table *table, const struct hp_unwind_recipe *recipe)
{
	bool has_cfa = recipe->cfa_register == CFA_BY_EXPRESSION
			       ? (uint64_t)(int64_t)recipe->cfa < table->expressions.count
			       : recipe->cfa_register < COLUMNS;

	return has_cfa && recipe->others < table->others.count && is_rule(table, recipe->rip) &&
	       is_rule(table, recipe->rbp) && is_rule(table, recipe->rbx);
}

/* Reads a number like table_take, with checks. */
static bool take_checked(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; *at < end && shift < 35; shift += 7) {
		uint8_t byte = *(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return *value <= UINT32_MAX;
	}
	return false;
}

/* Checks the rows of one block, and adds their number to `count`. */
static bool are_rows(const struct hp_unwind_table *table, const uint8_t *at, const uint8_t *end,
		     size_t *count)
{
	uint64_t step;
	uint64_t recipe;

	for (; at < end; ++*count) {
		if (!take_checked(&at, end, &step) || !take_checked(&at, end, &recipe) ||
		    recipe >= table->recipes.count)
			return false;
	}
	return true;
}

static bool are_blocks(const struct hp_unwind_table *table)
{
	const struct block *blocks = table->blocks.at;
	size_t count = 0;

	for (size_t i = 0; i < table->blocks.count; i++) {
		size_t end = i + 1 < table->blocks.count ? blocks[i + 1].at : table->rows.count;

		if (blocks[i].at > end || end > table->rows.count ||
		    (i && blocks[i].place <= blocks[i - 1].place) ||
		    !are_rows(table, table->rows.at + blocks[i].at, table->rows.at + end, &count))
			return false;
	}
	return count == table->row_count;
}

/* Checks all that following a table relies on. */
static bool is_sound(const struct hp_unwind_table *table)
{
	for (size_t i = 0; i < table->expressions.count; i++) {
		const struct expression *expression = &table->expressions.at[i];

		if (expression->size > table->bytes.count ||
		    expression->at > table->bytes.count - expression->size)
			return false;
	}
	for (size_t i = 0; i < table->others.count; i++) {
		for (size_t j = 0; j < HP_UNWIND_RIP; j++) {
			if (!is_rule(table, table->others.at[i].at[j]))
				return false;
		}
	}
	for (size_t i = RECIPES_OF_NOTHING; i < table->recipes.count; i++) {
		if (!is_recipe(table, &table->recipes.at[i]))
			return false;
	}
	return are_blocks(table);
}

/* --- reading --------------------------------------------------------------------------------- */

struct taking {
	struct hp_reader reader;
	bool no_memory;
};

static bool take(struct taking *taking, void **at, size_t *capacity, size_t *count, uint64_t number,
		 size_t element_bytes)
{
	if (number > hp_reader_left(&taking->reader) / element_bytes)
		return false;
	if (!hp_grow(at, capacity, number + 1, element_bytes)) {
		taking->no_memory = true;
		return false;
	}
	*count = number;
	return hp_read_copy(&taking->reader, *at, number * element_bytes);
}

#define TAKE(vector, number)                                                                       \
	take(taking, (void **)&(vector).at, &(vector).capacity, &(vector).count, (number),         \
	     sizeof(*(vector).at))

static bool take_all(struct taking *taking, const uint8_t *bytes, size_t size,
		     struct hp_unwind_table *table)
{
	struct head head;

	if (!hp_read_copy(&taking->reader, &head, sizeof(head)) ||
	    memcmp(head.magic, magic, sizeof(magic)) != 0 ||
	    checksum_of(bytes, size) != head.checksum)
		return false;
	table->first = head.first;
	table->row_count = head.row_count;
	table->unsupported = head.unsupported;
	table->source_bytes = head.source_bytes;
	return TAKE(table->blocks, head.blocks) && TAKE(table->recipes, head.recipes) &&
	       TAKE(table->others, head.others) && TAKE(table->expressions, head.expressions) &&
	       TAKE(table->bytes, head.bytes) && TAKE(table->rows, head.rows) &&
	       hp_reader_left(&taking->reader) == 0;
}

struct hp_error *hp_unwind_table_decode(const uint8_t *bytes, size_t size,
					struct hp_unwind_table **result)
{
	_cleanup_(hp_unwind_table_destroy_scope) struct hp_unwind_table *table =
		calloc(1, sizeof(*table));
	struct taking taking = { .reader = hp_reader_over(bytes, size) };

	if (table && take_all(&taking, bytes, size, table) && is_sound(table)) {
		*result = hp_steal(table);
		return NULL;
	}
	return !table || taking.no_memory
		       ? hp_error_create_no_memory()
		       : hp_error_create(HP_ERROR_DAMAGED, "no table of call frame information");
}
