/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of hpcprof report. */
#ifndef HPCPROF_CLI_REPORT_OPTIONS_H
#define HPCPROF_CLI_REPORT_OPTIONS_H

#include "arguments.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/report/report.h>

struct report_arguments {
	struct hp_report_options report;
	const char *db;
	HP_VECTOR(char *) epochs; /* owned, but not what they point to */
	bool view_chosen;
	bool as_graph;
	bool as_svg;
	const char *flame_graph; /* the file */
	bool no_pager;
	enum { REPORT_COLOR_AUTO, REPORT_COLOR_ALWAYS, REPORT_COLOR_NEVER } color;
	int status; /* exit status of a usage error that was already printed */
};

/* Parses into a struct report_arguments. */
extern const struct argp report_argp;

#endif
