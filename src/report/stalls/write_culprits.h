/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The views of simulated events, in each format: loads and stores, or branches, by the cycles that
 * other instructions lose to them.
 */
#ifndef REPORT_STALLS_WRITE_CULPRITS_H
#define REPORT_STALLS_WRITE_CULPRITS_H

#include "../common/state.h"

#include <stdio.h>

/* The error if nothing was simulated, with advice. */
struct hp_error *nothing_simulated(const struct report *report);

struct hp_error *write_culprits_text(struct report *report, FILE *out);
struct hp_error *write_culprits_csv(struct report *report, FILE *out);
struct hp_error *write_culprits_json(struct report *report, FILE *out);

#endif
