/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was measured on this machine and need not be measured again: small files in a directory of
 * the user's own, $XDG_CACHE_HOME/hpcprof or ~/.cache/hpcprof (mode 0700).
 *
 * A cache is never needed: whoever uses it goes on without when reading or writing fails, and
 * checks what it reads as any foreign input. Nothing is read or written that another user could
 * have put there: the directory and its files must be the user's (or root's for root), writable by
 * nobody else, and no symbolic links.
 */
#ifndef HPCPROF_BASE_CACHE_H
#define HPCPROF_BASE_CACHE_H

#include <hpcprof/base/error.h>

#include <stddef.h>
#include <stdint.h>

/* The whole file, as hp_file_read_at gives it. NOT_FOUND when there is none or no directory. */
struct hp_error *hp_cache_read(const char *name, size_t limit_bytes, uint8_t **bytes, size_t *size);
/* Replaces it in one step; makes the directory. */
struct hp_error *hp_cache_write(const char *name, const void *bytes, size_t size);

#endif
