/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc tells about a process that was running before the recording began. */
#ifndef COLLECT_MAPS_PROC_FILES_H
#define COLLECT_MAPS_PROC_FILES_H

#include <stdint.h>

/* At least 1. */
uint32_t proc_count_threads(uint32_t pid);
/* A file of its directory, for the caller to free; NULL when it cannot be had. */
char *proc_read_text(uint32_t pid, const char *file);

#endif
