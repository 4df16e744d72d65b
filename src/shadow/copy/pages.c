/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pages.h"

#include "../tuning.h"
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	/* pages that are looked at per system call */
	AT_ONCE = 65536,
	REGIONS = 256,
};

/* Documentation/admin-guide/mm/pagemap.rst: one entry per page */
#define PAGE_IN_MEMORY (UINT64_C(1) << 63)
#define PAGE_SWAPPED   (UINT64_C(1) << 62)
#define PAGE_OF_FILE   (UINT64_C(1) << 61)

/* The interface of PAGEMAP_SCAN, which <linux/fs.h> has since Linux 6.7. */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan_arguments {
	uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
	uint64_t inverted, mask, any_of, returned;
};

#define SCAN_CALL     _IOWR('f', 16, struct scan_arguments)
#define SCAN_FILE     (UINT64_C(1) << 2)
#define SCAN_PRESENT  (UINT64_C(1) << 3)
#define SCAN_SWAPPED  (UINT64_C(1) << 4)
#define SCAN_ALL_ZERO (UINT64_C(1) << 5)
#define SCAN_HUGE     (UINT64_C(1) << 6)

void pages_init(struct pages *pages)
{
	*pages = (struct pages){ .fd = -1 };
}

void pages_clear(struct pages *pages)
{
	if (pages->fd >= 0)
		close(pages->fd);
	free(pages->scratch);
	pages_init(pages);
}

struct hp_error *pages_open(struct pages *pages, pid_t pid)
{
	char path[64];

	if (!hp_grow((void **)&pages->scratch, &pages->scratch_capacity, AT_ONCE,
		     sizeof(*pages->scratch)))
		return hp_error_create_no_memory();
	if (pages->fd >= 0)
		close(pages->fd);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	pages->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (pages->fd < 0)
		return hp_error_create_errno(errno, "opening %s", path);
	return NULL;
}

void pages_begin(struct pages *pages)
{
	pages->looked_at = 0;
}

static bool is_wanted(uint64_t page, bool written)
{
	return (page & (PAGE_IN_MEMORY | PAGE_SWAPPED)) && !(written && (page & PAGE_OF_FILE));
}

static struct hp_error *find_one_by_one(struct pages *pages, uint64_t start, uint64_t end,
					bool written,
					bool (*each)(void *context, uint64_t start, uint64_t end),
					void *context)
{
	uint64_t count;

	pages->looked_at += (end - start) / PAGE_BYTES;
	if (pages->looked_at > scan_limit_pages)
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "it has more than %u GiB of address space",
				       (unsigned)(scan_limit_pages >> 18));
	for (uint64_t at = start; at < end; at += count * PAGE_BYTES) {
		ssize_t got;

		count = (end - at) / PAGE_BYTES;
		if (count > AT_ONCE)
			count = AT_ONCE;
		got = pread(pages->fd, pages->scratch, count * sizeof(uint64_t),
			    (off_t)(at / PAGE_BYTES * sizeof(uint64_t)));
		if (got < (ssize_t)sizeof(uint64_t))
			return hp_error_create_errno(got < 0 ? errno : ESRCH,
						     "reading the state of its pages");
		count = (uint64_t)got / sizeof(uint64_t);
		for (uint64_t i = 0; i < count; i++) {
			uint64_t page = at + i * PAGE_BYTES;

			if (is_wanted(pages->scratch[i], written) &&
			    !each(context, page, page + PAGE_BYTES))
				return hp_error_create_no_memory();
		}
	}
	return NULL;
}

/* Calls `each` for what the kernel finds from `arguments->start` to its end. `is_unknown`: the kernel
 * cannot be asked so. */
static struct hp_error *scan(const struct pages *pages, struct scan_arguments *arguments,
			     bool (*each)(void *context, uint64_t start, uint64_t end),
			     void *context, bool *is_unknown)
{
	const uint64_t start = arguments->start;
	struct scan_region regions[REGIONS];

	arguments->size = sizeof(*arguments);
	arguments->regions = (uint64_t)(uintptr_t)regions;
	arguments->region_count = REGIONS;
	while (arguments->start < arguments->end) {
		int count = ioctl(pages->fd, SCAN_CALL, arguments);

		*is_unknown = count < 0 && (errno == ENOTTY || errno == EINVAL) &&
			      arguments->start == start;
		if (*is_unknown)
			return NULL;
		if (count < 0)
			return hp_error_create_errno(errno, "reading the state of its pages");
		for (int i = 0; i < count; i++) {
			if (!each(context, regions[i].start, regions[i].end))
				return hp_error_create_no_memory();
		}
		if (arguments->walk_end <= arguments->start)
			break;
		arguments->start = arguments->walk_end;
	}
	return NULL;
}

struct hp_error *pages_find(struct pages *pages, uint64_t start, uint64_t end, bool written,
			    bool (*each)(void *context, uint64_t start, uint64_t end),
			    void *context)
{
	struct scan_arguments arguments = {
		.start = start,
		.end = end,
		/* Pages of zeros are left out, since a copy has zeros anyway; with `written`, so
		 * are pages of files. */
		.inverted = SCAN_ALL_ZERO | (written ? SCAN_FILE : 0),
		.mask = SCAN_ALL_ZERO | (written ? SCAN_FILE : 0),
		.any_of = SCAN_PRESENT | SCAN_SWAPPED,
		.returned = SCAN_PRESENT,
	};
	struct hp_error *error = NULL;

	if (!pages->is_old)
		error = scan(pages, &arguments, each, context, &pages->is_old);
	return pages->is_old ? find_one_by_one(pages, start, end, written, each, context) : error;
}

struct hp_error *pages_find_huge(struct pages *pages, uint64_t start, uint64_t end,
				 bool (*each)(void *context, uint64_t start, uint64_t end),
				 void *context)
{
	struct scan_arguments arguments = {
		.start = start,
		.end = end,
		.mask = SCAN_HUGE,
		.returned = SCAN_HUGE,
	};

	return pages->is_old ? NULL : scan(pages, &arguments, each, context, &pages->is_old);
}
