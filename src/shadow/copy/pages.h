/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the pages that a process has in memory, from /proc/PID/pagemap: with the PAGEMAP_SCAN call
 * of Linux 6.7, which skips unmapped ranges at no cost, or page by page on older kernels.
 */
#ifndef SHADOW_COPY_PAGES_H
#define SHADOW_COPY_PAGES_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HUGE_PAGE_BYTES = 2 << 20 };

struct pages {
	int fd; /* of /proc/PID/pagemap */
	uint64_t *scratch;
	size_t scratch_capacity;
	bool is_old;	    /* the kernel has no PAGEMAP_SCAN */
	uint64_t looked_at; /* pages that were looked at one by one since pages_begin */
};

void pages_init(struct pages *pages);
void pages_clear(struct pages *pages);

/* Opens the page table of another process, or of the same one again. */
struct hp_error *pages_open(struct pages *pages, pid_t pid);
void pages_begin(struct pages *pages);

/*
 * Calls `each`, in order, for stretches of [start, end) whose pages are in memory or swapped out;
 * with `written`, only for pages that no file holds. When `each` returns false, it ends as out of
 * memory. INSUFFICIENT when there are too many pages to look at.
 */
struct hp_error *pages_find(struct pages *pages, uint64_t start, uint64_t end, bool written,
			    bool (*each)(void *context, uint64_t start, uint64_t end),
			    void *context);

/* The same for what is in huge pages. Calls nothing where the kernel does not tell. */
struct hp_error *pages_find_huge(struct pages *pages, uint64_t start, uint64_t end,
				 bool (*each)(void *context, uint64_t start, uint64_t end),
				 void *context);

#endif
