/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files to be mapped. Whoever may write one may cut it short meanwhile, which would be the end of us:
 * of one that somebody else may write a copy is opened.
 */
#ifndef HPCPROF_IMAGE_OUR_FILE_H
#define HPCPROF_IMAGE_OUR_FILE_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <sys/stat.h>

/* Nobody else may write it. */
bool our_file_stays(const struct stat *status);

/* For reading, whoever named it; DAMAGED when it is no regular file, INSUFFICIENT when it is somebody
 * else's and too large to be copied. */
struct hp_error *our_file_open(const char *path, int *fd);

#endif
