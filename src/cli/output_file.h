/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that an option names: checked before any work is done, and written at the end, or piece by
 * piece.
 *
 * The file is replaced in one step. A symbolic link at its place is replaced, not followed. If the
 * path is anything else than a regular file (a directory, /dev/null), or a link to such a thing
 * (/dev/stdout), it is never replaced.
 */
#ifndef HPCPROF_CLI_OUTPUT_FILE_H
#define HPCPROF_CLI_OUTPUT_FILE_H

#include <hpcprof/base/error.h>

#include <stddef.h>

struct output_file {
	const char *option; /* "--html", for messages; not owned */
	const char *path;   /* as given; not owned */
	const char *name;   /* in the directory; part of `path` */
	int directory;
	char *temporary; /* the file being written; NULL: none */
	int fd;
};

/* Checks the path. USAGE when no file can be there, NOT_PERMITTED when it may not be written,
 * NOT_FOUND when its directory is missing. */
struct hp_error *output_file_open(const char *option, const char *path, struct output_file *file);
struct hp_error *output_file_write(const struct output_file *file, const void *bytes, size_t size);
/* Creates a temporary file beside it; output_file_commit renames it, output_file_close removes it
 * if it was not committed. */
struct hp_error *output_file_begin(struct output_file *file, int *fd);
struct hp_error *output_file_commit(struct output_file *file);
void output_file_close(struct output_file *file);

#endif
