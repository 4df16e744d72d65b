/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/*
 * The first byte is not ASCII, and line ends of both kinds follow, so that a transfer in text mode
 * is noticed.
 */
static const uint8_t magic[8] = { 0x89, 'H', 'P', 'C', '\r', '\n', 0x1a, '\n' };

enum { AT_VERSION = 8, AT_KIND = 10, AT_SIZE = 12, AT_CRC = 20 };

/* Higher levels compress histograms only a little more, and take much more of the recorder's
 * time. */
enum { COMPRESSION_LEVEL = 3 };

static_assert(sizeof(magic) == AT_VERSION, "the version follows the magic");
static_assert(AT_CRC + 4 == HP_CONTAINER_HEADER_BYTES, "the CRC ends the header");

static uint32_t crc_of(uint32_t seed, const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(seed, bytes, size);
}

/* Covers the header up to its CRC, and the table. */
static uint32_t header_crc(const uint8_t *file, size_t table_bytes)
{
	uint32_t crc = crc_of(0, file, AT_CRC);

	return crc_of(crc, file + HP_CONTAINER_HEADER_BYTES, table_bytes);
}

static struct hp_error *damaged(size_t offset, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct hp_error *damaged(size_t offset, const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	message = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (!message)
		return hp_error_create_no_memory();
	return hp_error_create(HP_ERROR_DAMAGED, "offset 0x%zx: %s", offset, message);
}

struct hp_error *hp_section_damaged(const struct hp_section *section,
				    const struct hp_reader *reader, const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	size_t at = hp_reader_offset(reader);
	va_list arguments;

	va_start(arguments, format);
	message = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (!message)
		return hp_error_create_no_memory();
	return damaged(section->inflated ? section->offset : section->offset + at,
		       "section '%s', byte %zu: %s", section->tag, at, message);
}

struct hp_error *hp_section_overflows(const struct hp_section *section,
				      const struct hp_reader *reader, uint64_t count,
				      const char *what, size_t most)
{
	return hp_section_damaged(section, reader,
				  "%" PRIu64 " %s, and no more than %zu fit in what follows", count,
				  what, most);
}

/* The largest size of a compressed section that takes `stored_size` bytes in the file. */
static size_t hp_container_most_raw(const struct hp_container_kind *kind, size_t stored_size)
{
	uint64_t most = (uint64_t)stored_size * kind->most_times;

	if (most < HP_CONTAINER_FREE_RAW_BYTES)
		most = HP_CONTAINER_FREE_RAW_BYTES;
	return most < HP_CONTAINER_MAX_RAW_BYTES ? (size_t)most : HP_CONTAINER_MAX_RAW_BYTES;
}

/* --- parsing ------------------------------------------------------------------------------ */

struct header {
	uint16_t version;
	uint8_t letter;
	uint8_t section_count;
	uint64_t size;
	uint32_t crc;
};

static struct hp_error *parse_header(const struct hp_container *file,
				     const struct hp_container_kind *kind, struct header *header)
{
	struct hp_reader reader = hp_reader_over(file->bytes, file->size);
	const uint8_t *found;

	if (!hp_read_bytes(&reader, sizeof(magic), &found))
		return damaged(file->size, "ends inside the header");
	for (size_t i = 0; i < sizeof(magic); i++) {
		if (found[i] != magic[i])
			return damaged(i, "not a file of hpcprof's");
	}
	if (!hp_read_u16(&reader, &header->version) || !hp_read_u8(&reader, &header->letter) ||
	    !hp_read_u8(&reader, &header->section_count) || !hp_read_u64(&reader, &header->size) ||
	    !hp_read_u32(&reader, &header->crc))
		return damaged(file->size, "ends inside the header");
	if (header->version > HP_CONTAINER_VERSION)
		return hp_error_advise(
			damaged(AT_VERSION,
				"format version %u is newer than this hpcprof reads (%d)",
				header->version, HP_CONTAINER_VERSION),
			"use the hpcprof that wrote it, or a newer one; if no newer one was ever "
			"used here, the file is damaged");
	if (header->version != HP_CONTAINER_VERSION)
		return damaged(AT_VERSION, "format version %u does not exist", header->version);
	if (header->section_count > HP_CONTAINER_MAX_SECTIONS)
		return damaged(AT_KIND + 1, "%u sections, more than %d", header->section_count,
			       HP_CONTAINER_MAX_SECTIONS);
	if (header->size != file->size)
		return damaged(AT_SIZE, "the file has %zu bytes, and should have %" PRIu64,
			       file->size, header->size);
	if (hp_reader_left(&reader) < header->section_count * (size_t)HP_CONTAINER_ENTRY_BYTES)
		return damaged(file->size, "ends inside the section table");
	if (header->crc !=
	    header_crc(file->bytes, header->section_count * (size_t)HP_CONTAINER_ENTRY_BYTES))
		return damaged(AT_CRC, "the checksum of the header does not fit");
	if (header->letter != kind->letter)
		return damaged(AT_KIND, "not a %s file", kind->noun);
	return NULL;
}

static bool tag_is_printable(const char *tag)
{
	for (size_t i = 0; i < 4; i++) {
		if (tag[i] < 0x20 || tag[i] > 0x7e)
			return false;
	}
	return true;
}

static bool is_among(const char *const *tags, const char *tag)
{
	for (; tags && *tags; tags++) {
		if (strcmp(*tags, tag) == 0)
			return true;
	}
	return false;
}

static struct hp_error *read_contents(const struct hp_container_kind *kind,
				      struct hp_section *section)
{
	size_t most = hp_container_most_raw(kind, section->stored_size);
	unsigned long long claimed;
	size_t frame;
	size_t got;

	if (!(section->flags & HP_SECTION_ZSTD)) {
		section->raw = section->stored;
		return NULL;
	}
	if (section->raw_size > most)
		return damaged(section->offset,
			       "section '%s': %zu bytes are compressed to %zu, and no more than "
			       "%zu may be",
			       section->tag, section->raw_size, section->stored_size, most);
	claimed = ZSTD_getFrameContentSize(section->stored, section->stored_size);
	frame = ZSTD_findFrameCompressedSize(section->stored, section->stored_size);
	if (ZSTD_isError(frame) || frame != section->stored_size || claimed != section->raw_size)
		return damaged(section->offset, "section '%s': not one zstd frame of %zu bytes",
			       section->tag, section->raw_size);
	section->inflated = malloc(section->raw_size ? section->raw_size : 1);
	if (!section->inflated)
		return hp_error_create_no_memory();
	got = ZSTD_decompress(section->inflated, section->raw_size, section->stored,
			      section->stored_size);
	if (ZSTD_isError(got) || got != section->raw_size)
		return damaged(section->offset, "section '%s': zstd: %s", section->tag,
			       ZSTD_isError(got) ? ZSTD_getErrorName(got) : "too short");
	section->raw = section->inflated;
	return NULL;
}

static struct hp_error *check_stored(const struct hp_section *section, uint32_t crc)
{
	if (crc_of(0, section->stored, section->stored_size) == crc)
		return NULL;
	return damaged(section->offset, "the checksum of section '%s' does not fit", section->tag);
}

/* Damage to an expendable section is kept with the section. */
static struct hp_error *read_expendable(const struct hp_container_kind *kind,
					struct hp_section *section, uint32_t crc)
{
	struct hp_error *error = check_stored(section, crc);

	if (!error)
		error = read_contents(kind, section);
	if (error && error->class == HP_ERROR_DAMAGED)
		section->damage = hp_steal(error);
	return error;
}

/* Parses one entry of the table and the section's bytes, which begin at `*data`. */
static struct hp_error *parse_section(struct hp_container *file, struct hp_reader *table,
				      const struct hp_container_kind *kind, size_t *data)
{
	struct hp_section *section = &file->sections[file->section_count++];
	size_t entry = hp_reader_offset(table);
	struct hp_error *error;
	uint32_t stored_size = 0;
	uint32_t raw_size = 0;
	uint32_t crc = 0;
	const uint8_t *tag = NULL;

	*section = (struct hp_section){ .offset = *data };
	if (!hp_read_bytes(table, 4, &tag) || !hp_read_u32(table, &section->flags) ||
	    !hp_read_u32(table, &stored_size) || !hp_read_u32(table, &raw_size) ||
	    !hp_read_u32(table, &crc))
		return damaged(entry, "ends inside the section table");
	memcpy(section->tag, tag, 4);
	if (!tag_is_printable(section->tag))
		return damaged(entry, "a section tag of unprintable bytes");
	if (section->flags & ~(uint32_t)(HP_SECTION_REQUIRED | HP_SECTION_ZSTD))
		return damaged(entry, "section '%s' has unknown flags 0x%" PRIx32, section->tag,
			       section->flags);
	if (stored_size > file->size - *data)
		return damaged(*data, "section '%s' runs past the end", section->tag);
	if (raw_size > HP_CONTAINER_MAX_RAW_BYTES ||
	    (!(section->flags & HP_SECTION_ZSTD) && raw_size != stored_size))
		return damaged(entry,
			       "section '%s' claims %" PRIu32 " bytes, of %" PRIu32
			       " in the file; the most are %d",
			       section->tag, raw_size, stored_size, HP_CONTAINER_MAX_RAW_BYTES);
	section->stored = file->bytes + *data;
	section->stored_size = stored_size;
	section->raw_size = raw_size;
	*data += stored_size;
	if (is_among(kind->expendable, section->tag))
		return read_expendable(kind, section, crc);
	error = check_stored(section, crc);
	if (error)
		return error;
	if (!is_among(kind->tags, section->tag)) {
		file->has_unknown = true;
		if (section->flags & HP_SECTION_REQUIRED)
			return hp_error_advise(damaged(entry,
						       "section '%s' is not known to this version "
						       "and may not be skipped",
						       section->tag),
					       "use the hpcprof that wrote it, or a newer one");
		return NULL;
	}
	return read_contents(kind, section);
}

static struct hp_error *check_distinct(const struct hp_container *file)
{
	for (size_t i = 0; i < file->section_count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (file->sections[i].raw &&
			    strcmp(file->sections[i].tag, file->sections[j].tag) == 0)
				return damaged(file->sections[i].offset, "a second section '%s'",
					       file->sections[i].tag);
		}
	}
	return NULL;
}

static struct hp_error *parse(struct hp_container *file, const struct hp_container_kind *kind)
{
	struct header header = { 0 };
	struct hp_error *error = parse_header(file, kind, &header);
	struct hp_reader table;
	size_t table_bytes;
	size_t data;

	if (error)
		return error;
	table_bytes = header.section_count * (size_t)HP_CONTAINER_ENTRY_BYTES;
	data = HP_CONTAINER_HEADER_BYTES + table_bytes;
	/* The reader covers the whole file, so that positions are offsets. */
	table = hp_reader_over(file->bytes, data);
	table.at += HP_CONTAINER_HEADER_BYTES;
	for (size_t i = 0; i < header.section_count && !error; i++)
		error = parse_section(file, &table, kind, &data);
	if (!error && data != file->size)
		error = damaged(data, "%zu bytes after the last section", file->size - data);
	return error ? error : check_distinct(file);
}

struct hp_error *hp_container_parse(uint8_t *bytes, size_t size,
				    const struct hp_container_kind *kind,
				    struct hp_container *container)
{
	struct hp_error *error;

	*container = (struct hp_container){ .bytes = bytes, .size = size };
	error = parse(container, kind);
	if (error)
		hp_container_clear(container);
	return error;
}

void hp_container_clear(struct hp_container *container)
{
	for (size_t i = 0; i < container->section_count; i++) {
		free(container->sections[i].inflated);
		hp_error_destroy(container->sections[i].damage);
	}
	free(container->bytes);
	*container = (struct hp_container){ 0 };
}

static const struct hp_section *find(const struct hp_container *container, const char *tag)
{
	for (size_t i = 0; i < container->section_count; i++)
		if (strcmp(container->sections[i].tag, tag) == 0)
			return &container->sections[i];
	return NULL;
}

bool hp_container_has(const struct hp_container *container, const char *tag)
{
	return find(container, tag);
}

struct hp_error *hp_container_section(const struct hp_container *container, const char *tag,
				      const struct hp_section **section, struct hp_reader *reader)
{
	*section = find(container, tag);
	if (*section && (*section)->damage)
		return hp_error_create(HP_ERROR_DAMAGED, "%s", (*section)->damage->message);
	if (*section) {
		*reader = hp_reader_over((*section)->raw, (*section)->raw_size);
		return NULL;
	}
	return damaged(HP_CONTAINER_HEADER_BYTES, "section '%s' is missing", tag);
}

/* --- writing ------------------------------------------------------------------------------ */

static struct hp_section *begin_section(struct hp_container_builder *builder, const char *tag,
					uint32_t flags, size_t size)
{
	struct hp_section *section;

	if (builder->section_count == HP_CONTAINER_MAX_SECTIONS ||
	    size > HP_CONTAINER_MAX_RAW_BYTES)
		builder->failed = true;
	if (builder->failed)
		return NULL;
	section = &builder->sections[builder->section_count];
	*section = (struct hp_section){ .flags = flags, .raw_size = size };
	memcpy(section->tag, tag, 4);
	return section;
}

static void end_section(struct hp_container_builder *builder, struct hp_section *section,
			size_t stored_size)
{
	if (!section->inflated) {
		builder->failed = true;
		return;
	}
	section->stored = section->inflated;
	section->stored_size = stored_size;
	builder->section_count++;
}

/* Returns 0 if the section does not get smaller. */
static size_t compress_section(struct hp_section *section, const void *bytes, size_t size)
{
	size_t got;

	if (!size)
		return 0;
	/* With room for one byte less, a result that is not smaller is an error. */
	got = ZSTD_compress(section->inflated, size - 1, bytes, size, COMPRESSION_LEVEL);
	return ZSTD_isError(got) ? 0 : got;
}

void hp_container_add(struct hp_container_builder *builder, const char *tag, uint32_t flags,
		      const void *bytes, size_t size)
{
	struct hp_section *section = begin_section(builder, tag, flags, size);
	size_t stored_size;

	if (!section)
		return;
	section->inflated = malloc(size ? size : 1);
	if (!section->inflated) {
		builder->failed = true;
		return;
	}
	stored_size = builder->plain ? 0 : compress_section(section, bytes, size);
	if (stored_size && size <= hp_container_most_raw(builder->kind, stored_size)) {
		section->flags |= HP_SECTION_ZSTD;
	} else {
		if (size)
			memcpy(section->inflated, bytes, size);
		stored_size = size;
	}
	end_section(builder, section, stored_size);
}

void hp_container_copy(struct hp_container_builder *builder, const struct hp_section *from)
{
	struct hp_section *section = begin_section(builder, from->tag, from->flags, from->raw_size);

	if (!section)
		return;
	section->inflated = malloc(from->stored_size ? from->stored_size : 1);
	if (section->inflated && from->stored_size)
		memcpy(section->inflated, from->stored, from->stored_size);
	end_section(builder, section, from->stored_size);
}

void hp_container_abandon(struct hp_container_builder *builder)
{
	for (size_t i = 0; i < builder->section_count; i++)
		free(builder->sections[i].inflated);
	*builder = (struct hp_container_builder){ .kind = builder->kind };
}

static void write_file(const struct hp_container_builder *builder, uint64_t size,
		       struct hp_writer *file)
{
	hp_write_bytes(file, magic, sizeof(magic));
	hp_write_u16(file, HP_CONTAINER_VERSION);
	hp_write_u8(file, builder->kind->letter);
	hp_write_u8(file, (uint8_t)builder->section_count);
	hp_write_u64(file, size);
	hp_write_u32(file, 0);
	for (size_t i = 0; i < builder->section_count; i++) {
		const struct hp_section *section = &builder->sections[i];

		hp_write_bytes(file, section->tag, 4);
		hp_write_u32(file, section->flags);
		hp_write_u32(file, (uint32_t)section->stored_size);
		hp_write_u32(file, (uint32_t)section->raw_size);
		hp_write_u32(file, crc_of(0, section->stored, section->stored_size));
	}
	for (size_t i = 0; i < builder->section_count; i++)
		hp_write_bytes(file, builder->sections[i].stored, builder->sections[i].stored_size);
}

struct hp_error *hp_container_finish(struct hp_container_builder *builder, struct hp_writer *file)
{
	size_t table_bytes = builder->section_count * (size_t)HP_CONTAINER_ENTRY_BYTES;
	uint64_t size = HP_CONTAINER_HEADER_BYTES + table_bytes;
	struct hp_writer crc = { 0 };

	for (size_t i = 0; i < builder->section_count; i++)
		size += builder->sections[i].stored_size;
	*file = (struct hp_writer){ 0 };
	if (!builder->failed && size <= HP_CONTAINER_MAX_FILE_BYTES)
		write_file(builder, size, file);
	else
		file->failed = true;
	hp_container_abandon(builder);
	if (!file->failed)
		hp_write_u32(&crc, header_crc(file->bytes, table_bytes));
	if (file->failed || crc.failed) {
		hp_writer_free(file);
		hp_writer_free(&crc);
		return hp_error_create(HP_ERROR_SYSTEM,
				       "too large for one file, or memory is short");
	}
	memcpy(file->bytes + AT_CRC, crc.bytes, 4);
	hp_writer_free(&crc);
	return NULL;
}
