/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of source files, shown beside the code. Files are read once and kept. A file that is
 * missing, or was changed after the recording, is remembered as such.
 */
#ifndef REPORT_ANNOTATE_SOURCE_H
#define REPORT_ANNOTATE_SOURCE_H

#include <hpcprof/base/error.h>
#include <hpcprof/base/vector.h>

#include <stdint.h>
#include <sys/types.h>

struct source_file {
	char *path;	    /* as in debugging information */
	char *text;	    /* NULL: it could not be read */
	const char **lines; /* beginnings of lines, and the end of the last one */
	uint32_t line_count;
	bool is_newer; /* it was changed after the recording began */
	bool withheld; /* it exists, but must not be shown: see source_access.h */
};

struct sources {
	const char *symfs;    /* directory that is searched first; NULL: none */
	uint64_t recorded_ns; /* start of the recording (CLOCK_REALTIME); 0: unknown */
	uid_t user;	      /* the user who recorded; (uid_t)-1: several */
	HP_VECTOR(struct source_file) files;
};

/* Returns line `line` (from 1) in `*text`, `*length` bytes without its end; NULL if there is none.
 * It is valid as long as `sources`. Fails only when memory is short. */
struct hp_error *source_line(struct sources *sources, const char *path, uint32_t line,
			     const char **text, size_t *length);
void sources_clear(struct sources *sources);

#endif
