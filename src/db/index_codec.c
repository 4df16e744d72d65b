/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "codec.h"
#include "names.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const index_tags[] = { "imgs", "meta", NULL };
const struct hp_container_kind hp_index_kind = {
	.letter = 'I',
	.noun = "image index",
	.tags = index_tags,
	.most_times = 64,
};

/* --- the index ---------------------------------------------------------------------------- */

void hp_index_clear(struct hp_index *index)
{
	for (size_t i = 0; i < index->count; i++)
		hp_image_id_clear(&index->entries[i].id);
	free(index->entries);
	*index = (struct hp_index){ 0 };
}

size_t hp_index_find(const struct hp_index *index, const struct hp_image_id *id)
{
	uint64_t hash = hp_image_hash(id);

	for (size_t i = 0; i < index->count; i++) {
		if (index->entries[i].hash == hash &&
		    hp_image_id_compare(&index->entries[i].id, id) == 0)
			return i;
	}
	return SIZE_MAX;
}

static struct hp_index_entry *append(struct hp_index *index)
{
	if (!hp_grow((void **)&index->entries, &index->capacity, index->count + 1,
		     sizeof(*index->entries)))
		return NULL;
	index->entries[index->count] = (struct hp_index_entry){ 0 };
	return &index->entries[index->count];
}

struct hp_error *hp_index_add(struct hp_index *index, const struct hp_image_id *id, size_t *at)
{
	struct hp_index_entry *entry = append(index);
	struct hp_error *error;

	if (!entry)
		return hp_error_create_no_memory();
	error = hp_image_id_copy(id, &entry->id);
	if (error)
		return error;
	entry->hash = hp_image_hash(&entry->id);
	*at = index->count++;
	return NULL;
}

static void encode_parts(const struct hp_meta_parts *parts, struct hp_container_builder *builder)
{
	struct hp_writer section = { 0 };

	if (!parts->are_known)
		return;
	for (size_t i = 0; i < HP_META_PARTS; i++)
		hp_write_u64(&section, parts->digests[i]);
	builder->failed |= section.failed;
	hp_container_add(builder, "meta", 0, section.bytes, section.size);
	hp_writer_free(&section);
}

struct hp_error *hp_index_encode(const struct hp_index *index, struct hp_writer *file)
{
	struct hp_container_builder builder = { .kind = &hp_index_kind };
	struct hp_writer section = { 0 };

	hp_write_varint(&section, index->count);
	for (size_t i = 0; i < index->count; i++) {
		const struct hp_index_entry *entry = &index->entries[i];
		int flags = (entry->id.deleted ? HP_IMAGE_DELETED : 0) |
			    (entry->has_bytes ? HP_IMAGE_HAS_BYTES : 0);

		hp_image_encode(&entry->id, (uint8_t)flags, &section);
		if (entry->has_bytes) {
			hp_write_varint(&section, entry->bytes_size);
			hp_write_u32(&section, entry->bytes_crc);
		}
	}
	builder.failed = section.failed;
	hp_container_add(&builder, "imgs", HP_SECTION_REQUIRED, section.bytes, section.size);
	hp_writer_free(&section);
	encode_parts(&index->meta, &builder);
	return hp_container_finish(&builder, file);
}

static struct hp_error *decode_parts(const struct hp_container *file, struct hp_meta_parts *parts)
{
	const struct hp_section *section;
	struct hp_reader reader;
	struct hp_error *error;

	if (!hp_container_has(file, "meta"))
		return NULL;
	error = hp_container_section(file, "meta", &section, &reader);
	for (size_t i = 0; i < HP_META_PARTS && !error; i++) {
		if (!hp_read_u64(&reader, &parts->digests[i]))
			error = hp_section_damaged(section, &reader, "ends inside a digest");
	}
	parts->are_known = true;
	return error ? error : hp_section_check_end(section, &reader);
}

static struct hp_error *decode_entry(const struct hp_section *section, struct hp_reader *reader,
				     struct hp_index *index)
{
	struct hp_index_entry *entry = append(index);
	struct hp_error *error;
	uint8_t flags = 0;
	uint64_t size;

	if (!entry)
		return hp_error_create_no_memory();
	error = hp_image_decode(section, reader, &entry->id, &flags);
	if (error)
		return error;
	entry->hash = hp_image_hash(&entry->id);
	index->count++;
	if (!(flags & HP_IMAGE_HAS_BYTES))
		return NULL;
	if (!hp_read_varint(reader, &size) || size > HP_CONTAINER_MAX_FILE_BYTES ||
	    !hp_read_u32(reader, &entry->bytes_crc))
		return hp_section_damaged(section, reader, "size or checksum of kept bytes");
	entry->bytes_size = (uint32_t)size;
	entry->has_bytes = true;
	return NULL;
}

static int compare_entries(const void *left, const void *right)
{
	return hp_image_id_compare(*(const struct hp_image_id *const *)left,
				   *(const struct hp_image_id *const *)right);
}

/* Two entries for one image would count its samples twice. */
static struct hp_error *check_distinct(const struct hp_section *section,
				       const struct hp_reader *reader, const struct hp_index *index)
{
	const struct hp_image_id **order = calloc(index->count + 1, sizeof(const void *));
	bool twice = false;

	if (!order)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < index->count; i++)
		order[i] = &index->entries[i].id;
	qsort(order, index->count, sizeof(*order), compare_entries);
	for (size_t i = 1; i < index->count; i++)
		twice = twice || hp_image_id_compare(order[i - 1], order[i]) == 0;
	free(order);
	return twice ? hp_section_damaged(section, reader, "an image is listed twice") : NULL;
}

static struct hp_error *decode_entries(const struct hp_container *file, struct hp_index *index)
{
	const struct hp_section *section;
	struct hp_reader reader;
	struct hp_error *error = hp_container_section(file, "imgs", &section, &reader);
	uint64_t count;

	if (error)
		return error;
	if (!hp_read_varint(&reader, &count))
		return hp_section_damaged(section, &reader, "the number of images is out of range");
	if (count > hp_reader_left(&reader) / HP_IMAGE_LEAST_BYTES)
		return hp_section_overflows(section, &reader, count, "images",
					    hp_reader_left(&reader) / HP_IMAGE_LEAST_BYTES);
	for (uint64_t i = 0; i < count && !error; i++)
		error = decode_entry(section, &reader, index);
	if (!error)
		error = hp_section_check_end(section, &reader);
	return error ? error : check_distinct(section, &reader, index);
}

struct hp_error *hp_index_decode(uint8_t *bytes, size_t size, struct hp_index *index,
				 bool *has_unknown)
{
	struct hp_container file;
	struct hp_error *error = hp_container_parse(bytes, size, &hp_index_kind, &file);

	*index = (struct hp_index){ 0 };
	if (error)
		return error;
	if (has_unknown)
		*has_unknown = file.has_unknown;
	error = decode_entries(&file, index);
	if (!error)
		error = decode_parts(&file, &index->meta);
	if (error)
		hp_index_clear(index);
	hp_container_clear(&file);
	return error;
}
