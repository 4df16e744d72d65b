/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Excerpts of images as files. Each layer is a section, and is readable if the others are damaged.
 */
#include "codec.h"
#include "excerpt_lines.h"
#include "excerpt_reading.h"

#include <hpcprof/base/cleanup.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAP_TAG	  "map "
#define LINES_TAG "lin2"
/* used by older epochs */
#define OLD_LINES_TAG "line"
#define CODE_TAG      "code"

static const char *const tags[] = { "key ", MAP_TAG, LINES_TAG, OLD_LINES_TAG, CODE_TAG, NULL };
static const char *const expendable_tags[] = { MAP_TAG, LINES_TAG, OLD_LINES_TAG, CODE_TAG, NULL };
const struct hp_container_kind hp_excerpt_kind = {
	.letter = 'C',
	.noun = "excerpt",
	.tags = tags,
	.expendable = expendable_tags,
	.most_times = 64,
};

enum { FLAG_NEVER_RETURNS = 1, FLAG_HAS_NAMESAKE = 2, FLAG_IS_OWNED = 4, FLAG_HAS_NAME = 8 };
enum { SEGMENT_EXECUTABLE = 1, SEGMENT_WRITABLE = 2 };

void hp_excerpt_file_clear(struct hp_excerpt_file *file)
{
	hp_image_id_clear(&file->image);
	hp_excerpt_clear(&file->excerpt);
	hp_error_destroy(file->lost);
	*file = (struct hp_excerpt_file){ 0 };
}

/* --- writing ------------------------------------------------------------------------------ */

static void write_map(const struct hp_excerpt *excerpt, struct hp_writer *section)
{
	uint64_t end = 0;

	hp_write_u16(section, excerpt->machine);
	hp_write_string(section, excerpt->origin ? excerpt->origin : "");
	hp_write_varint(section, excerpt->compilers_size);
	hp_write_bytes(section, excerpt->compilers, excerpt->compilers_size);
	hp_write_varint(section, excerpt->segments.count);
	for (size_t i = 0; i < excerpt->segments.count; i++) {
		const struct hp_excerpt_segment *segment = &excerpt->segments.at[i];

		hp_write_u8(section, (uint8_t)((segment->is_executable ? SEGMENT_EXECUTABLE : 0) |
					       (segment->is_writable ? SEGMENT_WRITABLE : 0)));
		hp_write_varint(section, segment->address);
		hp_write_varint(section, segment->offset);
		hp_write_varint(section, segment->bytes);
	}
	hp_write_varint(section, excerpt->texts.count);
	for (size_t i = 0; i < excerpt->texts.count; i++) {
		hp_write_varint(section, excerpt->texts.at[i].address - end);
		hp_write_varint(section,
				excerpt->texts.at[i].end - excerpt->texts.at[i].address - 1);
		end = excerpt->texts.at[i].end;
	}
	hp_write_varint(section, excerpt->parts.count);
	end = 0;
	for (size_t i = 0; i < excerpt->parts.count; i++) {
		const struct hp_excerpt_part *part = &excerpt->parts.at[i];
		bool is_owned = part->owner != part->address;

		hp_write_varint(section, part->address - end);
		hp_write_varint(section, part->size - 1);
		hp_write_u8(section, part->source);
		hp_write_u8(section, (uint8_t)((part->never_returns ? FLAG_NEVER_RETURNS : 0) |
					       (part->has_namesake ? FLAG_HAS_NAMESAKE : 0) |
					       (is_owned ? FLAG_IS_OWNED : 0) |
					       (part->linkage ? FLAG_HAS_NAME : 0)));
		if (is_owned)
			hp_write_varint(section, part->owner);
		if (part->linkage)
			hp_write_string(section, part->linkage);
		end = part->address + part->size;
	}
}

static void write_code(const struct hp_excerpt *excerpt, struct hp_writer *section)
{
	uint64_t before = 0;

	hp_write_varint(section, excerpt->ranges.count);
	for (size_t i = 0; i < excerpt->ranges.count; i++) {
		const struct hp_excerpt_range *range = &excerpt->ranges.at[i];

		hp_write_varint(section, range->address - before);
		hp_write_varint(section, range->size - 1);
		hp_write_bytes(section, range->bytes, range->size);
		before = range->address + range->size;
	}
	before = 0;
	hp_write_varint(section, excerpt->landings.count);
	for (size_t i = 0; i < excerpt->landings.count; i++) {
		const struct hp_excerpt_landing *landing = &excerpt->landings.at[i];

		hp_write_varint(section, landing->start - before);
		hp_write_varint(section, landing->end - landing->start);
		hp_write_varint(section, landing->landing);
		before = landing->start;
	}
	before = 0;
	hp_write_varint(section, excerpt->pointers.count);
	for (size_t i = 0; i < excerpt->pointers.count; i++) {
		hp_write_varint(section, excerpt->pointers.at[i].target - before);
		hp_write_varint(section, excerpt->pointers.at[i].where);
		before = excerpt->pointers.at[i].target;
	}
	before = 0;
	hp_write_varint(section, excerpt->imports.count);
	for (size_t i = 0; i < excerpt->imports.count; i++) {
		hp_write_varint(section, excerpt->imports.at[i].where - before);
		hp_write_string(section, excerpt->imports.at[i].name);
		before = excerpt->imports.at[i].where;
	}
}

static void add_section(struct hp_container_builder *builder, const char *tag,
			const struct hp_excerpt *excerpt,
			void (*write)(const struct hp_excerpt *excerpt, struct hp_writer *section))
{
	struct hp_writer section = { 0 };

	write(excerpt, &section);
	builder->failed = builder->failed || section.failed;
	hp_container_add(builder, tag, 0, section.bytes, section.size);
	hp_writer_free(&section);
}

struct hp_error *hp_excerpt_encode(const struct hp_image_id *image,
				   const struct hp_excerpt *excerpt, struct hp_writer *file)
{
	struct hp_container_builder builder = { .kind = &hp_excerpt_kind };
	struct hp_writer key = { 0 };
	struct hp_error *error = hp_image_check(image);

	if (!error)
		error = hp_excerpt_check(excerpt);
	if (error)
		return error;
	hp_image_encode(image, 0, &key);
	builder.failed = key.failed;
	hp_container_add(&builder, "key ", HP_SECTION_REQUIRED, key.bytes, key.size);
	hp_writer_free(&key);
	add_section(&builder, MAP_TAG, excerpt, write_map);
	if (excerpt->lines.count)
		add_section(&builder, LINES_TAG, excerpt, excerpt_write_lines);
	if (excerpt->ranges.count)
		add_section(&builder, CODE_TAG, excerpt, write_code);
	return hp_container_finish(&builder, file);
}

/* --- reading ------------------------------------------------------------------------------ */

static void read_parts(struct reading *reading, struct hp_excerpt *excerpt)
{
	size_t count = reading_count(reading, 4, HP_EXCERPT_MOST_PARTS, "procedures");
	uint64_t end = 0;

	reading_reserve(reading, &excerpt->parts, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_part part = { 0 };
		uint8_t flags;

		part.address = reading_sum(reading, end, reading_number(reading));
		part.size = reading_size(reading, part.address);
		part.source = reading_byte(reading);
		flags = reading_byte(reading);
		if (flags &
		    ~(FLAG_NEVER_RETURNS | FLAG_HAS_NAMESAKE | FLAG_IS_OWNED | FLAG_HAS_NAME))
			reading_refuse(reading, "unknown flags");
		part.never_returns = flags & FLAG_NEVER_RETURNS;
		part.has_namesake = flags & FLAG_HAS_NAMESAKE;
		part.owner = flags & FLAG_IS_OWNED ? reading_number(reading) : part.address;
		if (flags & FLAG_HAS_NAME)
			part.linkage = reading_text(reading);
		end = part.address + part.size;
		excerpt->parts.at[excerpt->parts.count++] = part;
	}
}

static void read_compilers(struct reading *reading, struct hp_excerpt *excerpt)
{
	size_t size = reading_count(reading, 1, SIZE_MAX, "bytes");
	const uint8_t *bytes = NULL;

	if (reading->error)
		return;
	excerpt->compilers = malloc(size + 1);
	if (!excerpt->compilers)
		reading->error = hp_error_create_no_memory();
	else if (!hp_read_bytes(&reading->reader, size, &bytes))
		reading_refuse(reading, "ends inside an entry");
	else
		memcpy(excerpt->compilers, bytes, size);
	excerpt->compilers_size = reading->error ? 0 : size;
}

static void read_map(struct reading *reading, struct hp_excerpt *excerpt)
{
	uint64_t end = 0;
	size_t count;

	if (!hp_read_u16(&reading->reader, &excerpt->machine) || !excerpt->machine)
		reading_refuse(reading, "not a machine");
	excerpt->origin = reading_text(reading);
	read_compilers(reading, excerpt);
	count = reading_count(reading, 4, HP_EXCERPT_MOST_SEGMENTS, "segments");
	reading_reserve(reading, &excerpt->segments, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_segment segment = { 0 };
		uint8_t flags = reading_byte(reading);

		if (flags & ~(SEGMENT_EXECUTABLE | SEGMENT_WRITABLE))
			reading_refuse(reading, "unknown flags");
		segment.is_executable = flags & SEGMENT_EXECUTABLE;
		segment.is_writable = flags & SEGMENT_WRITABLE;
		segment.address = reading_number(reading);
		segment.offset = reading_number(reading);
		segment.bytes = reading_number(reading);
		excerpt->segments.at[excerpt->segments.count++] = segment;
	}
	count = reading_count(reading, 2, HP_EXCERPT_MOST_TEXTS, "sections");
	reading_reserve(reading, &excerpt->texts, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_text text = { 0 };

		text.address = reading_sum(reading, end, reading_number(reading));
		text.end = end = text.address + reading_size(reading, text.address);
		excerpt->texts.at[excerpt->texts.count++] = text;
	}
	read_parts(reading, excerpt);
}

static void read_ranges(struct reading *reading, struct hp_excerpt *excerpt)
{
	size_t count = reading_count(reading, 3, HP_EXCERPT_MOST_RANGES, "ranges");
	uint64_t end = 0;

	reading_reserve(reading, &excerpt->ranges, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_range range = { 0 };
		const uint8_t *bytes = NULL;
		uint64_t size;

		range.address = reading_sum(reading, end, reading_number(reading));
		size = reading_size(reading, range.address);
		if (size > hp_reader_left(&reading->reader))
			reading_refuse(reading, "code runs past the end");
		if (reading->error)
			break;
		range.size = (size_t)size;
		range.bytes = malloc(range.size);
		if (!range.bytes) {
			reading->error = hp_error_create_no_memory();
			break;
		}
		hp_read_bytes(&reading->reader, range.size, &bytes);
		memcpy(range.bytes, bytes, range.size);
		end = range.address + range.size;
		excerpt->ranges.at[excerpt->ranges.count++] = range;
	}
}

static void read_landings(struct reading *reading, struct hp_excerpt *excerpt)
{
	size_t count = reading_count(reading, 3, HP_EXCERPT_MOST_LANDINGS, "landing pads");
	uint64_t before = 0;

	reading_reserve(reading, &excerpt->landings, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_landing landing = { 0 };

		landing.start = reading_sum(reading, before, reading_number(reading));
		landing.end = reading_sum(reading, landing.start, reading_number(reading));
		landing.landing = reading_number(reading);
		before = landing.start;
		excerpt->landings.at[excerpt->landings.count++] = landing;
	}
}

static void read_code(struct reading *reading, struct hp_excerpt *excerpt)
{
	uint64_t before = 0;
	size_t count;

	read_ranges(reading, excerpt);
	read_landings(reading, excerpt);
	count = reading_count(reading, 2, HP_EXCERPT_MOST_POINTERS, "pointers");
	reading_reserve(reading, &excerpt->pointers, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_pointer pointer = { 0 };

		pointer.target = before = reading_sum(reading, before, reading_number(reading));
		pointer.where = reading_number(reading);
		excerpt->pointers.at[excerpt->pointers.count++] = pointer;
	}
	before = 0;
	count = reading_count(reading, 2, HP_EXCERPT_MOST_IMPORTS, "imports");
	reading_reserve(reading, &excerpt->imports, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_import import = { 0 };

		import.where = before = reading_sum(reading, before, reading_number(reading));
		import.name = reading_text(reading);
		excerpt->imports.at[excerpt->imports.count++] = import;
	}
}

static struct hp_error *read_section(const struct hp_container *file, const char *tag,
				     struct hp_excerpt *excerpt,
				     void (*read)(struct reading *reading,
						  struct hp_excerpt *excerpt))
{
	struct reading reading = { 0 };
	struct hp_error *error = hp_container_section(file, tag, &reading.section, &reading.reader);

	if (error)
		return error;
	read(&reading, excerpt);
	if (!reading.error)
		reading.error = hp_section_check_end(reading.section, &reading.reader);
	/* The excerpt so far is checked: a layer is valid without those after it. */
	if (!reading.error) {
		error = hp_excerpt_check(excerpt);
		if (error && error->class == HP_ERROR_DAMAGED)
			reading_refuse(&reading, error->message);
		else
			reading.error = hp_steal(error);
		hp_error_destroy(error);
	}
	return reading.error;
}

/* Keeps the first damage as the reason. Any other error ends the decoding. */
static struct hp_error *lose(struct hp_excerpt_file *file, struct hp_error *error)
{
	if (error->class != HP_ERROR_DAMAGED)
		return error;
	if (file->lost)
		hp_error_destroy(error);
	else
		file->lost = error;
	return NULL;
}

static struct hp_error *decode_layers(const struct hp_container *container,
				      struct hp_excerpt_file *file)
{
	struct hp_error *error = read_section(container, MAP_TAG, &file->excerpt, read_map);
	bool is_new = hp_container_has(container, LINES_TAG);

	/* Without the map, lines and code cannot be used. */
	if (error) {
		hp_excerpt_clear(&file->excerpt);
		return lose(file, error);
	}
	if (is_new || hp_container_has(container, OLD_LINES_TAG)) {
		error = read_section(container, is_new ? LINES_TAG : OLD_LINES_TAG, &file->excerpt,
				     is_new ? excerpt_read_lines : excerpt_read_old_lines);
		if (error) {
			hp_excerpt_clear_lines(&file->excerpt);
			error = lose(file, error);
		}
	}
	if (!error && hp_container_has(container, CODE_TAG)) {
		error = read_section(container, CODE_TAG, &file->excerpt, read_code);
		if (error) {
			hp_excerpt_clear_code(&file->excerpt);
			error = lose(file, error);
		}
	}
	return error;
}

struct hp_error *hp_excerpt_decode(uint8_t *bytes, size_t size, struct hp_excerpt_file *file)
{
	struct hp_container container;
	struct hp_error *error = hp_container_parse(bytes, size, &hp_excerpt_kind, &container);

	*file = (struct hp_excerpt_file){ 0 };
	if (error)
		return error;
	error = hp_image_decode_key(&container, "an excerpt", &file->image);
	if (!error)
		error = decode_layers(&container, file);
	file->has_unknown = container.has_unknown;
	if (error)
		hp_excerpt_file_clear(file);
	hp_container_clear(&container);
	return error;
}
