/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hpcprof check --html: a file that is looked at before anything is recorded, and written at the end.
 *
 * It is replaced in one step. A symbolic link that stands there is replaced, not followed; but what
 * is no file, or leads to none (a directory, /dev/null, /dev/stdout), stays what it is.
 */
#ifndef HPCPROF_CLI_CHECK_PAGE_H
#define HPCPROF_CLI_CHECK_PAGE_H

#include <hpcprof/report/comparison.h>

struct check_page {
	const char *path; /* as given; not owned */
	const char *name; /* in the directory; part of `path` */
	int directory;
};

/* USAGE when no file can be there, NOT_PERMITTED when it may not be written, NOT_FOUND without its
 * directory. */
struct hp_error *check_page_open(const char *path, struct check_page *page);
struct hp_error *check_page_write(const struct check_page *page,
				  const struct hp_comparison *comparison,
				  const struct hp_comparison_options *options);
void check_page_close(struct check_page *page);

#endif
