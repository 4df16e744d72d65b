/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up the results of windows for hp_shadow_statistics(). */
#ifndef SHADOW_STATISTICS_H
#define SHADOW_STATISTICS_H

#include "window.h"

#include <hpcprof/shadow/shadow.h>

/* `beside`: the share of the window in which another copy ran. What the target has used and lost in
 * all is for the caller to fill in. */
void statistics_add(struct hp_shadow_statistics *statistics, const struct window_order *order,
		    const struct window_result *result, double beside);

#endif
