/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds evidence to a file of evidence. An item takes half a KiB of memory and ten bytes of a file,
 * and a long recording has hundreds of thousands. So lists are read, added to and written item by
 * item, and are never in memory as a whole.
 */
#include "evidence_lists.h"

#include <hpcprof/base/cleanup.h>

#include <stdlib.h>
#include <string.h>

/* What identifies a stratum. */
struct key {
	uint64_t recording;
	char *command;
};

/* What one side had. The sum has more, in the same order. */
struct side {
	struct hp_image_id *images;
	uint32_t *numbers; /* of its images in the sum */
	size_t image_count;
	struct key *keys; /* of its strata */
	size_t key_count;
};

struct summing {
	struct hp_container file; /* the file that is added to */
	struct evidence_decoding in;
	struct hp_window_evidence sum; /* without lists */
	struct side old;
	struct side new;
	const struct hp_window_evidence *more;
	struct evidence_sections sections;
};

/* --- sides ------------------------------------------------------------------------------------ */

static void clear_side(struct side *side)
{
	for (size_t i = 0; i < side->image_count; i++)
		hp_image_id_clear(&side->images[i]);
	for (size_t i = 0; i < side->key_count; i++)
		free(side->keys[i].command);
	free(side->images);
	free(side->numbers);
	free(side->keys);
}

static struct hp_error *remember(const struct hp_window_evidence *evidence, struct side *side)
{
	side->images = calloc(evidence->image_count + 1, sizeof(*side->images));
	side->numbers = calloc(evidence->image_count + 1, sizeof(*side->numbers));
	side->keys = calloc(evidence->stratum_count + 1, sizeof(*side->keys));
	if (!side->images || !side->numbers || !side->keys)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < evidence->image_count; i++) {
		struct hp_error *error =
			hp_image_id_copy(&evidence->images[i], &side->images[side->image_count]);

		if (error)
			return error;
		side->image_count++;
	}
	for (size_t i = 0; i < evidence->stratum_count; i++) {
		struct key *key = &side->keys[side->key_count];

		key->recording = evidence->strata[i].recording;
		key->command = strdup(evidence->strata[i].command);
		if (!key->command)
			return hp_error_create_no_memory();
		side->key_count++;
	}
	return NULL;
}

/* Both lists are sorted. */
static void number_images(struct side *side, const struct hp_window_evidence *sum)
{
	size_t at = 0;

	for (size_t i = 0; i < side->image_count; i++) {
		while (hp_image_id_compare(&sum->images[at], &side->images[i]) != 0)
			at++;
		side->numbers[i] = (uint32_t)at;
	}
}

static bool is_of(const struct side *side, size_t at, const struct hp_window_stratum *stratum)
{
	return at < side->key_count && side->keys[at].recording == stratum->recording &&
	       strcmp(side->keys[at].command, stratum->command) == 0;
}

/* --- one list --------------------------------------------------------------------------------- */

static bool renumber(struct hp_counted *item, const struct side *side)
{
	if (item->image >= side->image_count || item->to_image >= side->image_count)
		return false;
	item->image = side->numbers[item->image];
	if (item->kind != HP_COUNTED_BLOCK)
		item->to_image = side->numbers[item->to_image];
	return true;
}

/* The items of the file, one after the other. */
struct stream {
	struct evidence_decoding *in;
	const struct side *side;
	uint64_t left;		  /* number of items after `item` */
	struct hp_counted before; /* as in the file */
	struct hp_counted item;	  /* as in the sum */
	bool has_before;
	bool has_item;
};

static struct hp_error *advance(struct stream *stream)
{
	struct hp_counted next = { 0 };
	struct hp_error *error;

	stream->has_item = false;
	if (!stream->left)
		return NULL;
	stream->left--;
	error = evidence_decode_item(stream->in, stream->has_before ? &stream->before : NULL,
				     &next);
	if (error)
		return error;
	if (stream->has_before && hp_counted_compare(&stream->before.place, &next.place) >= 0)
		return evidence_damaged(stream->in, "counts out of order");
	stream->before = stream->item = next;
	stream->has_before = stream->has_item = true;
	if (!renumber(&stream->item, stream->side))
		return evidence_damaged(stream->in, "a count in an image that is missing");
	return NULL;
}

static struct hp_error *add_counts(uint64_t *into, const uint64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(into[i], from[i], &into[i]))
			return hp_error_create(HP_ERROR_DAMAGED,
					       "the counts of windows add up to more than 64 bits");
	return NULL;
}

/* Writes the sum of the file's items and of `count` sorted items, and how many items that is. */
static struct hp_error *add_items(struct stream *stream, const struct side *side,
				  const struct hp_counted *items, size_t count,
				  struct hp_writer *writer, uint64_t *written)
{
	struct hp_counted last = { 0 };
	struct hp_error *error = advance(stream);

	for (size_t i = 0; !error && (stream->has_item || i < count); ++*written) {
		struct hp_counted next = { 0 };
		int order = i == count ? -1 : 1;

		if (i < count) {
			next = items[i];
			renumber(&next, side);
			if (stream->has_item)
				order = hp_counted_compare(&stream->item.place, &next.place);
		}
		if (order == 0)
			error = add_counts(next.counts, stream->item.counts, HP_EVIDENCE_GROUPS);
		else if (order < 0)
			next = stream->item;
		evidence_encode_item(&next, *written ? &last : NULL, writer);
		last = next;
		if (order >= 0)
			i++;
		if (order <= 0 && !error)
			error = advance(stream);
	}
	return error;
}

/* For one stratum, which may be missing on either side. */
static struct hp_error *add_list(struct summing *summing, size_t list_at, bool in_file,
				 const struct hp_window_stratum *more)
{
	const struct evidence_list *list = &evidence_lists[list_at];
	struct hp_writer *section = &summing->sections.at[list_at];
	struct stream stream = { .in = &summing->in, .side = &summing->old };
	uint64_t numbers[HP_RECORD_GROUPS] = { 0 };
	struct hp_writer items = { 0 };
	struct hp_error *error = NULL;
	uint64_t count = 0;
	uint64_t any;

	if (in_file) {
		error = evidence_decode_numbers(&summing->in, list, numbers);
		if (!error && !hp_read_varint(&summing->in.reader, &stream.left))
			error = evidence_damaged(&summing->in,
						 "the number of items is out of range");
	}
	if (!error && more)
		error = add_counts(numbers, evidence_field(more, list->numbers),
				   list->number_count);
	if (!error)
		error = add_items(
			&stream, &summing->new,
			more ? *(struct hp_counted **)evidence_field(more, list->items) : NULL,
			more ? *(size_t *)evidence_field(more, list->count) : 0, &items, &count);
	any = count;
	for (size_t i = 0; i < list->number_count; i++) {
		hp_write_varint(section, numbers[i]);
		any |= numbers[i];
	}
	hp_write_varint(section, count);
	hp_write_bytes(section, items.bytes, items.size);
	section->failed |= items.failed;
	hp_writer_free(&items);
	summing->sections.has_any[list_at] |= any != 0;
	summing->sections.items += count;
	return error;
}

static struct hp_error *add_section(struct summing *summing, size_t list)
{
	bool in_file = hp_container_has(&summing->file, evidence_lists[list].tag);
	struct hp_error *error =
		in_file ? evidence_open_section(&summing->in, evidence_lists[list].tag) : NULL;
	size_t old = 0;
	size_t new = 0;

	for (size_t i = 0; i < summing->sum.stratum_count && !error; i++) {
		bool is_old = is_of(&summing->old, old, &summing->sum.strata[i]);
		bool is_new = is_of(&summing->new, new, &summing->sum.strata[i]);

		error = add_list(summing, list, in_file && is_old,
				 is_new ? &summing->more->strata[new] : NULL);
		old += is_old;
		new += is_new;
	}
	if (!error && in_file)
		error = hp_section_check_end(summing->in.section, &summing->in.reader);
	return error;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Adds everything outside of lists. */
static struct hp_error *add_heads(struct summing *summing)
{
	struct hp_window_evidence bare = *summing->more;
	struct hp_error *error;

	bare.strata = calloc(bare.stratum_count + 1, sizeof(*bare.strata));
	if (!bare.strata)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < bare.stratum_count; i++) {
		bare.strata[i] = summing->more->strata[i];
		for (size_t j = 0; j < EVIDENCE_LISTS; j++) {
			const struct evidence_list *list = &evidence_lists[j];

			*(size_t *)evidence_field(&bare.strata[i], list->count) = 0;
			memset(evidence_field(&bare.strata[i], list->numbers), 0,
			       list->number_count * sizeof(uint64_t));
		}
	}
	error = hp_window_evidence_add(&summing->sum, &bare);
	free(bare.strata);
	return error;
}

static struct hp_error *sum_up(struct summing *summing)
{
	struct hp_error *error = remember(&summing->sum, &summing->old);

	if (!error)
		error = remember(summing->more, &summing->new);
	if (!error)
		error = add_heads(summing);
	if (error)
		return error;
	number_images(&summing->old, &summing->sum);
	number_images(&summing->new, &summing->sum);
	for (size_t i = 0; i < EVIDENCE_LISTS && !error; i++)
		error = add_section(summing, i);
	summing->sections.items += hp_window_evidence_items(&summing->sum);
	return error;
}

static struct hp_error *read_head(struct summing *summing, uint8_t *bytes, size_t size)
{
	struct hp_error *error;

	if (!bytes)
		return NULL;
	error = hp_container_parse(bytes, size, &hp_evidence_kind, &summing->file);
	if (!error)
		error = evidence_decode_head(&summing->in);
	if (!error)
		error = hp_window_evidence_check(&summing->sum);
	return error;
}

struct hp_error *hp_evidence_add_encoded(uint8_t *bytes, size_t size,
					 const struct hp_window_evidence *more,
					 struct hp_writer *file, bool *has_unknown, uint64_t *items)
{
	struct summing summing = { .more = more };
	struct hp_error *error;

	summing.in = (struct evidence_decoding){ .file = &summing.file, .evidence = &summing.sum };
	error = read_head(&summing, bytes, size);
	*has_unknown = summing.file.has_unknown;
	if (!error)
		error = sum_up(&summing);
	*items = summing.sections.items;
	for (size_t i = 0; i < summing.sum.image_count && !error; i++)
		error = hp_image_check(&summing.sum.images[i]);
	if (!error && *items <= HP_EVIDENCE_MOST_ITEMS)
		error = evidence_finish(&summing.sum, &summing.sections, file);
	evidence_sections_clear(&summing.sections);
	hp_window_evidence_clear(&summing.sum);
	hp_container_clear(&summing.file);
	clear_side(&summing.old);
	clear_side(&summing.new);
	return error;
}
