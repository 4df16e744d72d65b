/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files may be shown as source. Their paths come from debugging information, so the author of
 * a program chose them. They may name a key or a password file that the reader of a profile can
 * access, and would disclose by passing a page on.
 */
#ifndef REPORT_ANNOTATE_SOURCE_ACCESS_H
#define REPORT_ANNOTATE_SOURCE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Whether the name has an extension of a programming language, or is that of a C++ header without
 * one. */
bool source_has_name_of_one(const char *path);
/* Whether the bytes are text. */
bool source_is_text(const char *text, size_t size);
/* Whether `user`, who recorded, may read the open file at its path: the file and each directory
 * above it must be readable by that user or by everybody. True if `user` is the reader. (uid_t)-1:
 * no certain user. */
bool source_may_be_read_by(uid_t user, int fd, const struct stat *status);

#endif
