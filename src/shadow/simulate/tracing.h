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
	uint64_t bytes; /* written */
	uint64_t instructions;
	bool is_apart; /* the next run does not follow the one before */
	bool is_over;
	int errno_value; /* of a write that failed */
	struct hp_trace_writer writer;
	uint32_t *numbers; /* PATH_MOST_BLOCKS: of a block in the trace, + 1 */
	struct hp_trace_access *accesses;
};

/* false: memory is short. The descriptor is borrowed. */
bool tracing_begin(struct tracing *tracing, int fd, uint64_t bytes_most);
/* Numbers of blocks mean others from here on. */
void tracing_begin_window(struct tracing *tracing);
/* A block has run, with the words that it logged behind its number. */
void tracing_take(struct tracing *tracing, uint64_t number, const struct path_plan *plan,
		  const uint64_t *words, uint64_t fs_base);
/* Writes the end. Nothing comes after it but tracing_clear. */
void tracing_end(struct tracing *tracing);
void tracing_clear(struct tracing *tracing);

#endif
