/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes evidence. Items are sorted, so most of them differ from the previous item by a small
 * step in one field. Only groups with counts are written.
 */
#include "evidence_lists.h"

#include <stddef.h>

/* Limits memory: real items take more than half a byte each in the file, but 600 bytes in
 * memory. */
enum { FREE_ITEMS = 1 << 14, ITEMS_A_BYTE = 2 };

static const char *const evidence_tags[] = { "imgs", "wind", "cmds", "regs", "prob",
					     "tick", "recs", "besd", "simu", NULL };
const struct hp_container_kind hp_evidence_kind = {
	.letter = 'E',
	.noun = "evidence",
	.tags = evidence_tags,
	/* All except the first, which everything else refers to. */
	.expendable = evidence_tags + 1,
	.most_times = 64,
};

static void encode_groups(const struct hp_window_group *groups, struct hp_writer *writer)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		hp_write_varint(writer, groups[i].windows);
		hp_write_varint(writer, groups[i].time_ns);
	}
}

static void encode_counts(const uint64_t *counts, struct hp_writer *writer)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < HP_EVIDENCE_GROUPS; i++)
		mask |= (uint64_t)(counts[i] != 0) << i;
	hp_write_varint(writer, mask);
	for (unsigned i = 0; i < HP_EVIDENCE_GROUPS; i++)
		if (counts[i])
			hp_write_varint(writer, counts[i]);
}

/* Encodes an item as its difference from the previous one in the list; NULL for the first. */
void evidence_encode_item(const struct hp_counted *item, const struct hp_counted *before,
			  struct hp_writer *writer)
{
	bool is_elsewhere = item->kind != HP_COUNTED_BLOCK && item->to_image != item->image;
	bool goes_on = before && before->is_relative == item->is_relative &&
		       before->image == item->image;

	hp_write_u8(writer, (uint8_t)(item->kind | (item->is_relative ? FLAG_RELATIVE : 0) |
				      (is_elsewhere ? FLAG_OTHER_IMAGE : 0)));
	hp_write_varint(writer, item->image);
	hp_write_varint(writer, item->at.value - (goes_on ? before->at.value : 0));
	if (is_elsewhere)
		hp_write_varint(writer, item->to_image);
	if (item->kind == HP_COUNTED_BLOCK) {
		hp_write_varint(writer, item->bytes);
		hp_write_varint(writer, item->instructions);
	} else if (is_elsewhere) {
		hp_write_varint(writer, item->to.value);
	} else {
		hp_write_varint(writer, hp_to_zigzag(item->to.value - item->at.value));
	}
	encode_counts(item->counts, writer);
}

static void encode_items(const struct hp_counted *items, size_t count, struct hp_writer *writer)
{
	hp_write_varint(writer, count);
	for (size_t i = 0; i < count; i++)
		evidence_encode_item(&items[i], i ? &items[i - 1] : NULL, writer);
}

static void encode_stratum(const struct hp_window_stratum *stratum, struct hp_writer *writer)
{
	hp_write_varint(writer, stratum->recording);
	hp_write_string(writer, stratum->command);
	hp_write_varint(writer, stratum->time_ns);
	encode_groups(stratum->groups, writer);
	encode_groups(stratum->relative, writer);
	encode_items(stratum->items, stratum->item_count, writer);
}

const struct evidence_list evidence_lists[EVIDENCE_LISTS] = {
	{ "regs", "which way branches went", offsetof(struct hp_window_stratum, outcomes),
	  offsetof(struct hp_window_stratum, outcome_count),
	  offsetof(struct hp_window_stratum, followed), 1, false },
	{ "prob", "what breakpoints counted", offsetof(struct hp_window_stratum, probes),
	  offsetof(struct hp_window_stratum, probe_count), 0, 0, true },
	{ "tick", "where the time of windows went", offsetof(struct hp_window_stratum, ticks),
	  offsetof(struct hp_window_stratum, tick_count), 0, 0, true },
	{ "recs", "how long branch records took", offsetof(struct hp_window_stratum, ranges),
	  offsetof(struct hp_window_stratum, range_count),
	  offsetof(struct hp_window_stratum, record_cycles), HP_RECORD_GROUPS, false },
	{ "simu", "what was simulated", offsetof(struct hp_window_stratum, events),
	  offsetof(struct hp_window_stratum, event_count),
	  offsetof(struct hp_window_stratum, latencies), HP_LATENCIES + 1, true },
};

static size_t count_of(const struct hp_window_stratum *stratum, const struct evidence_list *list)
{
	return *(const size_t *)evidence_field(stratum, list->count);
}

static const struct hp_counted *items_of(const struct hp_window_stratum *stratum,
					 const struct evidence_list *list)
{
	return *(struct hp_counted *const *)evidence_field(stratum, list->items);
}

static bool is_empty(const struct hp_window_stratum *stratum, const struct evidence_list *list)
{
	const uint64_t *numbers = evidence_field(stratum, list->numbers);
	uint64_t any = count_of(stratum, list);

	for (size_t i = 0; i < list->number_count; i++)
		any |= numbers[i];
	return !any;
}

static void encode_list(const struct hp_window_evidence *evidence, size_t at,
			struct evidence_sections *sections)
{
	const struct evidence_list *list = &evidence_lists[at];
	struct hp_writer *writer = &sections->at[at];

	for (size_t i = 0; i < evidence->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &evidence->strata[i];
		const uint64_t *numbers = evidence_field(stratum, list->numbers);

		sections->has_any[at] |= !is_empty(stratum, list);
		for (size_t j = 0; j < list->number_count; j++)
			hp_write_varint(writer, numbers[j]);
		encode_items(items_of(stratum, list), count_of(stratum, list), writer);
	}
}

static void encode_figures(const struct hp_window_evidence *evidence, struct hp_writer *writer)
{
	hp_write_varint(writer, evidence->price.shadows);
	hp_write_varint(writer, evidence->price.lost_ns);
	hp_write_varint(writer, evidence->price.target_ns);
	hp_write_varint(writer, evidence->price.replay_ns);
	hp_write_varint(writer, evidence->price.budget_ppm);
	hp_write_varint(writer, evidence->samples);
	hp_write_varint(writer, evidence->matched);
	hp_write_varint(writer, evidence->dropped);
	hp_write_varint(writer, evidence->reason_count);
	for (size_t i = 0; i < evidence->reason_count; i++) {
		hp_write_u8(writer, evidence->reasons[i].is_refusal);
		hp_write_string(writer, evidence->reasons[i].what);
		hp_write_varint(writer, evidence->reasons[i].count);
	}
}

/* Tells whose lists follow, in case the windows are damaged. */
static void encode_commands(const struct hp_window_evidence *evidence,
			    struct hp_container_builder *builder)
{
	struct hp_writer writer = { 0 };

	hp_write_varint(&writer, evidence->stratum_count);
	for (size_t i = 0; i < evidence->stratum_count; i++) {
		hp_write_varint(&writer, evidence->strata[i].recording);
		hp_write_string(&writer, evidence->strata[i].command);
	}
	builder->failed |= writer.failed;
	if (evidence->stratum_count)
		hp_container_add(builder, "cmds", 0, writer.bytes, writer.size);
	hp_writer_free(&writer);
}

static void encode_beside(const struct hp_window_evidence *evidence,
			  struct hp_container_builder *builder)
{
	struct hp_writer writer = { 0 };

	hp_write_varint(&writer, evidence->price.beside_ns);
	if (evidence->price.aside_ns)
		hp_write_varint(&writer, evidence->price.aside_ns);
	builder->failed |= writer.failed;
	if (evidence->price.beside_ns || evidence->price.aside_ns)
		hp_container_add(builder, "besd", 0, writer.bytes, writer.size);
	hp_writer_free(&writer);
}

uint64_t hp_evidence_most_items(size_t file_bytes)
{
	return FREE_ITEMS + ITEMS_A_BYTE * (uint64_t)file_bytes;
}

static struct hp_error *finish(const struct hp_window_evidence *evidence,
			       const struct evidence_sections *sections, bool plain,
			       struct hp_writer *file)
{
	struct hp_container_builder builder = { .kind = &hp_evidence_kind, .plain = plain };
	struct hp_writer images = { 0 };
	struct hp_writer windows = { 0 };

	hp_write_varint(&images, evidence->image_count);
	for (size_t i = 0; i < evidence->image_count; i++)
		hp_image_encode(&evidence->images[i], 0, &images);
	encode_figures(evidence, &windows);
	hp_write_varint(&windows, evidence->stratum_count);
	for (size_t i = 0; i < evidence->stratum_count; i++)
		encode_stratum(&evidence->strata[i], &windows);
	builder.failed = images.failed || windows.failed;
	hp_container_add(&builder, "imgs", HP_SECTION_REQUIRED, images.bytes, images.size);
	hp_container_add(&builder, "wind", HP_SECTION_REQUIRED, windows.bytes, windows.size);
	hp_writer_free(&images);
	hp_writer_free(&windows);
	encode_commands(evidence, &builder);
	for (size_t i = 0; i < EVIDENCE_LISTS; i++) {
		builder.failed |= sections->at[i].failed;
		if (sections->has_any[i])
			hp_container_add(&builder, evidence_lists[i].tag, 0, sections->at[i].bytes,
					 sections->at[i].size);
	}
	encode_beside(evidence, &builder);
	return hp_container_finish(&builder, file);
}

void evidence_sections_clear(struct evidence_sections *sections)
{
	for (size_t i = 0; i < EVIDENCE_LISTS; i++)
		hp_writer_free(&sections->at[i]);
	*sections = (struct evidence_sections){ 0 };
}

struct hp_error *evidence_finish(const struct hp_window_evidence *evidence,
				 struct evidence_sections *sections, struct hp_writer *file)
{
	struct hp_error *error = finish(evidence, sections, false, file);

	/* When all items are alike, they would compress too well to be read again, so they are
	 * written uncompressed. */
	if (!error && sections->items > hp_evidence_most_items(file->size)) {
		hp_writer_free(file);
		error = finish(evidence, sections, true, file);
	}
	evidence_sections_clear(sections);
	return error;
}

struct hp_error *hp_evidence_encode(const struct hp_window_evidence *evidence,
				    struct hp_writer *file)
{
	struct evidence_sections sections = { .items = hp_window_evidence_items(evidence) };
	struct hp_error *error = hp_window_evidence_check(evidence);

	for (size_t i = 0; i < evidence->image_count && !error; i++)
		error = hp_image_check(&evidence->images[i]);
	if (error)
		return error;
	for (size_t i = 0; i < EVIDENCE_LISTS; i++)
		encode_list(evidence, i, &sections);
	return evidence_finish(evidence, &sections, file);
}
