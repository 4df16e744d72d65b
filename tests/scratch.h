/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory for one test's files, removed with all that is in it when the test ends. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* Absolute; made by the first call. */
const char *scratch_directory(void);
/* `name` inside it; malloc'ed. */
char *scratch_path(const char *name);
/* Replaces the contents of a file, at any path. */
void scratch_write(const char *path, const void *bytes, size_t size);
/* A small file's text; malloc'ed. */
char *scratch_read(const char *path);

#endif
