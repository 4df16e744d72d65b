/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies files by build-id or hash. Reads only the program headers, with bounded reads: section
 * headers may be missing, and mapping every file is too expensive for a recorder.
 */
#include <hpcprof/base/search.h>
#include <hpcprof/image/identity.h>

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

enum {
	CHUNK_BYTES = 256 << 10,
	HEADER_LIMIT = 1 << 16, /* program headers looked at */
	HEAD_BYTES = 4096,	/* first read: mostly contains the headers and the notes */
};
static const uint64_t HASH_LIMIT_BYTES = 1ull << 30;

/* Where the bytes come from: a descriptor, or memory when `bytes` is set. */
struct source {
	int fd;
	const uint8_t *bytes;
	uint64_t size;
	uint8_t head[HEAD_BYTES];
	size_t head_size;
};

struct layout {
	bool is_64;
	bool big_endian;
	uint64_t header_offset; /* of the program headers */
	uint64_t header_count;
	uint64_t header_bytes; /* distance between two of them */
};

struct range {
	uint64_t offset;
	uint64_t size;
};

/* Reads up to `size` bytes; fewer at the end of the file. */
static struct hp_error *read_some(const struct source *source, uint64_t offset, void *buffer,
				  size_t size, size_t *got)
{
	*got = 0;
	if (offset >= source->size)
		return NULL;
	if (size > source->size - offset)
		size = (size_t)(source->size - offset);
	if (source->bytes || (offset < source->head_size && size <= source->head_size - offset)) {
		memcpy(buffer, (source->bytes ? source->bytes : source->head) + offset, size);
		*got = size;
		return NULL;
	}
	while (*got < size) {
		ssize_t done = pread(source->fd, (uint8_t *)buffer + *got, size - *got,
				     (off_t)(offset + *got));

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return hp_error_create_errno(errno, "reading it to identify it");
		if (done == 0)
			break; /* the file has become shorter */
		*got += (size_t)done;
	}
	return NULL;
}

static uint16_t get_u16(const struct layout *layout, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return layout->big_endian ? be16toh(value) : le16toh(value);
}

static uint32_t get_u32(const struct layout *layout, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return layout->big_endian ? be32toh(value) : le32toh(value);
}

static uint64_t get_u64(const struct layout *layout, const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return layout->big_endian ? be64toh(value) : le64toh(value);
}

/* A word of the file's class, at the offset it has in that class's structure. */
static uint64_t get_word(const struct layout *layout, const uint8_t *structure, size_t offset_64,
			 size_t offset_32)
{
	return layout->is_64 ? get_u64(layout, structure + offset_64)
			     : get_u32(layout, structure + offset_32);
}

/* With 65535 or more program headers their number is in the first section header. */
static struct hp_error *read_extended_count(const struct source *source, struct layout *layout,
					    uint64_t section_offset)
{
	uint8_t header[sizeof(Elf64_Shdr)] = { 0 };
	size_t wanted = layout->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	size_t got;
	struct hp_error *error = read_some(source, section_offset, header, wanted, &got);

	if (error)
		return error;
	layout->header_count = 0;
	if (got == wanted)
		layout->header_count =
			get_u32(layout, header + (layout->is_64 ? offsetof(Elf64_Shdr, sh_info)
								: offsetof(Elf32_Shdr, sh_info)));
	return NULL;
}

static struct hp_error *read_layout(const struct source *source, struct layout *layout,
				    bool *is_elf)
{
	uint8_t header[sizeof(Elf64_Ehdr)] = { 0 };
	size_t least;
	size_t got;
	struct hp_error *error = read_some(source, 0, header, sizeof(header), &got);

	*is_elf = false;
	if (error)
		return error;
	if (got < EI_NIDENT || memcmp(header, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (header[EI_CLASS] != ELFCLASS64 && header[EI_CLASS] != ELFCLASS32)
		return NULL;
	if (header[EI_DATA] != ELFDATA2LSB && header[EI_DATA] != ELFDATA2MSB)
		return NULL;
	layout->is_64 = header[EI_CLASS] == ELFCLASS64;
	layout->big_endian = header[EI_DATA] == ELFDATA2MSB;
	if (got < (layout->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return NULL;
	layout->header_offset = get_word(layout, header, offsetof(Elf64_Ehdr, e_phoff),
					 offsetof(Elf32_Ehdr, e_phoff));
	layout->header_bytes =
		get_u16(layout, header + (layout->is_64 ? offsetof(Elf64_Ehdr, e_phentsize)
							: offsetof(Elf32_Ehdr, e_phentsize)));
	layout->header_count =
		get_u16(layout, header + (layout->is_64 ? offsetof(Elf64_Ehdr, e_phnum)
							: offsetof(Elf32_Ehdr, e_phnum)));
	if (layout->header_count == PN_XNUM) {
		error = read_extended_count(source, layout,
					    get_word(layout, header, offsetof(Elf64_Ehdr, e_shoff),
						     offsetof(Elf32_Ehdr, e_shoff)));
		if (error)
			return error;
	}
	least = layout->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	*is_elf = layout->header_bytes >= least && layout->header_offset < source->size;
	return NULL;
}

/* Notes start with three words in the file's byte order; name and descriptor are padded to the
 * segment's alignment, which is 4 unless it says 8. */
static void find_build_id(const struct layout *layout, const uint8_t *bytes, size_t size,
			  size_t align, struct hp_identity *identity)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		uint64_t name_bytes = get_u32(layout, bytes + at);
		uint64_t data_bytes = get_u32(layout, bytes + at + 4);
		uint32_t type = get_u32(layout, bytes + at + 8);
		uint64_t name = at + sizeof(Elf64_Nhdr);
		uint64_t data = (name + name_bytes + align - 1) & ~(uint64_t)(align - 1);
		uint64_t next = (data + data_bytes + align - 1) & ~(uint64_t)(align - 1);

		if (data > size || data_bytes > size - data)
			return;
		/* The kernel also supports only build-ids of 1 to 20 bytes. */
		if (type == NT_GNU_BUILD_ID && name_bytes == sizeof(ELF_NOTE_GNU) &&
		    memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
		    data_bytes > 0 && data_bytes <= HP_IDENTITY_MAX_BYTES) {
			identity->kind = HP_IDENTITY_BUILD_ID;
			identity->size = (uint8_t)data_bytes;
			memcpy(identity->bytes, bytes + data, data_bytes);
			return;
		}
		if (next >= size)
			return;
		at = (size_t)next;
	}
}

void hp_identity_of_notes(const void *bytes, size_t size, struct hp_identity *identity)
{
	const uint16_t one = 1;
	/* The kernel's own notes are in its own byte order. */
	struct layout native = { .big_endian = *(const uint8_t *)&one == 0 };

	*identity = (struct hp_identity){ 0 };
	find_build_id(&native, bytes, size, 4, identity);
}

static struct hp_error *read_notes(const struct source *source, const struct layout *layout,
				   const struct range *range, uint64_t align, size_t *left,
				   struct hp_identity *identity)
{
	size_t size = range->size < *left ? (size_t)range->size : *left;
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_error *error;
	size_t got;

	if (range->offset >= source->size)
		return NULL;
	if (size > source->size - range->offset)
		size = (size_t)(source->size - range->offset);
	*left -= size;
	bytes = malloc(size + 1);
	if (!bytes)
		return hp_error_create_no_memory();
	error = read_some(source, range->offset, bytes, size, &got);
	if (error)
		return error;
	find_build_id(layout, bytes, got, align == 8 ? 8 : 4, identity);
	return NULL;
}

typedef HP_VECTOR(struct range) ranges;

/* Passes over the program headers once: stops at a build-id, and collects the segments to hash
 * otherwise. */
static struct hp_error *read_segments(const struct source *source, const struct layout *layout,
				      struct hp_identity *identity, ranges *executable)
{
	size_t header_size = layout->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	size_t notes_left = HP_IDENTITY_NOTES_MOST_BYTES;

	for (uint64_t i = 0; i < layout->header_count && i < HEADER_LIMIT; i++) {
		uint64_t offset = layout->header_offset + i * layout->header_bytes;
		uint8_t header[sizeof(Elf64_Phdr)];
		struct range range;
		uint32_t type;
		uint32_t flags;
		size_t got;
		struct hp_error *error = read_some(source, offset, header, header_size, &got);

		if (error)
			return error;
		if (got < header_size)
			break;
		type = get_u32(layout, header);
		flags = get_u32(layout, header + (layout->is_64 ? offsetof(Elf64_Phdr, p_flags)
								: offsetof(Elf32_Phdr, p_flags)));
		range.offset = get_word(layout, header, offsetof(Elf64_Phdr, p_offset),
					offsetof(Elf32_Phdr, p_offset));
		range.size = get_word(layout, header, offsetof(Elf64_Phdr, p_filesz),
				      offsetof(Elf32_Phdr, p_filesz));
		if (type == PT_NOTE) {
			uint64_t align = get_word(layout, header, offsetof(Elf64_Phdr, p_align),
						  offsetof(Elf32_Phdr, p_align));

			error = read_notes(source, layout, &range, align, &notes_left, identity);
			if (error || identity->kind != HP_IDENTITY_NONE)
				return error;
		} else if (type == PT_LOAD && (flags & PF_X) && range.offset < source->size &&
			   range.size > 0) {
			if (range.size > source->size - range.offset)
				range.size = source->size - range.offset;
			if (!hp_vector_push(executable, range))
				return hp_error_create_no_memory();
		}
	}
	return NULL;
}

static struct hp_error *hash_range(const struct source *source, const struct range *range,
				   XXH3_state_t *state, uint8_t *chunk)
{
	for (uint64_t done = 0; done < range->size;) {
		uint64_t left = range->size - done;
		size_t wanted = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
		size_t got;
		struct hp_error *error =
			read_some(source, range->offset + done, chunk, wanted, &got);

		if (error)
			return error;
		XXH3_128bits_update(state, chunk, got);
		if (got < wanted)
			break;
		done += got;
	}
	return NULL;
}

HP_ORDER_BY_TWO(compare_ranges, struct range, offset, size);

static struct hp_error *hash_ranges(const struct source *source, struct range *at, size_t count,
				    struct hp_identity *identity)
{
	_cleanup_free_ uint8_t *chunk = NULL;
	XXH3_state_t *state;
	XXH128_canonical_t digest;
	uint64_t total = 0;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < count; i++) {
		if (at[i].size > HASH_LIMIT_BYTES - total)
			return NULL; /* too large to hash: it stays unidentified */
		total += at[i].size;
	}
	qsort(at, count, sizeof(*at), compare_ranges);
	chunk = malloc(CHUNK_BYTES);
	state = XXH3_createState();
	if (!chunk || !state) {
		XXH3_freeState(state);
		return hp_error_create_no_memory();
	}
	XXH3_128bits_reset(state);
	for (size_t i = 0; i < count && !error; i++)
		error = hash_range(source, &at[i], state, chunk);
	if (!error) {
		XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(state));
		identity->kind = HP_IDENTITY_CONTENT;
		identity->size = sizeof(digest.digest);
		memcpy(identity->bytes, digest.digest, sizeof(digest.digest));
	}
	XXH3_freeState(state);
	return error;
}

static struct hp_error *identify(struct source *source, struct hp_identity *identity)
{
	ranges executable = { 0 };
	struct layout layout = { 0 };
	bool is_elf;
	size_t head_size = 0;
	struct hp_error *error = NULL;

	if (!source->bytes)
		error = read_some(source, 0, source->head, sizeof(source->head), &head_size);
	if (error)
		return error;
	source->head_size = head_size;
	error = read_layout(source, &layout, &is_elf);
	if (!error && is_elf)
		error = read_segments(source, &layout, identity, &executable);
	/* No ELF, or without executable segments: the whole file is hashed. */
	if (!error && executable.count == 0 && source->size > 0 &&
	    !hp_vector_push(&executable, (struct range){ .size = source->size }))
		error = hp_error_create_no_memory();
	if (!error && identity->kind == HP_IDENTITY_NONE && executable.count > 0)
		error = hash_ranges(source, executable.at, executable.count, identity);
	hp_vector_free(&executable);
	return error;
}

struct hp_error *hp_identity_of_fd(int fd, struct hp_identity *identity)
{
	struct source source = { .fd = fd };
	struct stat status;

	*identity = (struct hp_identity){ 0 };
	if (fstat(fd, &status) < 0)
		return hp_error_create_errno(errno, "examining a mapped file");
	/* Devices can be mapped, too, but reading them may have side effects. */
	if (!S_ISREG(status.st_mode))
		return NULL;
	source.size = (uint64_t)status.st_size;
	return identify(&source, identity);
}

struct hp_error *hp_identity_of_bytes(const void *bytes, size_t size, struct hp_identity *identity)
{
	struct source source = { .fd = -1, .bytes = bytes, .size = size };

	*identity = (struct hp_identity){ 0 };
	return bytes && size ? identify(&source, identity) : NULL;
}
