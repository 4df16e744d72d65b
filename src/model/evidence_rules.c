/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks evidence: order, ranges of numbers, and references between its lists. */
#include "evidence_order.h"

static bool is_cycles(const struct hp_counted_place *place)
{
	return place->kind == HP_COUNTED_CYCLES || place->kind == HP_COUNTED_BLOCK_CYCLES ||
	       place->kind == HP_COUNTED_RESIZED_CYCLES;
}

static const char *place_fault(const struct hp_window_evidence *evidence,
			       const struct hp_counted_place *place)
{
	bool is_block = place->kind == HP_COUNTED_BLOCK;

	if (place->kind < HP_COUNTED_BLOCK ||
	    (place->kind >= HP_COUNTED_EVENT + HP_EVENT_KINDS && !is_cycles(place)))
		return "a count of unknown kind";
	if (place->image >= evidence->image_count ||
	    (!is_block && place->to_image >= evidence->image_count))
		return "a count in an image that is missing";
	if (is_block && (place->to_image || place->to.value || !place->bytes ||
			 !place->instructions || place->instructions > place->bytes))
		return "a block of impossible size";
	if (is_block && place->at.value + (place->bytes - 1) < place->at.value)
		return "a block that runs past 64 bits";
	if (!is_block && (place->bytes || place->instructions))
		return "an edge with a size";
	return NULL;
}

static const char *item_fault(const struct hp_window_evidence *evidence,
			      const struct hp_counted_place *place,
			      const struct hp_counted_place *before, const uint64_t *counts,
			      size_t groups)
{
	const char *fault = place_fault(evidence, place);
	uint64_t any = 0;

	if (fault)
		return fault;
	if (before && hp_counted_compare(before, place) >= 0)
		return "counts out of order";
	for (size_t i = 0; i < groups; i++)
		any |= counts[i];
	return any ? NULL : "a count of 0";
}

static const char *list_fault(const struct hp_window_evidence *evidence,
			      const struct hp_counted *items, size_t count)
{
	const char *fault = NULL;

	for (size_t i = 0; i < count && !fault; i++)
		fault = item_fault(evidence, &items[i].place, i ? &items[i - 1].place : NULL,
				   items[i].counts, HP_EVIDENCE_GROUPS);
	return fault;
}

struct hp_error *hp_window_items_check(const struct hp_window_evidence *from,
				       const struct hp_window_item *items, size_t count)
{
	const char *fault = NULL;

	for (size_t i = 0; i < count && !fault; i++)
		fault = item_fault(from, &items[i].place, i ? &items[i - 1].place : NULL,
				   items[i].counts, HP_WINDOW_PARTS);
	return fault ? hp_error_create(HP_ERROR_USAGE, "%s", fault) : NULL;
}

static bool is_outcome(const struct hp_counted *item)
{
	return item->is_relative &&
	       (item->kind == HP_COUNTED_TAKEN || item->kind == HP_COUNTED_FALL ||
		item->kind == HP_COUNTED_INDIRECT_JUMP || item->kind == HP_COUNTED_INDIRECT_CALL);
}

static bool is_probe(const struct hp_counted *item)
{
	return item->kind == HP_COUNTED_PROBE || item->kind == HP_COUNTED_PROBE_TIME;
}

static bool is_range(const struct hp_counted *item)
{
	return item->kind >= HP_COUNTED_RANGE && item->kind <= HP_COUNTED_RANGE_TIME;
}

static bool is_event(const struct hp_counted *item)
{
	return item->kind >= HP_COUNTED_EVENT;
}

static bool is_fair_range(const struct hp_window_stratum *stratum, const struct hp_counted *item)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		if (item->counts[i] && (i >= HP_RECORD_GROUPS || !stratum->record_cycles[i]))
			return false;
	return is_range(item) && item->is_relative && item->image == item->to_image &&
	       item->at.value <= item->to.value;
}

static const char *stratum_fault(const struct hp_window_evidence *evidence,
				 const struct hp_window_stratum *stratum)
{
	const char *fault;

	if (!stratum->command)
		return "counts without a command";
	fault = list_fault(evidence, stratum->items, stratum->item_count);
	if (!fault)
		fault = list_fault(evidence, stratum->outcomes, stratum->outcome_count);
	for (size_t i = 0; i < stratum->outcome_count && !fault; i++)
		if (!is_outcome(&stratum->outcomes[i]))
			fault = "an outcome without a branch";
	if (!fault)
		fault = list_fault(evidence, stratum->probes, stratum->probe_count);
	for (size_t i = 0; i < stratum->probe_count && !fault; i++)
		if (!is_probe(&stratum->probes[i]))
			fault = "a probe without a breakpoint";
	if (!fault)
		fault = list_fault(evidence, stratum->ticks, stratum->tick_count);
	for (size_t i = 0; i < stratum->tick_count && !fault; i++)
		if (stratum->ticks[i].kind != HP_COUNTED_TICK)
			fault = "a count of another kind among samples";
	for (size_t i = 0; i < stratum->item_count && !fault; i++)
		if (is_probe(&stratum->items[i]) || is_range(&stratum->items[i]) ||
		    is_event(&stratum->items[i]) || stratum->items[i].kind == HP_COUNTED_TICK)
			fault = "a count of another kind among blocks and edges";
	if (!fault)
		fault = list_fault(evidence, stratum->ranges, stratum->range_count);
	for (size_t i = 0; i < stratum->range_count && !fault; i++)
		if (!is_fair_range(stratum, &stratum->ranges[i]))
			fault = "straight code that branch records cannot show";
	if (!fault)
		fault = list_fault(evidence, stratum->events, stratum->event_count);
	for (size_t i = 0; i < stratum->event_count && !fault; i++)
		if (stratum->events[i].is_relative ||
		    (stratum->events[i].kind != HP_COUNTED_BLOCK && !is_event(&stratum->events[i])))
			fault = "a count of another kind among events";
	return fault;
}

struct hp_error *hp_window_evidence_check(const struct hp_window_evidence *evidence)
{
	const char *fault = NULL;

	if (hp_window_evidence_items(evidence) > HP_EVIDENCE_MOST_ITEMS)
		fault = "more items than an epoch may have";

	for (size_t i = 1; i < evidence->image_count && !fault; i++)
		if (hp_image_id_compare(&evidence->images[i - 1], &evidence->images[i]) >= 0)
			fault = "images out of order";
	for (size_t i = 0; i < evidence->stratum_count && !fault; i++) {
		fault = stratum_fault(evidence, &evidence->strata[i]);
		if (!fault && i &&
		    evidence_compare_strata(&evidence->strata[i - 1], &evidence->strata[i]) >= 0)
			fault = "recordings out of order";
	}
	for (size_t i = 0; i < evidence->reason_count && !fault; i++) {
		const struct hp_window_reason *reason = &evidence->reasons[i];

		if (!reason->what || !reason->count)
			fault = "a reason without a count";
		else if (i && evidence_compare_reasons(reason->is_refusal, reason->what,
						       reason - 1) <= 0)
			fault = "reasons out of order";
	}
	return fault ? hp_error_create(HP_ERROR_USAGE, "%s", fault) : NULL;
}
