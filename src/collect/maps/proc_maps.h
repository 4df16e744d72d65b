/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /proc/PID/maps: executable mappings of processes that were running before the
 * recording began.
 */
#ifndef COLLECT_MAPS_PROC_MAPS_H
#define COLLECT_MAPS_PROC_MAPS_H

#include <hpcprof/sample/record.h>

#include <stdbool.h>
#include <stddef.h>

/* Calls `each` for each executable mapping, in order, with a record like the kernel's. Lines that
 * cannot be parsed are skipped; returns their number. The path is valid until `each` returns;
 * escapes (\012 for a newline) are decoded. `text` is NUL-terminated, and changed. */
size_t proc_maps_parse(char *text,
		       bool (*each)(const struct hp_record_mmap *mapping, void *context),
		       void *context);

#endif
