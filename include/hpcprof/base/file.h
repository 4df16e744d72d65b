/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that another user may have prepared: whole reads with a limit, atomic replacement, locks.
 * Directory arguments are open descriptors. Names are relative to them and contain no slash, so
 * that no path component can be replaced by a symbolic link between two calls.
 */
#ifndef HPCPROF_BASE_FILE_H
#define HPCPROF_BASE_FILE_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The contents of a file, with a NUL after the last byte that `size` does not count. A regular
 * file longer than `limit_bytes` is refused; /proc and /sys files are read until they end or the
 * limit is passed. `*bytes` is malloc'ed. */
struct hp_error *hp_file_read_fd(int fd, size_t limit_bytes, uint8_t **bytes, size_t *size);
struct hp_error *hp_file_read_at(int directory, const char *name, size_t limit_bytes,
				 uint8_t **bytes, size_t *size);
/* Writes everything, in as many calls as needed. Returns 0 or an errno. */
int hp_file_write_fd(int fd, const void *bytes, size_t size);
/* The whole text of a small /proc or /sys file, trailing newline removed. */
struct hp_error *hp_file_read_text(const char *path, char **text);
/* The same of the path that the format gives; NULL, whatever the reason. The caller frees it. */
char *hp_file_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A /proc or /sys file that holds one decimal number. */
struct hp_error *hp_file_read_number(const char *path, int64_t *value);

/* Replaces `name` atomically: writes a temporary file beside it (`mode` less umask, O_EXCL), syncs
 * it and renames it. A reader sees either the old or the new contents, even after a crash. Sync the
 * directory with hp_file_sync_directory, once after a batch. */
struct hp_error *hp_file_replace(int directory, const char *name, const void *bytes, size_t size,
				 mode_t mode);
struct hp_error *hp_file_sync_directory(int directory);

/* True for names that hp_file_replace leaves behind when it is killed (".NAME.tmp.XXXX"). */
bool hp_file_is_temporary(const char *name);

/* Releases the pages of a private file mapping that are unmodified; the next access reads them
 * again. Modified pages and anonymous memory stay. No other thread may write to the mapping
 * meanwhile. */
void hp_file_forget_pages(const void *mapped, size_t size);

#endif
