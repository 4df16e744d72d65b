/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bodies of named procedures, in the file of names. */
#include "codec.h"

#include <inttypes.h>
#include <stdlib.h>

/* of one body: its gap, its instructions, and the sizes of both sets */
enum { LEAST_BODY_BYTES = 4 };

/* --- writing ------------------------------------------------------------------------------ */

static bool check_hashes(const struct hp_hashes *hashes)
{
	if (hashes->count > HP_BODY_MOST_HASHES)
		return false;
	for (size_t i = 1; i < hashes->count; i++)
		if (hashes->at[i] <= hashes->at[i - 1])
			return false;
	return true;
}

static void encode_hashes(const struct hp_hashes *hashes, struct hp_writer *section)
{
	hp_write_u8(section, (uint8_t)hashes->count);
	for (size_t i = 0; i < hashes->count; i++)
		hp_write_varint(section, i ? hashes->at[i] - hashes->at[i - 1] - 1 : hashes->at[0]);
}

static bool has_body(const struct hp_symbol *symbol)
{
	return symbol->body && symbol->body->instructions;
}

struct hp_error *hp_bodies_encode(const struct hp_symbol *symbols, size_t count,
				  struct hp_container_builder *builder)
{
	struct hp_writer section = { 0 };
	size_t total = 0;
	size_t next = 0;
	size_t done = 0;

	for (size_t i = 0; i < count; i++) {
		if (!has_body(&symbols[i]))
			continue;
		if (!check_hashes(&symbols[i].body->exact) ||
		    !check_hashes(&symbols[i].body->shape))
			return hp_error_create(HP_ERROR_USAGE,
					       "hashes of a body out of order, or too many");
		total++;
	}
	if (!total)
		return NULL;
	total = total < HP_BODIES_MOST ? total : HP_BODIES_MOST;
	hp_write_varint(&section, total);
	for (size_t i = 0; done < total; i++) {
		const struct hp_body *body = symbols[i].body;

		if (!has_body(&symbols[i]))
			continue;
		hp_write_varint(&section, i - next);
		hp_write_varint(&section, body->instructions - 1);
		encode_hashes(&body->exact, &section);
		encode_hashes(&body->shape, &section);
		next = i + 1;
		done++;
	}
	builder->failed = builder->failed || section.failed;
	hp_container_add(builder, HP_BODIES_TAG, 0, section.bytes, section.size);
	hp_writer_free(&section);
	return NULL;
}

/* --- reading ------------------------------------------------------------------------------ */

static struct hp_error *decode_hashes(const struct hp_section *section, struct hp_reader *reader,
				      struct hp_hashes *hashes)
{
	uint64_t least = 0;
	uint8_t count;

	if (!hp_read_u8(reader, &count) || count > HP_BODY_MOST_HASHES)
		return hp_section_damaged(section, reader,
					  "not a number of hashes, of which %d "
					  "are the most",
					  HP_BODY_MOST_HASHES);
	for (; hashes->count < count; hashes->count++) {
		uint64_t gap;

		/* No sum here can wrap, since `least` has 32 bits. */
		if (!hp_read_varint(reader, &gap) || gap > UINT32_MAX || least + gap > UINT32_MAX)
			return hp_section_damaged(section, reader, "a hash past 32 bits");
		hashes->at[hashes->count] = (uint32_t)(least + gap);
		least += gap + 1;
	}
	return NULL;
}

static struct hp_error *decode_body(const struct hp_section *section, struct hp_reader *reader,
				    struct hp_body *body)
{
	struct hp_error *error;
	uint64_t less_one;

	if (!hp_read_varint(reader, &less_one) || less_one >= UINT32_MAX)
		return hp_section_damaged(section, reader, "the size of a body");
	body->instructions = (uint32_t)less_one + 1;
	error = decode_hashes(section, reader, &body->exact);
	return error ? error : decode_hashes(section, reader, &body->shape);
}

static struct hp_error *decode_bodies(const struct hp_section *section, struct hp_reader *reader,
				      struct hp_symbol *symbols, size_t count)
{
	struct hp_error *error = NULL;
	uint64_t total;
	size_t next = 0;

	if (!hp_read_varint(reader, &total) || !total)
		return hp_section_damaged(section, reader, "the number of bodies is out of range");
	if (total > HP_BODIES_MOST)
		return hp_section_damaged(section, reader, "%" PRIu64 " bodies, more than %d",
					  total, HP_BODIES_MOST);
	if (total > hp_reader_left(reader) / LEAST_BODY_BYTES)
		return hp_section_overflows(section, reader, total, "bodies",
					    hp_reader_left(reader) / LEAST_BODY_BYTES);
	for (uint64_t i = 0; i < total && !error; i++) {
		struct hp_symbol *symbol;
		uint64_t gap;

		if (!hp_read_varint(reader, &gap) || gap >= count - next)
			return hp_section_damaged(section, reader, "a body without a name");
		symbol = &symbols[next + gap];
		next += gap + 1;
		symbol->body = calloc(1, sizeof(*symbol->body));
		error = symbol->body ? decode_body(section, reader, symbol->body)
				     : hp_error_create_no_memory();
	}
	return error ? error : hp_section_check_end(section, reader);
}

struct hp_error *hp_bodies_decode(const struct hp_container *file, struct hp_symbol *symbols,
				  size_t count)
{
	const struct hp_section *section;
	struct hp_reader reader;
	struct hp_error *error = hp_container_section(file, HP_BODIES_TAG, &section, &reader);

	if (!error)
		error = decode_bodies(section, &reader, symbols, count);
	for (size_t i = 0; i < count && error; i++) {
		free(symbols[i].body);
		symbols[i].body = NULL;
	}
	return error;
}
