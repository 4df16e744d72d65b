/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Returns freed memory to the system. malloc keeps it otherwise while blocks around it are in use.
 */
#ifndef COLLECT_IMAGES_TRIM_H
#define COLLECT_IMAGES_TRIM_H

#include <stddef.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static inline void trim_memory(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

#endif
