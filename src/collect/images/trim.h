/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that was freed between blocks that are not goes back to the system only when it is asked. */
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
