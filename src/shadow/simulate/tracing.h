/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes logged paths to a file, as hpcprof/uarch/trace.h reads them: blocks as they are met, and
 * their runs with all addresses. It ends by itself where the file would become longer than was
 * asked for.
 */
#ifndef SHADOW_SIMULATE_TRACING_H
#define SHADOW_SIMULATE_TRACING_H

#include "../translate/path_log.h"

#include <hpcprof/uarch/trace.h>

struct tracing {
	int fd;
	uint64_t bytes_most;
	uint64_t bytes; /* bytes written so far */
	uint64_t instructions;
	bool is_apart; /* the next run does not follow the previous one */
	bool is_over;
	int errno_value; /* errno of a failed write */
	struct hp_trace_writer writer;
	/* array of PATH_MOST_BLOCKS: number of each block in the trace, plus one */
	uint32_t *numbers;
	struct hp_trace_access *accesses;
};

/* False: out of memory. The descriptor is borrowed. */
bool tracing_begin(struct tracing *tracing, int fd, uint64_t bytes_most);
/* From here on, numbers mean other blocks. */
void tracing_begin_window(struct tracing *tracing);
/* A block has run; its words in the log follow its number. */
void tracing_take(struct tracing *tracing, uint64_t number, const struct path_plan *plan,
		  const uint64_t *words, uint64_t fs_base);
/* Writes the end. Only tracing_clear may follow. */
void tracing_end(struct tracing *tracing);
void tracing_clear(struct tracing *tracing);

#endif
