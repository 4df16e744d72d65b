/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "written.h"

#include "../tuning.h"
#include <hpcprof/base/search.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

struct written_file *written_find(struct written *written, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < written->files.count; i++) {
		struct written_file *file = &written->files.at[i];

		if (file->device == device && file->inode == inode)
			return file;
	}
	return NULL;
}

struct written_file *written_add(struct written *written, uint64_t device, uint64_t inode,
				 uint64_t size)
{
	const struct written_file file = {
		.device = device,
		.inode = inode,
		.size = size,
		.base_size = size,
	};

	return hp_vector_push(&written->files, file) ? &written->files.at[written->files.count - 1]
						     : NULL;
}

bool written_is_changed(struct written *written, uint64_t device, uint64_t inode)
{
	const struct written_file *file = written_find(written, device, inode);

	return file && file->is_changed;
}

static void drop_pages(struct written_file *file, size_t first)
{
	for (size_t i = first; i < file->pages.count; i++)
		free(file->pages.at[i].bytes);
	file->pages.count = first;
}

void written_clear(struct written *written)
{
	for (size_t i = 0; i < written->files.count; i++) {
		drop_pages(&written->files.at[i], 0);
		hp_vector_free(&written->files.at[i].pages);
	}
	hp_vector_free(&written->files);
	written->bytes = 0;
}

/* The index at which the page is, or would be inserted. */
static size_t place_of(const struct written_file *file, uint64_t number)
{
	return hp_bisect(at, file->pages.count, file->pages.at[at].number < number);
}

static const uint8_t *page_of(const struct written_file *file, uint64_t number)
{
	size_t at = place_of(file, number);

	return at < file->pages.count && file->pages.at[at].number == number
		       ? file->pages.at[at].bytes
		       : NULL;
}

/* Reads the file's own bytes; zeros after its end. */
static bool read_own(const struct written_file *file, int fd, uint64_t position, uint8_t *bytes,
		     size_t size)
{
	uint64_t own = position < file->base_size ? file->base_size - position : 0;
	size_t wanted = own < size ? (size_t)own : size;
	ssize_t got = wanted ? pread(fd, bytes, wanted, (off_t)position) : 0;

	if (got < 0)
		return false;
	memset(bytes + got, 0, size - (size_t)got);
	return true;
}

static uint8_t *make_page(struct written *written, struct written_file *file, int fd,
			  uint64_t number)
{
	size_t at = place_of(file, number);
	uint8_t *bytes;

	if (at < file->pages.count && file->pages.at[at].number == number)
		return file->pages.at[at].bytes;
	if (written->bytes >= most_written_bytes ||
	    !hp_vector_reserve(&file->pages, file->pages.count + 1))
		return NULL;
	bytes = malloc(PAGE_BYTES);
	if (!bytes || !read_own(file, fd, number * PAGE_BYTES, bytes, PAGE_BYTES)) {
		free(bytes);
		return NULL;
	}
	memmove(&file->pages.at[at + 1], &file->pages.at[at],
		(file->pages.count - at) * sizeof(*file->pages.at));
	file->pages.at[at] = (struct written_page){ number, bytes };
	file->pages.count++;
	written->bytes += PAGE_BYTES;
	return bytes;
}

void written_keep_head(struct written *written, uint64_t device, uint64_t inode, int fd)
{
	uint8_t *bytes = calloc(1, PAGE_BYTES);
	struct iovec whole = { bytes, PAGE_BYTES };
	struct written_file *file = NULL;
	struct stat status;

	if (bytes && !written_find(written, device, inode) && fstat(fd, &status) == 0 &&
	    status.st_size > 0 && preadv2(fd, &whole, 1, 0, RWF_NOWAIT) > 0)
		file = written_add(written, device, inode, (uint64_t)status.st_size);
	if (file && hp_vector_push(&file->pages, ((struct written_page){ 0, bytes }))) {
		written->bytes += PAGE_BYTES;
		return;
	}
	free(bytes);
}

static size_t within_page(uint64_t position, size_t size)
{
	size_t left = PAGE_BYTES - (size_t)(position % PAGE_BYTES);

	return size < left ? size : left;
}

bool written_put(struct written *written, struct written_file *file, int fd, uint64_t position,
		 const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	while (size) {
		size_t piece = within_page(position, size);
		uint8_t *page = make_page(written, file, fd, position / PAGE_BYTES);

		if (!page)
			return false;
		memcpy(page + position % PAGE_BYTES, from, piece);
		from += piece;
		position += piece;
		size -= piece;
	}
	if (position > file->size)
		file->size = position;
	file->is_changed = true;
	return true;
}

ssize_t written_get(const struct written_file *file, int fd, uint64_t position, void *bytes,
		    size_t size)
{
	uint64_t there = position < file->size ? file->size - position : 0;
	uint8_t *to = bytes;
	size_t wanted = there < size ? (size_t)there : size;

	for (size_t left = wanted; left;) {
		size_t piece = within_page(position, left);
		const uint8_t *page = page_of(file, position / PAGE_BYTES);

		if (page)
			memcpy(to, page + position % PAGE_BYTES, piece);
		else if (!read_own(file, fd, position, to, piece))
			return -1;
		to += piece;
		position += piece;
		left -= piece;
	}
	return (ssize_t)wanted;
}

void written_resize(struct written_file *file, uint64_t size)
{
	uint64_t pages = (size + PAGE_BYTES - 1) / PAGE_BYTES;

	if (size < file->size) {
		size_t last = place_of(file, pages);

		drop_pages(file, last);
		if (size % PAGE_BYTES && last && file->pages.at[last - 1].number == pages - 1)
			memset(file->pages.at[last - 1].bytes + size % PAGE_BYTES, 0,
			       PAGE_BYTES - size % PAGE_BYTES);
		if (size < file->base_size)
			file->base_size = size;
	}
	file->size = size;
	file->is_changed = true;
}
