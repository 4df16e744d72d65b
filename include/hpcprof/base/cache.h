/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of measurements on this machine, kept so that they need not be repeated: small files in a
 * directory of the user, $XDG_CACHE_HOME/hpcprof or ~/.cache/hpcprof (mode 0700).
 *
 * The cache is optional. When reading or writing fails, the caller continues without it. The caller
 * checks what it reads like any foreign input. hpcprof ignores a directory or file that another
 * user could have written: both must belong to the user (for root, to root), be writable by nobody
 * else, and not be symbolic links.
 */
#ifndef HPCPROF_BASE_CACHE_H
#define HPCPROF_BASE_CACHE_H

#include <hpcprof/base/error.h>

#include <stddef.h>
#include <stdint.h>

/* The whole file, as hp_file_read_at gives it. NOT_FOUND when there is none or no directory. */
struct hp_error *hp_cache_read(const char *name, size_t limit_bytes, uint8_t **bytes, size_t *size);
/* Replaces the file atomically; creates the directory. */
struct hp_error *hp_cache_write(const char *name, const void *bytes, size_t size);

#endif
