/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints epochs for `hpcprof epochs list`. Text that comes from a file is made printable first. */
#ifndef HPCPROF_CLI_EPOCH_LIST_H
#define HPCPROF_CLI_EPOCH_LIST_H

#include <hpcprof/db/db.h>

#include <stdio.h>

enum epoch_format { EPOCH_FORMAT_TEXT, EPOCH_FORMAT_JSON, EPOCH_FORMAT_CSV, EPOCH_FORMAT_WIDE };

/* "812 B", "1.2 KB", "34 MB" (powers of 1000). */
enum { EPOCH_SIZE_BYTES = 32 };
void epoch_size_format(uint64_t bytes, char *text);

struct hp_error *epoch_list_print(FILE *stream, enum epoch_format format, const char *database,
				  const struct hp_epoch_summary *epochs, size_t count);

#endif
