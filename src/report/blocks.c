/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "listing.h"

#include <errno.h>

/* What stands in the way of a graph is no reason to go without the rest; memory is. */
static struct hp_error *forgive(struct hp_error *error)
{
	if (error && error->errno_value == ENOMEM)
		return error;
	hp_error_destroy(error);
	return NULL;
}

struct hp_error *listing_add_blocks(const struct row *row, struct listing *listing)
{
	struct report_part *part = row->code ? row->code->part : NULL;
	struct hp_cfg *cfg = NULL;
	struct hp_error *error;

	if (!part || row->code->next || !row->code->procedure || !part->file ||
	    row->code->procedure->source == HP_PROCEDURE_GAP)
		return NULL;
	if (!part->flow) {
		error = hp_cfg_image_create(part->file, &part->flow);
		if (error)
			return forgive(error);
	}
	error = hp_cfg_create(part->flow, row->code->procedure, listing->arena, &cfg);
	if (error)
		return forgive(error);
	listing->cfg = cfg;
	for (size_t i = 0; i < listing->rows.count; i++) {
		struct row *instruction = &listing->rows.at[i];
		hp_link_address address = { instruction->address };

		if (!instruction->has_address || !instruction->length)
			continue;
		instruction->block = hp_cfg_block_at(cfg, address);
		instruction->has_block = instruction->block != HP_CFG_NONE;
	}
	return NULL;
}
