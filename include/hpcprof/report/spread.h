/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a spread for people (the table of Anderson et al. 1997, figure 3) and for programs
 * ("hpcprof-stats/1", CSV).
 */
#ifndef HPCPROF_REPORT_SPREAD_H
#define HPCPROF_REPORT_SPREAD_H

#include <hpcprof/compare/spread.h>

#include <stdio.h>

enum hp_spread_format { HP_SPREAD_TEXT, HP_SPREAD_JSON, HP_SPREAD_CSV };

/* `limit` rows at most; 0: all. */
struct hp_error *hp_spread_write(const struct hp_spread *spread, enum hp_spread_format format,
				 size_t limit, FILE *out);

#endif
