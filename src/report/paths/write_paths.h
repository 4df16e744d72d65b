/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --children, --callers, --callees, --tree and --flamegraph. */
#ifndef REPORT_PATHS_WRITE_PATHS_H
#define REPORT_PATHS_WRITE_PATHS_H

#include "../common/state.h"

#include <stdio.h>

/* requires: paths with names. Finds the procedure that was asked for, before anything is
 * written. */
struct hp_error *paths_find_called(struct report *report);
struct hp_error *write_paths_text(struct report *report, FILE *out);
struct hp_error *write_paths_json(struct report *report, FILE *out);
struct hp_error *write_paths_csv(struct report *report, FILE *out);
/* Writes the tree as an SVG image that refers to nothing else. */
struct hp_error *write_flame_graph(struct report *report, FILE *out);

#endif
