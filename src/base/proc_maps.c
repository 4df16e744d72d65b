/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/proc_maps.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Parses a hexadecimal number that ends with `terminator`, and moves past it. */
static bool take_hex(char **at, char terminator, uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, 16);
	if (errno || *end != terminator)
		return false;
	*at = end + 1;
	return true;
}

/* The kernel writes a newline in a path as \012, and nothing else specially. */
static void undo_escapes(char *path)
{
	char *out = path;

	for (const char *in = path; *in; in++, out++) {
		if (strncmp(in, "\\012", 4) == 0) {
			*out = '\n';
			in += 3;
		} else {
			*out = *in;
		}
	}
	*out = 0;
}

/* start-end perms offset major:minor inode [path] */
bool hp_proc_maps_parse_line(char *line, struct hp_proc_mapping *mapping)
{
	uint64_t major;
	uint64_t minor;
	char *after;

	if (!take_hex(&line, '-', &mapping->start) || !take_hex(&line, ' ', &mapping->end) ||
	    mapping->end <= mapping->start)
		return false;
	if (strnlen(line, 5) < 5 || line[4] != ' ')
		return false;
	mapping->protection =
		(uint8_t)((line[0] == 'r' ? PROT_READ : 0) | (line[1] == 'w' ? PROT_WRITE : 0) |
			  (line[2] == 'x' ? PROT_EXEC : 0));
	mapping->is_shared = line[3] == 's';
	line += 5;
	if (!take_hex(&line, ' ', &mapping->file_offset) || !take_hex(&line, ':', &major) ||
	    !take_hex(&line, ' ', &minor) || !isdigit((unsigned char)*line))
		return false;
	errno = 0;
	mapping->inode = strtoull(line, &after, 10);
	if (errno || (*after && *after != ' '))
		return false;
	mapping->major = (uint32_t)major;
	mapping->minor = (uint32_t)minor;
	while (*after == ' ')
		after++;
	undo_escapes(after);
	mapping->path = after;
	return true;
}
