/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc tells about a process that was running before the recording began. */
#ifndef COLLECT_MAPS_PROC_FILES_H
#define COLLECT_MAPS_PROC_FILES_H

#include <stdint.h>

/* The number of threads; at least 1. */
uint32_t proc_count_threads(uint32_t pid);
/* The text of a file in /proc/PID, which the caller frees; NULL when it cannot be read. */
char *proc_read_text(uint32_t pid, const char *file);

#endif
