/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc_maps.h"

#include <hpcprof/base/proc_maps.h>

#include <string.h>
#include <sys/mman.h>

size_t proc_maps_parse(char *text,
		       bool (*each)(const struct hp_record_mmap *mapping, void *context),
		       void *context)
{
	size_t skipped = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		struct hp_proc_mapping line_mapping;
		struct hp_record_mmap mapping;

		if (!*line)
			continue;
		if (!hp_proc_maps_parse_line(line, &line_mapping)) {
			skipped++;
			continue;
		}
		if (!(line_mapping.protection & PROT_EXEC))
			continue;
		mapping = (struct hp_record_mmap){
			.start = line_mapping.start,
			.size = line_mapping.end - line_mapping.start,
			.file_offset = line_mapping.file_offset,
			.major = line_mapping.major,
			.minor = line_mapping.minor,
			.inode = line_mapping.inode,
			/* the name in the kernel's mmap records for memory without one */
			.path = *line_mapping.path ? line_mapping.path : "//anon",
		};
		if (!each(&mapping, context))
			break;
	}
	return skipped;
}
