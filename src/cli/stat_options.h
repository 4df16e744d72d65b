/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of hpcprof stat. */
#ifndef HPCPROF_CLI_STAT_OPTIONS_H
#define HPCPROF_CLI_STAT_OPTIONS_H

#include "arguments.h"
#include "stat_stalls.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/count/counting.h>

enum stat_format { STAT_TEXT, STAT_JSON, STAT_CSV };

struct stat_arguments {
	struct hp_counting_options counting;
	struct hp_grouping_options grouping;
	HP_VECTOR(const char *) events; /* each -e */
	struct hp_targets targets;
	enum stat_format format;
	const char *output;
	int output_fd;
	const char *plot;
	uint32_t runs;
	enum hp_unit slice_unit;
	const char *replay; /* file with counts to use instead of counting, or NULL */
	bool stalls;
	enum stat_mode stalls_mode;
	enum hp_stack_accounting accounting;
	bool strict;
	bool quiet;
};

/* Parses into a struct stat_arguments; wrong options end the program. */
extern const struct argp stat_argp;

#endif
