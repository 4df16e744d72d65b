/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code_file.h"

#include "../images/file_identity.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

static bool read_at(int fd, uint64_t offset, void *into, size_t size)
{
	return offset <= INT64_MAX && pread(fd, into, size, (off_t)offset) == (ssize_t)size;
}

static bool is_of_this_machine(const Elf64_Ehdr *header)
{
	unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == order &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

static bool read_segments(struct code_file *file)
{
	Elf64_Ehdr header;

	if (!read_at(file->fd, 0, &header, sizeof(header)) || !is_of_this_machine(&header))
		return false;
	file->machine = header.e_machine;
	for (unsigned i = 0; i < header.e_phnum && file->segment_count < CODE_FILE_SEGMENTS; i++) {
		Elf64_Phdr part;
		uint64_t at;

		if (__builtin_add_overflow(header.e_phoff, i * sizeof(part), &at) ||
		    !read_at(file->fd, at, &part, sizeof(part)))
			break;
		if (part.p_type != PT_LOAD || part.p_filesz == 0 ||
		    part.p_filesz > UINT64_MAX - part.p_vaddr ||
		    part.p_filesz > UINT64_MAX - part.p_offset)
			continue;
		file->segments[file->segment_count++] = (struct code_segment){
			.address = part.p_vaddr,
			.offset = part.p_offset,
			.bytes = part.p_filesz,
			.is_executable = part.p_flags & PF_X,
			.is_writable = part.p_flags & PF_W,
		};
	}
	return file->segment_count > 0;
}

void code_file_open(struct code_file *file, struct code_pieces *pieces,
		    const struct hp_image_id *id, uint32_t pid)
{
	*file = (struct code_file){
		.fd = file_open_image((pid_t)pid, id),
		.serial = ++pieces->last_serial,
	};
	if (file->fd >= 0 && !read_segments(file))
		code_file_close(file);
}

void code_file_close(struct code_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct code_file){ .fd = -1 };
}

bool code_file_address(const struct code_file *file, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct code_segment *segment = &file->segments[i];

		if (!segment->is_executable || offset < segment->offset ||
		    offset - segment->offset >= segment->bytes)
			continue;
		*address = segment->address + (offset - segment->offset);
		return true;
	}
	return false;
}

static const struct code_piece *find_piece(const struct code_file *file, struct code_pieces *pieces,
					   uint64_t number)
{
	struct code_piece *piece = &pieces->at[(number + file->serial) % CODE_PIECES];
	ssize_t got;

	if (piece->serial == file->serial && piece->number == number)
		return piece;
	got = pread(file->fd, piece->bytes, sizeof(piece->bytes),
		    (off_t)(number * sizeof(piece->bytes)));
	piece->serial = file->serial;
	piece->number = number;
	piece->held = got > 0 ? (size_t)got : 0;
	return piece;
}

/* Reads from pieces; returns how many bytes there were. `offset` plus `size` must fit into an
 * off_t. */
static size_t read_pieces(const struct code_file *file, struct code_pieces *pieces, uint64_t offset,
			  void *into, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const struct code_piece *piece =
			find_piece(file, pieces, (offset + done) / CODE_PIECE_BYTES);
		size_t skip = (offset + done) % CODE_PIECE_BYTES;
		size_t part = piece->held > skip ? piece->held - skip : 0;

		if (part > size - done)
			part = size - done;
		if (!part)
			break;
		memcpy((char *)into + done, piece->bytes + skip, part);
		done += part;
	}
	return done;
}

size_t code_file_read(const struct code_file *file, struct code_pieces *pieces, uint64_t address,
		      void *into, size_t size)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct code_segment *segment = &file->segments[i];
		uint64_t skip = address - segment->address;

		if (segment->is_writable || address < segment->address || skip >= segment->bytes)
			continue;
		if (size > segment->bytes - skip)
			size = (size_t)(segment->bytes - skip);
		if (segment->offset + skip > (uint64_t)INT64_MAX - size)
			return 0;
		return read_pieces(file, pieces, segment->offset + skip, into, size);
	}
	return 0;
}
