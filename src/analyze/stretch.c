/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	best cases
 * provides	stretches: the expected ratio of each block's cycles to its best case, as a logarithm
 *		relative to that of the procedure, and its deviation
 */
#include "passes.h"
#include "tuning.h"

/* All blocks get the same expectation: blocks whose branches are hard to predict, or that load
 * much, are no different on the whole (tried with the tuning programs of
 * scripts/frequency-accuracy). */
struct hp_error *find_stretches(struct analyzer *analyzer)
{
	const struct hp_cfg *cfg = analyzer->cfg;

	analyzer->stretches = hp_arena_array(analyzer->scratch, cfg->block_count + 1,
					     sizeof(*analyzer->stretches));
	if (!analyzer->stretches)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < cfg->block_count; i++)
		analyzer->stretches[i] = (struct expectation){ 0, block_stretch_deviation };
	return NULL;
}
