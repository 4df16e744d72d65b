/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "codec.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/db/db.h>

static const char *const symbol_tags[] = { "key ", "syms", HP_BODIES_TAG, NULL };
static const char *const expendable_tags[] = { HP_BODIES_TAG, NULL };
const struct hp_container_kind hp_symbols_kind = {
	.letter = 'S',
	.noun = "symbol",
	.tags = symbol_tags,
	.expendable = expendable_tags,
	.most_times = 256,
};

void hp_symbols_free(struct hp_symbol *symbols, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(symbols[i].name);
		free(symbols[i].body);
	}
	free(symbols);
}

void hp_symbol_file_clear(struct hp_symbol_file *symbols)
{
	hp_image_id_clear(&symbols->image);
	hp_symbols_free(symbols->symbols, symbols->count);
	hp_error_destroy(symbols->lost);
	*symbols = (struct hp_symbol_file){ 0 };
}

/* The address of the symbol's last byte, since its end may be 2^64. */
static bool last_byte(const struct hp_symbol *symbol, uint64_t *last)
{
	return symbol->size &&
	       !__builtin_add_overflow(symbol->offset.value, symbol->size - 1, last);
}

static struct hp_error *check_symbols(const struct hp_symbol *symbols, size_t count)
{
	uint64_t previous = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t last;

		if (!symbols[i].name || !last_byte(&symbols[i], &last) ||
		    (i && symbols[i].offset.value <= previous))
			return hp_error_create(HP_ERROR_USAGE,
					       "symbols without name, without size, overlapping or "
					       "out of order");
		previous = last;
	}
	return NULL;
}

struct hp_error *hp_symbols_encode(const struct hp_image_id *image, const struct hp_symbol *symbols,
				   size_t count, struct hp_writer *file)
{
	struct hp_container_builder builder = { .kind = &hp_symbols_kind };
	struct hp_writer key = { 0 };
	struct hp_writer section = { 0 };
	struct hp_error *error = check_symbols(symbols, count);
	uint64_t end = 0;

	if (!error)
		error = hp_image_check(image);
	if (error)
		return error;
	hp_image_encode(image, 0, &key);
	hp_write_varint(&section, count);
	for (size_t i = 0; i < count; i++) {
		hp_write_varint(&section, symbols[i].offset.value - end);
		hp_write_varint(&section, symbols[i].size - 1);
		hp_write_string(&section, symbols[i].name);
		end = symbols[i].offset.value + symbols[i].size;
	}
	builder.failed = key.failed || section.failed;
	hp_container_add(&builder, "key ", HP_SECTION_REQUIRED, key.bytes, key.size);
	hp_container_add(&builder, "syms", HP_SECTION_REQUIRED, section.bytes, section.size);
	hp_writer_free(&key);
	hp_writer_free(&section);
	error = hp_bodies_encode(symbols, count, &builder);
	if (error) {
		hp_container_abandon(&builder);
		return error;
	}
	return hp_container_finish(&builder, file);
}

static struct hp_error *decode_symbol(const struct hp_section *section, struct hp_reader *reader,
				      uint64_t *end, bool *at_top, struct hp_symbol *symbol)
{
	uint64_t gap = 0;
	uint64_t less_one = 0;
	uint64_t last;

	if (!hp_read_varint(reader, &gap) || !hp_read_varint(reader, &less_one) ||
	    !hp_read_string(reader, &symbol->name))
		return hp_section_damaged(section, reader, "ends inside a symbol");
	if (*at_top || less_one == UINT64_MAX ||
	    __builtin_add_overflow(*end, gap, &symbol->offset.value))
		return hp_section_damaged(section, reader, "symbols run past 64 bits");
	symbol->size = less_one + 1;
	if (!last_byte(symbol, &last))
		return hp_section_damaged(section, reader, "symbols run past 64 bits");
	*at_top = __builtin_add_overflow(last, 1, end);
	return NULL;
}

/* a gap, a size, and the length of a name */
enum { LEAST_SYMBOL_BYTES = 3 };

static struct hp_error *decode_symbols(const struct hp_container *file,
				       struct hp_symbol_file *symbols)
{
	const struct hp_section *section;
	struct hp_reader reader;
	struct hp_error *error = hp_container_section(file, "syms", &section, &reader);
	uint64_t count = 0;
	uint64_t end = 0;
	bool at_top = false;

	if (error)
		return error;
	if (!hp_read_varint(&reader, &count))
		return hp_section_damaged(section, &reader,
					  "the number of symbols is out of range");
	if (count > hp_reader_left(&reader) / LEAST_SYMBOL_BYTES)
		return hp_section_overflows(section, &reader, count, "symbols",
					    hp_reader_left(&reader) / LEAST_SYMBOL_BYTES);
	symbols->symbols = calloc(count ? (size_t)count : 1, sizeof(*symbols->symbols));
	if (!symbols->symbols)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count && !error; i++) {
		symbols->count++;
		error = decode_symbol(section, &reader, &end, &at_top, &symbols->symbols[i]);
	}
	return error ? error : hp_section_check_end(section, &reader);
}

struct hp_error *hp_symbols_decode(uint8_t *bytes, size_t size, struct hp_symbol_file *symbols)
{
	struct hp_container file;
	struct hp_error *error = hp_container_parse(bytes, size, &hp_symbols_kind, &file);

	*symbols = (struct hp_symbol_file){ 0 };
	if (error)
		return error;
	error = hp_image_decode_key(&file, "symbols", &symbols->image);
	if (!error)
		error = decode_symbols(&file, symbols);
	symbols->has_unknown = file.has_unknown;
	if (!error && hp_container_has(&file, HP_BODIES_TAG)) {
		error = hp_bodies_decode(&file, symbols->symbols, symbols->count);
		if (error && error->class == HP_ERROR_DAMAGED)
			symbols->lost = hp_steal(error);
	}
	if (error)
		hp_symbol_file_clear(symbols);
	hp_container_clear(&file);
	return error;
}
