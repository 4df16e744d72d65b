/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of all binary files of the database: a header, a table of sections, and the sections,
 * without gaps. Every byte is covered by a check: a CRC-32 for header and table, one for each
 * section, and the sizes must add up to the file's. hpcprof-db(5) describes the bytes.
 *
 * Errors are DAMAGED and begin with the offset in the file ("offset 0x18: …"). Parsed sections
 * stay valid until the container is cleared. A container owns the bytes that it is given.
 */
#ifndef HPCPROF_SRC_DB_CONTAINER_H
#define HPCPROF_SRC_DB_CONTAINER_H

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/error.h>

enum {
	HP_CONTAINER_VERSION = 1,
	HP_CONTAINER_HEADER_BYTES = 24,
	HP_CONTAINER_ENTRY_BYTES = 20,
	HP_CONTAINER_MAX_SECTIONS = 16,
	HP_CONTAINER_MAX_FILE_BYTES = 1 << 28,
	HP_CONTAINER_MAX_RAW_BYTES = 1 << 26,
	HP_CONTAINER_FREE_RAW_BYTES = 1 << 18,
};

enum hp_section_flag {
	HP_SECTION_REQUIRED = 1, /* a reader that does not know it must not read the file */
	HP_SECTION_ZSTD = 2,
};

/* A kind of file, and the sections that this version knows in it. */
struct hp_container_kind {
	uint8_t letter;
	const char *noun;	 /* for messages: "profile" */
	const char *const *tags; /* four letters each; NULL ends the list */
	/* The tags whose damage is not that of the file, NULL-terminated. NULL: none. */
	const char *const *expendable;
	/* The largest ratio of a compressed section's size to its bytes in the file, beyond
	 * HP_CONTAINER_FREE_RAW_BYTES. Otherwise a few bytes could ask for any amount of memory. */
	uint32_t most_times;
};

struct hp_section {
	char tag[5];
	uint32_t flags;
	size_t offset; /* in the file */
	const uint8_t *stored;
	size_t stored_size;
	const uint8_t *raw; /* equal to `stored` unless compressed; NULL for unknown sections */
	size_t raw_size;
	uint8_t *inflated;	 /* holds `raw` if it is not in the file's bytes; owned */
	struct hp_error *damage; /* of an expendable section, whose `raw` is NULL then; owned */
};

struct hp_container {
	uint8_t *bytes;
	size_t size;
	struct hp_section sections[HP_CONTAINER_MAX_SECTIONS];
	size_t section_count;
	bool has_unknown; /* sections that this version ignores */
};

/* Takes over `bytes` (malloc'ed), even on failure. Checks everything, and inflates the sections
 * that `kind` names. */
struct hp_error *hp_container_parse(uint8_t *bytes, size_t size,
				    const struct hp_container_kind *kind,
				    struct hp_container *container);
void hp_container_clear(struct hp_container *container);

/* Opens a reader over a section that must exist; an error if it is damaged. */
struct hp_error *hp_container_section(const struct hp_container *container, const char *tag,
				      const struct hp_section **section, struct hp_reader *reader);

bool hp_container_has(const struct hp_container *container, const char *tag);

/* Creates an error at the reader's position in a section. */
struct hp_error *hp_section_damaged(const struct hp_section *section,
				    const struct hp_reader *reader, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* "9 symbols, and no more than 3 fit in what follows". */
struct hp_error *hp_section_overflows(const struct hp_section *section,
				      const struct hp_reader *reader, uint64_t count,
				      const char *what, size_t most);

/* --- writing ------------------------------------------------------------------------------ */

struct hp_container_builder {
	const struct hp_container_kind *kind;
	struct hp_section sections[HP_CONTAINER_MAX_SECTIONS];
	size_t section_count;
	bool plain;  /* nothing is compressed */
	bool failed; /* out of memory, or something is larger than the format allows */
};

/* Copies `bytes`, and compresses them if that makes them smaller, within the ratio that may be
 * read. */
void hp_container_add(struct hp_container_builder *builder, const char *tag, uint32_t flags,
		      const void *bytes, size_t size);
/* Copies a section unchanged, whether known or not. */
void hp_container_copy(struct hp_container_builder *builder, const struct hp_section *section);
/* Returns the finished file in `file`, which the caller frees. Clears the builder. */
struct hp_error *hp_container_finish(struct hp_container_builder *builder, struct hp_writer *file);
void hp_container_abandon(struct hp_container_builder *builder);

#endif
