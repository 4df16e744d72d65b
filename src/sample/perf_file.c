/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/search.h>
#include <hpcprof/sample/perf_file.h>

#include "perf_file_parts.h"
#include "tuning.h"

#include <hpcprof/base/bytes.h>

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Types of records that perf adds to the kernel's. */
enum {
	RECORD_ATTR = 64,
	RECORD_TRACING_DATA = 66,
	RECORD_BUILD_ID = 67,
	RECORD_AUXTRACE = 71,
	RECORD_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
};

enum { PIPE_HEADER_BYTES = 16, FILE_HEADER_BYTES = 104, FEATURES = 256 };

void hp_perf_file_clear(struct hp_perf_file *file)
{
	for (size_t i = 0; i < file->events.count; i++) {
		free(file->events.at[i].name);
		hp_vector_free(&file->events.at[i].ids);
	}
	hp_vector_free(&file->events);
	hp_vector_free(&file->build_ids);
	hp_vector_free(&file->records);
	free(file->host);
	free(file->kernel);
	free(file->architecture);
	free(file->cpu_model);
	for (char **word = file->command_line; word && *word; word++)
		free(*word);
	free(file->command_line);
	free(file->unpacked);
	ZSTD_freeDCtx(file->unpacker);
	*file = (struct hp_perf_file){ 0 };
}

static struct hp_error *damaged(const char *what)
{
	return hp_error_create(HP_ERROR_DAMAGED, "no perf.data file, or a damaged one: %s", what);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Compressed records form one stream; records of the kernel may be divided among them. */
static struct hp_error *unpack(struct hp_perf_file *file, const uint8_t *bytes, size_t size)
{
	ZSTD_inBuffer in = { bytes, size, 0 };

	if (!file->unpacker)
		file->unpacker = ZSTD_createDCtx();
	if (!file->unpacker)
		return hp_error_create_no_memory();
	while (in.pos < in.size) {
		size_t before = in.pos;
		ZSTD_outBuffer output;
		size_t status;

		if (file->unpacked_size >= PERF_FILE_UNPACKED_BYTES)
			return damaged("compressed records unpack to too much");
		if (!hp_grow((void **)&file->unpacked, &file->unpacked_capacity,
			     file->unpacked_size + ZSTD_DStreamOutSize(), 1))
			return hp_error_create_no_memory();
		output = (ZSTD_outBuffer){ file->unpacked + file->unpacked_size,
					   file->unpacked_capacity - file->unpacked_size, 0 };
		status = ZSTD_decompressStream(file->unpacker, &output, &in);
		if (ZSTD_isError(status) || (in.pos == before && !output.pos))
			return damaged("compressed records do not unpack");
		file->unpacked_size += output.pos;
	}
	return NULL;
}

static bool add_record(struct hp_perf_file *file, const uint8_t *bytes, size_t size)
{
	struct hp_perf_record record = {
		.number = file->records.count,
		.bytes = bytes,
		.size = size,
	};

	return hp_vector_push(&file->records, record);
}

/* Takes a record that perf has added. `behind`: bytes after the record that belong to it. */
static struct hp_error *take_own(struct hp_perf_file *file, const struct perf_event_header *header,
				 const uint8_t *bytes, uint64_t *behind)
{
	struct hp_reader reader =
		hp_reader_over(bytes + sizeof(*header), header->size - sizeof(*header));
	uint64_t number = 0;
	uint32_t size = 0;

	switch (header->type) {
	case RECORD_ATTR:
		return perf_file_take_attr(file, &reader);
	case RECORD_BUILD_ID:
		return perf_file_take_build_ids(file, bytes, header->size);
	case RECORD_FEATURE:
		return hp_read_copy(&reader, &number, sizeof(number))
			       ? perf_file_take_feature(file, number, reader.at,
							hp_reader_left(&reader))
			       : NULL;
	case RECORD_TRACING_DATA:
		if (hp_read_copy(&reader, &size, sizeof(size)))
			*behind = ((uint64_t)size + 7) & ~UINT64_C(7);
		return NULL;
	case RECORD_AUXTRACE:
		if (hp_read_copy(&reader, &number, sizeof(number)))
			*behind = number;
		return NULL;
	case RECORD_COMPRESSED:
		return unpack(file, reader.at, hp_reader_left(&reader));
	case RECORD_COMPRESSED2:
		if (!hp_read_copy(&reader, &number, sizeof(number)) ||
		    number > hp_reader_left(&reader))
			return damaged("a compressed record is longer than itself");
		return unpack(file, reader.at, (size_t)number);
	default:
		return NULL;
	}
}

static struct hp_error *take_records(struct hp_perf_file *file, const uint8_t *bytes, size_t size,
				     bool is_unpacked)
{
	struct hp_error *error = NULL;
	size_t at = 0;

	while (at < size && !error) {
		struct perf_event_header header;
		uint64_t behind = 0;

		if (size - at < sizeof(header)) {
			file->damaged++;
			break;
		}
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at) {
			file->damaged++;
			break;
		}
		if (header.type < RECORD_ATTR)
			error = add_record(file, bytes + at, header.size)
					? NULL
					: hp_error_create_no_memory();
		else if (!is_unpacked)
			error = take_own(file, &header, bytes + at, &behind);
		at += header.size;
		at += behind < size - at ? (size_t)behind : size - at;
	}
	return error;
}

/* --- both layouts ----------------------------------------------------------------------------- */

struct section {
	uint64_t offset;
	uint64_t size;
};

static bool read_section(struct hp_reader *reader, struct section *section)
{
	return hp_read_copy(reader, &section->offset, sizeof(section->offset)) &&
	       hp_read_copy(reader, &section->size, sizeof(section->size));
}

static bool is_within(const struct section *section, size_t size)
{
	return section->offset <= size && section->size <= size - section->offset;
}

/* The positions of features are stored after the data, in the order of their numbers. */
static struct hp_error *take_features(struct hp_perf_file *file, const uint8_t *bytes, size_t size,
				      const uint64_t *present, size_t at)
{
	struct hp_reader reader = hp_reader_over(bytes + at, size - at);
	struct hp_error *error = NULL;

	for (unsigned i = 0; i < FEATURES && !error; i++) {
		struct section section;

		if (!(present[i / 64] >> i % 64 & 1))
			continue;
		if (!read_section(&reader, &section))
			break;
		if (is_within(&section, size))
			error = perf_file_take_feature(file, i, bytes + section.offset,
						       section.size);
	}
	return error;
}

static struct hp_error *take_attrs(struct hp_perf_file *file, const uint8_t *bytes, size_t size,
				   uint64_t entry_bytes, const struct section *attrs)
{
	struct hp_error *error = NULL;

	if (entry_bytes < 16 + PERF_ATTR_SIZE_VER0 || !is_within(attrs, size))
		return damaged("its events are not there");
	for (uint64_t at = 0; attrs->size - at >= entry_bytes && !error; at += entry_bytes) {
		const uint8_t *entry = bytes + attrs->offset + at;
		struct hp_reader reader = hp_reader_over(entry + entry_bytes - 16, 16);
		struct section ids = { 0 };

		read_section(&reader, &ids);
		if (!is_within(&ids, size))
			ids = (struct section){ 0 };
		error = perf_file_add_event(file, entry, entry_bytes - 16, bytes + ids.offset,
					    ids.size / 8);
	}
	return error;
}

static struct hp_error *read_file(struct hp_perf_file *file, const uint8_t *bytes, size_t size)
{
	struct hp_reader reader = hp_reader_over(bytes + 16, size < 16 ? 0 : size - 16);
	uint64_t features[FEATURES / 64];
	struct section attrs;
	struct section data;
	struct section types;
	uint64_t entry_bytes;
	struct hp_error *error;

	if (!hp_read_copy(&reader, &entry_bytes, sizeof(entry_bytes)) ||
	    !read_section(&reader, &attrs) || !read_section(&reader, &data) ||
	    !read_section(&reader, &types) || !hp_read_copy(&reader, features, sizeof(features)))
		return damaged("its header is incomplete");
	if (data.offset > size)
		return damaged("its records are not there");
	/* The size is written when the recording ends. */
	file->is_truncated = !data.size || !is_within(&data, size);
	if (file->is_truncated)
		data.size = size - data.offset;
	error = take_attrs(file, bytes, size, entry_bytes, &attrs);
	if (!error && !file->is_truncated)
		error = take_features(file, bytes, size, features, data.offset + data.size);
	return error ? error : take_records(file, bytes + data.offset, data.size, false);
}

/* --- in order --------------------------------------------------------------------------------- */

static bool has_id(const struct hp_perf_event *event, uint64_t id)
{
	for (size_t i = 0; i < event->ids.count; i++)
		if (event->ids.at[i] == id)
			return true;
	return false;
}

/* Layouts of events may differ if all samples begin with the event's id, and other records end with
 * it. */
static size_t event_of(const struct hp_perf_file *file, const uint8_t *bytes, size_t size)
{
	struct perf_event_header header;
	uint64_t id;
	size_t at;

	if (file->events.count == 1 || !file->events.at[0].layout.identifier || size < 16)
		return 0;
	memcpy(&header, bytes, sizeof(header));
	at = header.type == PERF_RECORD_SAMPLE ? sizeof(header) : size - sizeof(id);
	memcpy(&id, bytes + at, sizeof(id));
	for (size_t i = 0; i < file->events.count; i++)
		if (has_id(&file->events.at[i], id))
			return i;
	return 0;
}

HP_ORDER_BY_TWO(compare_records, struct hp_perf_record, time_ns, number);

static void put_in_order(struct hp_perf_file *file)
{
	for (size_t i = 0; i < file->records.count; i++) {
		struct hp_perf_record *one = &file->records.at[i];
		size_t event = event_of(file, one->bytes, one->size);

		one->time_ns = hp_record_time(one->bytes, one->size, file->events.at[event].layout);
	}
	if (file->records.count)
		qsort(file->records.at, file->records.count, sizeof(*file->records.at),
		      compare_records);
}

bool hp_perf_file_record(const struct hp_perf_file *file, size_t number, struct hp_record *record,
			 size_t *event)
{
	const struct hp_perf_record *one = &file->records.at[number];

	*event = event_of(file, one->bytes, one->size);
	if (!hp_record_parse(one->bytes, one->size, file->events.at[*event].layout, record))
		return false;
	for (size_t i = 0; i < file->events.count && file->events.count > 1; i++)
		if (has_id(&file->events.at[i], record->id))
			*event = i;
	return true;
}

struct hp_error *hp_perf_file_read(const uint8_t *bytes, size_t size, struct hp_perf_file *file)
{
	static const char magic[] = "PERFILE2";
	static const char swapped[] = "2ELIFREP";
	struct hp_error *error;
	uint64_t header_bytes;

	*file = (struct hp_perf_file){ 0 };
	if (size >= 8 && memcmp(bytes, swapped, 8) == 0)
		return hp_error_create(HP_ERROR_USAGE,
				       "a machine of another byte order wrote this perf.data file");
	if (size < PIPE_HEADER_BYTES || memcmp(bytes, magic, 8) != 0)
		return damaged("it does not begin with PERFILE2");
	memcpy(&header_bytes, bytes + 8, sizeof(header_bytes));
	if (header_bytes == PIPE_HEADER_BYTES)
		error = take_records(file, bytes + PIPE_HEADER_BYTES, size - PIPE_HEADER_BYTES,
				     false);
	else if (header_bytes >= FILE_HEADER_BYTES)
		error = read_file(file, bytes, size);
	else
		error = damaged("its header has an unknown size");
	if (!error && file->unpacked)
		error = take_records(file, file->unpacked, file->unpacked_size, true);
	if (!error && !file->events.count)
		error = damaged("it has no events");
	if (!error)
		put_in_order(file);
	if (error)
		hp_perf_file_clear(file);
	return error;
}
