/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers the recipes of a table: there are a million rows, but only a thousand recipes. */
#ifndef UNWIND_RECIPES_H
#define UNWIND_RECIPES_H

#include "rows.h"

/* Returns the number of the recipe, new or known; RECIPE_UNSUPPORTED if it cannot be followed, or
 * if there are too many. */
uint16_t recipe_number(struct builder *builder, const struct frame_state *state, bool is_signal);

#endif
