/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uthash as this folder uses it: XXH3, and out of memory is an answer. A function that adds to a
 * table has a local `bool failed`, false before.
 */
#ifndef REPORT_HASH_H
#define REPORT_HASH_H

#include <stdbool.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define HASH_NONFATAL_OOM	    1
#define uthash_nonfatal_oom(object) (failed = true)
#define HASH_FUNCTION(key, length, hash)                                                           \
	do {                                                                                       \
		(hash) = (unsigned)XXH3_64bits((key), (length));                                   \
	} while (0)
#include <uthash.h>

#endif
