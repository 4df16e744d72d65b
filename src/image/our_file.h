/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files that will be mapped. If a mapped file is truncated, reading it kills hpcprof
 * (SIGBUS). So a file that another user may write is copied first, and the copy is opened.
 */
#ifndef HPCPROF_IMAGE_OUR_FILE_H
#define HPCPROF_IMAGE_OUR_FILE_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <sys/stat.h>

/* Whether only this user and root can write the file. */
bool our_file_stays(const struct stat *status);

/* Opens the file for reading. DAMAGED when it is no regular file, INSUFFICIENT when another user
 * can write it and it is too large to copy. */
struct hp_error *our_file_open(const char *path, int *fd);

#endif
