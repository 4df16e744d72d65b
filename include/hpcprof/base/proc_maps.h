/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses /proc/PID/maps line by line. The kernel writes it, but the paths in it come from other
 * users. */
#ifndef HPCPROF_BASE_PROC_MAPS_H
#define HPCPROF_BASE_PROC_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct hp_proc_mapping {
	uint64_t start, end; /* not empty */
	uint64_t file_offset;
	uint64_t inode; /* 0: no file */
	uint32_t major, minor;
	uint8_t protection; /* PROT_* of <sys/mman.h> */
	bool is_shared;
	const char *path; /* in the line; "" without one */
};

/* Parses one line without its newline, and modifies it: it undoes escapes in the path (\012 for a
 * newline, the only escape that exists). Returns false if the line is malformed. */
bool hp_proc_maps_parse_line(char *line, struct hp_proc_mapping *mapping);

#endif
