/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sentences on what could not be analysed in a procedure, and why, for views of its instructions or
 * its graph. Ordinary code has none.
 */
#include "listing.h"

#include <hpcprof/base/text.h>
#include <hpcprof/image/code.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static bool say(struct listing *listing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool say(struct listing *listing, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	const char *kept;
	va_list arguments;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	kept = text ? hp_arena_strdup(listing->arena, text) : NULL;
	return kept && hp_vector_push(&listing->caveats, kept);
}

static uint64_t end_of(const struct hp_block *block)
{
	return block->address.value + block->bytes;
}

static bool say_unresolved(struct listing *listing, const struct hp_cfg *cfg)
{
	return !cfg->unresolved_jumps ||
	       say(listing,
		   "%" PRIu32 " indirect jump%s (the first at 0x%" PRIx64
		   ") could not be followed: edges are missing",
		   cfg->unresolved_jumps, cfg->unresolved_jumps == 1 ? "" : "s",
		   cfg->unresolved.value);
}

static bool say_undecodable(struct listing *listing, const struct hp_cfg *cfg)
{
	return !cfg->is_undecodable ||
	       say(listing,
		   "the bytes at 0x%" PRIx64
		   " are not an instruction, but code reaches them: edges are missing",
		   cfg->undecodable.value);
}

/* A part of a table makes no sense, or has more entries than real code. */
static bool say_partial(struct listing *listing, const struct hp_cfg *cfg)
{
	if (!cfg->missing_edges || cfg->unresolved_jumps || cfg->is_undecodable)
		return true;
	return say(listing, "not all targets of a jump could be read: edges are missing");
}

static bool say_overlaps(struct listing *listing, const struct hp_cfg *cfg)
{
	for (uint32_t i = 1; i < cfg->block_count; i++)
		if (end_of(&cfg->blocks[i - 1]) > cfg->blocks[i].address.value)
			return say(listing,
				   "instructions overlap at 0x%" PRIx64
				   ": code jumps into the middle of other instructions, which are "
				   "not listed",
				   cfg->blocks[i].address.value);
	return true;
}

/* Warns of samples that contradict the analysis. */
static bool say_samples(const struct report *report, struct listing *listing,
			const struct hp_cfg *cfg)
{
	uint64_t orphans = 0;
	uint64_t outside = 0;

	for (size_t i = 0; i < listing->rows.count; i++) {
		const struct hp_row *row = &listing->rows.at[i];
		uint64_t samples = row->tallies[report->profiles->sort_event].samples;
		uint32_t block = hp_cfg_block_at(cfg, (hp_link_address){ row->address });

		if (!row->has_address || !samples)
			continue;
		if (block == HP_CFG_NONE)
			outside += samples;
		else if (cfg->blocks[block].is_orphan)
			orphans += samples;
	}
	if (orphans && !say(listing, "%" PRIu64 " sample%s in code without a known predecessor",
			    orphans, orphans == 1 ? "" : "s"))
		return false;
	return !outside ||
	       say(listing, "%" PRIu64 " sample%s where the file has no executable code", outside,
		   outside == 1 ? "" : "s");
}

static bool say_writable(struct listing *listing, const struct hp_row *row,
			 const struct hp_loaded_part *part)
{
	if (!part || !part->file || !row->has_address ||
	    !hp_image_is_writable_code(part->file, row->address))
		return true;
	return say(
		listing,
		"the program may overwrite this code: what was executed may differ from the file");
}

struct hp_error *listing_add_caveats(const struct report *report, const struct hp_row *row,
				     struct listing *listing)
{
	const struct hp_cfg *cfg = listing->cfg;
	bool fine = say_writable(listing, row, row->code ? row->code->part : NULL);

	if (row->image->problem)
		fine = fine &&
		       say(listing, "only the offsets in the file and their samples are known");
	if (listing->no_graph)
		fine = fine && say(listing, "no control-flow graph: %s", listing->no_graph);
	if (cfg)
		fine = fine && say_unresolved(listing, cfg) && say_undecodable(listing, cfg) &&
		       say_partial(listing, cfg) && say_overlaps(listing, cfg) &&
		       say_samples(report, listing, cfg);
	return fine ? NULL : hp_error_create_no_memory();
}
