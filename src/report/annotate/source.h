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
	char *path;	    /* as debugging information has it */
	char *text;	    /* NULL: could not be read */
	const char **lines; /* beginnings, and the end of the last */
	uint32_t line_count;
	bool is_newer; /* than the recording */
	bool withheld; /* it is there, and not to be shown: see source_access.h */
};

struct sources {
	const char *symfs;    /* looked below first; NULL for none */
	uint64_t recorded_ns; /* CLOCK_REALTIME; 0 unknown */
	uid_t user;	      /* who recorded; (uid_t)-1: several */
	HP_VECTOR(struct source_file) files;
};

/* The line (from 1) in `*text`, `*length` bytes without its end; NULL when there is none. Lives as
 * long as `sources`. Fails for lack of memory only. */
struct hp_error *source_line(struct sources *sources, const char *path, uint32_t line,
			     const char **text, size_t *length);
void sources_clear(struct sources *sources);

#endif
