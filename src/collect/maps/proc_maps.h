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

/* Calls `each` for every executable line, in order, as if the kernel had announced the mapping.
 * Lines that make no sense are skipped and counted. The path lives until `each` returns; escapes
 * (\012 for a newline) are undone. `text` is NUL-terminated and is changed. */
size_t proc_maps_parse(char *text,
		       bool (*each)(const struct hp_record_mmap *mapping, void *context),
		       void *context);

#endif
