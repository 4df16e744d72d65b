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

/* By the name: an extension of a language, or a header of C++ without one. */
bool source_has_name_of_one(const char *path);
/* By the bytes: text. */
bool source_is_text(const char *text, size_t size);
/* Whether `user`, who recorded, may read the open file at its path: it is his or everybody's, and
 * so is each directory above it. True where that is who asks. (uid_t)-1: nobody in particular. */
bool source_may_be_read_by(uid_t user, int fd, const struct stat *status);

#endif
