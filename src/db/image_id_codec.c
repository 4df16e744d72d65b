/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encodes and decodes the identity of an image, for several kinds of file. */
#include "codec.h"

#include <limits.h>
#include <string.h>

static const char *image_fault(const struct hp_image_id *id)
{
	size_t size = id->identity.size;

	if (id->kind < HP_IMAGE_FILE || id->kind > HP_IMAGE_UNKNOWN)
		return "an image of unknown kind";
	if (!id->path || !*id->path)
		return "an image without a path";
	if (strlen(id->path) > PATH_MAX)
		return "an image path that is longer than any path";
	switch (id->identity.kind) {
	case HP_IDENTITY_NONE:
		return size ? "an image without identity that has identity bytes" : NULL;
	case HP_IDENTITY_BUILD_ID:
		return size && size <= HP_IDENTITY_MAX_BYTES ? NULL
							     : "a build-id of impossible size";
	case HP_IDENTITY_CONTENT:
		return size == 16 ? NULL : "a content hash that is not 16 bytes";
	default:
		return "an identity of unknown kind";
	}
}

struct hp_error *hp_image_check(const struct hp_image_id *id)
{
	const char *fault = image_fault(id);

	return fault ? hp_error_create(HP_ERROR_USAGE, "%s", fault) : NULL;
}

void hp_image_encode(const struct hp_image_id *id, uint8_t flags, struct hp_writer *writer)
{
	hp_write_u8(writer, (uint8_t)id->kind);
	hp_write_u8(writer, flags);
	hp_write_u8(writer, id->identity.kind);
	hp_write_u8(writer, id->identity.size);
	hp_write_bytes(writer, id->identity.bytes, id->identity.size);
	hp_write_string(writer, id->path);
}

struct hp_error *hp_image_decode(const struct hp_section *section, struct hp_reader *reader,
				 struct hp_image_id *id, uint8_t *flags)
{
	struct hp_reader start = *reader;
	const uint8_t *identity = NULL;
	const char *fault;
	uint8_t kind = 0;

	*id = (struct hp_image_id){ 0 };
	if (!hp_read_u8(reader, &kind) || !hp_read_u8(reader, flags) ||
	    !hp_read_u8(reader, &id->identity.kind) || !hp_read_u8(reader, &id->identity.size) ||
	    !hp_read_bytes(reader, id->identity.size, &identity))
		return hp_section_damaged(section, reader, "ends inside an image");
	if (id->identity.size > HP_IDENTITY_MAX_BYTES)
		return hp_section_damaged(section, &start, "an identity of %u bytes",
					  id->identity.size);
	memcpy(id->identity.bytes, identity, id->identity.size);
	if (!hp_read_string(reader, &id->path))
		return hp_section_damaged(section, reader, "an image's path does not fit");
	/* The byte is checked before it is cast: an enum must not hold other values. */
	id->kind = kind <= HP_IMAGE_UNKNOWN ? (enum hp_image_kind)kind : 0;
	id->deleted = *flags & HP_IMAGE_DELETED;
	fault = image_fault(id);
	if (!fault && *flags & ~(HP_IMAGE_DELETED | HP_IMAGE_HAS_BYTES))
		fault = "unknown flags of an image";
	if (!fault)
		return NULL;
	hp_image_id_clear(id);
	return hp_section_damaged(section, &start, "%s", fault);
}

struct hp_error *hp_image_decode_key(const struct hp_container *file, const char *what,
				     struct hp_image_id *id)
{
	const struct hp_section *section;
	struct hp_reader reader;
	struct hp_error *error = hp_container_section(file, "key ", &section, &reader);
	uint8_t flags = 0;

	if (!error)
		error = hp_image_decode(section, &reader, id, &flags);
	if (!error && flags)
		error = hp_section_damaged(section, &reader, "flags in the key of %s", what);
	return error ? error : hp_section_check_end(section, &reader);
}

struct hp_error *hp_section_check_end(const struct hp_section *section,
				      const struct hp_reader *reader)
{
	size_t left = hp_reader_left(reader);

	return left ? hp_section_damaged(section, reader, "%zu bytes too many", left) : NULL;
}
