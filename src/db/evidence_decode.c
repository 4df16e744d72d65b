/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes files of evidence. Sections that are damaged are left out. */
#include "evidence_lists.h"

#include <inttypes.h>
#include <stdlib.h>

/* of a stratum: three numbers, the length of a string, groups, and a number of items */
enum { LEAST_STRATUM_BYTES = 4 + 4 * HP_EVIDENCE_GROUPS };

struct hp_error *evidence_damaged(const struct evidence_decoding *in, const char *what)
{
	return hp_section_damaged(in->section, &in->reader, "%s", what);
}

struct hp_error *evidence_open_section(struct evidence_decoding *in, const char *tag)
{
	return hp_container_section(in->file, tag, &in->section, &in->reader);
}

/* Allocates `count` elements that take at least `least_bytes` each in the file. If they cannot be
 * there, the file is damaged. */
static struct hp_error *make_room(struct evidence_decoding *in, uint64_t count, const char *what,
				  size_t least_bytes, size_t element_bytes, void **array)
{
	if (count > hp_reader_left(&in->reader) / least_bytes)
		return hp_section_overflows(in->section, &in->reader, count, what,
					    hp_reader_left(&in->reader) / least_bytes);
	*array = calloc((size_t)count + 1, element_bytes);
	return *array ? NULL : hp_error_create_no_memory();
}

static struct hp_error *decode_groups(struct evidence_decoding *in, struct hp_window_group *groups)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		if (!hp_read_varint(&in->reader, &groups[i].windows) ||
		    !hp_read_varint(&in->reader, &groups[i].time_ns))
			return evidence_damaged(in, "ends inside a group");
	return NULL;
}

static struct hp_error *decode_counts(struct evidence_decoding *in, uint64_t *counts)
{
	uint64_t mask;

	if (!hp_read_varint(&in->reader, &mask))
		return evidence_damaged(in, "ends inside an item");
	for (unsigned i = 0; i < HP_EVIDENCE_GROUPS; i++)
		if (mask >> i & 1 && (!hp_read_varint(&in->reader, &counts[i]) || !counts[i]))
			return evidence_damaged(in, "not a count");
	return NULL;
}

/* The encoding is unique: any other form is damage. */
static struct hp_error *decode_place(struct evidence_decoding *in, struct hp_counted *item,
				     uint8_t flags)
{
	bool is_block = item->kind == HP_COUNTED_BLOCK;
	bool is_elsewhere = flags & FLAG_OTHER_IMAGE;
	uint64_t to;

	if (is_elsewhere && (is_block || !hp_read_varint_u32(&in->reader, &item->to_image) ||
			     item->to_image == item->image))
		return evidence_damaged(in, "the image of an edge's target is out of range");
	if (is_block) {
		if (!hp_read_varint_u32(&in->reader, &item->bytes) ||
		    !hp_read_varint_u32(&in->reader, &item->instructions))
			return evidence_damaged(in, "the size of a block is out of range");
		return NULL;
	}
	if (!hp_read_varint(&in->reader, &to))
		return evidence_damaged(in, "the target of an edge is out of range");
	if (!is_elsewhere) {
		item->to_image = item->image;
		to = item->at.value + hp_from_zigzag(to);
	}
	item->to.value = to;
	return NULL;
}

struct hp_error *evidence_decode_item(struct evidence_decoding *in, const struct hp_counted *before,
				      struct hp_counted *item)
{
	struct hp_error *error;
	uint64_t step;
	uint8_t flags;

	if (!hp_read_u8(&in->reader, &flags) || !hp_read_varint_u32(&in->reader, &item->image) ||
	    !hp_read_varint(&in->reader, &step))
		return evidence_damaged(in, "ends inside an item");
	if (flags & ~(FLAG_RELATIVE | FLAG_OTHER_IMAGE | KIND_MASK))
		return evidence_damaged(in, "unknown flags of an item");
	item->kind = flags & KIND_MASK;
	item->is_relative = flags & FLAG_RELATIVE;
	item->at.value = step;
	if (before && before->is_relative == item->is_relative && before->image == item->image &&
	    __builtin_add_overflow(before->at.value, step, &item->at.value))
		return evidence_damaged(in, "offsets run past 64 bits");
	error = decode_place(in, item, flags);
	return error ? error : decode_counts(in, item->counts);
}

static struct hp_error *decode_items(struct evidence_decoding *in, struct hp_counted **items,
				     size_t *done)
{
	/* flags, image, step, two numbers and a mask */
	enum { LEAST_ITEM_BYTES = 6 };
	struct hp_error *error = NULL;
	uint64_t count;

	if (!hp_read_varint(&in->reader, &count))
		return evidence_damaged(in, "the number of items is out of range");
	/* A few bytes could claim many items, each of which takes much memory. */
	if (count > HP_EVIDENCE_MOST_ITEMS - in->items)
		return hp_section_damaged(in->section, &in->reader,
					  "%" PRIu64 " items, more than the %d that an epoch may "
					  "have",
					  count, HP_EVIDENCE_MOST_ITEMS);
	in->items += count;
	if (in->items > hp_evidence_most_items(in->file->size))
		return hp_section_damaged(in->section, &in->reader,
					  "%" PRIu64 " items, more than the %" PRIu64
					  " that a file of %zu bytes may have",
					  in->items, hp_evidence_most_items(in->file->size),
					  in->file->size);
	error = make_room(in, count, "items", LEAST_ITEM_BYTES, sizeof(**items), (void **)items);
	for (uint64_t i = 0; !error && i < count; i++)
		error = evidence_decode_item(in, i ? &(*items)[i - 1] : NULL, &(*items)[(*done)++]);
	return error;
}

struct hp_error *evidence_decode_numbers(struct evidence_decoding *in,
					 const struct evidence_list *list, uint64_t *numbers)
{
	for (size_t i = 0; i < list->number_count; i++)
		if (!hp_read_varint(&in->reader, &numbers[i]))
			return evidence_damaged(in, "ends inside a number of samples");
	return NULL;
}

static struct hp_error *decode_list_of(struct evidence_decoding *in,
				       const struct evidence_list *list,
				       struct hp_window_stratum *stratum)
{
	struct hp_error *error =
		evidence_decode_numbers(in, list, evidence_field(stratum, list->numbers));

	return error ? error
		     : decode_items(in, evidence_field(stratum, list->items),
				    evidence_field(stratum, list->count));
}

static struct hp_error *decode_list(struct evidence_decoding *in, const struct evidence_list *list)
{
	struct hp_error *error;

	if (!hp_container_has(in->file, list->tag))
		return NULL;
	error = evidence_open_section(in, list->tag);
	for (size_t i = 0; i < in->evidence->stratum_count && !error; i++)
		error = decode_list_of(in, list, &in->evidence->strata[i]);
	return error ? error : hp_section_check_end(in->section, &in->reader);
}

static struct hp_error *decode_stratum(struct evidence_decoding *in,
				       struct hp_window_stratum *stratum)
{
	struct hp_error *error;

	if (!hp_read_varint(&in->reader, &stratum->recording) ||
	    !hp_read_string(&in->reader, &stratum->command) ||
	    !hp_read_varint(&in->reader, &stratum->time_ns))
		return evidence_damaged(in, "ends inside a recording");
	error = decode_groups(in, stratum->groups);
	if (!error)
		error = decode_groups(in, stratum->relative);
	return error ? error : decode_items(in, &stratum->items, &stratum->item_count);
}

static struct hp_error *decode_reasons(struct evidence_decoding *in)
{
	struct hp_window_evidence *evidence = in->evidence;
	struct hp_error *error;
	uint64_t count;

	if (!hp_read_varint(&in->reader, &count))
		return evidence_damaged(in, "the number of reasons is out of range");
	error = make_room(in, count, "reasons", 3, sizeof(*evidence->reasons),
			  (void **)&evidence->reasons);
	for (uint64_t i = 0; !error && i < count; i++) {
		struct hp_window_reason *reason = &evidence->reasons[i];
		uint8_t is_refusal;

		evidence->reason_count++;
		if (!hp_read_u8(&in->reader, &is_refusal) || is_refusal > 1 ||
		    !hp_read_string(&in->reader, &reason->what) ||
		    !hp_read_varint(&in->reader, &reason->count))
			return evidence_damaged(in, "ends inside a reason");
		reason->is_refusal = is_refusal;
	}
	return error;
}

static struct hp_error *decode_windows(struct evidence_decoding *in)
{
	struct hp_window_evidence *evidence = in->evidence;
	struct hp_reader *reader = &in->reader;
	struct hp_error *error = evidence_open_section(in, "wind");
	uint64_t count;

	if (error)
		return error;
	if (!hp_read_varint(reader, &evidence->price.shadows) ||
	    !hp_read_varint(reader, &evidence->price.lost_ns) ||
	    !hp_read_varint(reader, &evidence->price.target_ns) ||
	    !hp_read_varint(reader, &evidence->price.replay_ns) ||
	    !hp_read_varint_u32(reader, &evidence->price.budget_ppm) ||
	    !hp_read_varint(reader, &evidence->samples) ||
	    !hp_read_varint(reader, &evidence->matched) ||
	    !hp_read_varint(reader, &evidence->dropped))
		return evidence_damaged(in, "ends inside the figures");
	error = decode_reasons(in);
	if (!error && !hp_read_varint(reader, &count))
		error = evidence_damaged(in, "the number of recordings is out of range");
	if (!error)
		error = make_room(in, count, "recordings", LEAST_STRATUM_BYTES,
				  sizeof(*evidence->strata), (void **)&evidence->strata);
	for (uint64_t i = 0; !error && i < count; i++)
		error = decode_stratum(in, &evidence->strata[evidence->stratum_count++]);
	return error ? error : hp_section_check_end(in->section, reader);
}

/* Makes empty strata, at most `most`, because they take far more memory than bytes. */
static struct hp_error *decode_commands(struct evidence_decoding *in, size_t most)
{
	struct hp_window_evidence *evidence = in->evidence;
	struct hp_error *error = evidence_open_section(in, "cmds");
	uint64_t count;

	if (error)
		return error;
	if (!hp_read_varint(&in->reader, &count))
		return evidence_damaged(in, "the number of recordings is out of range");
	if (count > most)
		return hp_section_damaged(in->section, &in->reader,
					  "%" PRIu64 " recordings, more than the %zu that windows "
					  "may be of",
					  count, most);
	error = make_room(in, count, "recordings", 2, sizeof(*evidence->strata),
			  (void **)&evidence->strata);
	for (uint64_t i = 0; !error && i < count; i++) {
		struct hp_window_stratum *stratum = &evidence->strata[evidence->stratum_count++];

		if (!hp_read_varint(&in->reader, &stratum->recording) ||
		    !hp_read_string(&in->reader, &stratum->command))
			error = evidence_damaged(in, "ends inside a recording");
	}
	return error ? error : hp_section_check_end(in->section, &in->reader);
}

static struct hp_error *decode_beside(struct evidence_decoding *in)
{
	struct hp_error *error;

	if (!hp_container_has(in->file, "besd"))
		return NULL;
	error = evidence_open_section(in, "besd");
	if (!error && (!hp_read_varint(&in->reader, &in->evidence->price.beside_ns) ||
		       (hp_reader_left(&in->reader) &&
			!hp_read_varint(&in->reader, &in->evidence->price.aside_ns))))
		error = evidence_damaged(in, "not a time");
	return error ? error : hp_section_check_end(in->section, &in->reader);
}

static struct hp_error *decode_images(struct evidence_decoding *in)
{
	struct hp_window_evidence *evidence = in->evidence;
	struct hp_error *error = evidence_open_section(in, "imgs");
	uint64_t count;

	if (error)
		return error;
	if (!hp_read_varint(&in->reader, &count))
		return evidence_damaged(in, "the number of images is out of range");
	error = make_room(in, count, "images", HP_IMAGE_LEAST_BYTES, sizeof(*evidence->images),
			  (void **)&evidence->images);
	for (uint64_t i = 0; !error && i < count; i++) {
		uint8_t flags = 0;

		error = hp_image_decode(in->section, &in->reader, &evidence->images[i], &flags);
		if (error)
			break;
		evidence->image_count++;
		if (flags)
			error = evidence_damaged(in, "flags in an image of windows");
	}
	return error ? error : hp_section_check_end(in->section, &in->reader);
}

/* --- damage -------------------------------------------------------------------------------------
 *
 * Each section is lost alone, but for the images, which all others need. Who may lose none of them
 * takes `lost` for an error.
 */

static bool is_damage(const struct hp_error *error)
{
	return error && error->class == HP_ERROR_DAMAGED;
}

/* Takes over the error. */
static void lose(struct evidence_decoding *in, struct hp_error *error, const char *what)
{
	struct hp_error *before = in->lost;

	in->lost = hp_error_create(HP_ERROR_DAMAGED, "%s%s%s (%s)", before ? before->message : "",
				   before ? "; " : "", error->message, what);
	hp_error_destroy(before);
	hp_error_destroy(error);
}

static void clear_list(struct evidence_decoding *in, const struct evidence_list *list)
{
	for (size_t i = 0; i < in->evidence->stratum_count; i++) {
		struct hp_window_stratum *stratum = &in->evidence->strata[i];
		uint64_t *numbers = evidence_field(stratum, list->numbers);
		struct hp_counted **items = evidence_field(stratum, list->items);
		size_t *count = evidence_field(stratum, list->count);

		free(*items);
		*items = NULL;
		*count = 0;
		for (size_t j = 0; j < list->number_count; j++)
			numbers[j] = 0;
	}
}

/* Clears everything except the images. */
static void clear_windows(struct evidence_decoding *in)
{
	struct hp_window_evidence images = {
		.images = hp_steal(in->evidence->images),
		.image_count = in->evidence->image_count,
	};

	in->evidence->image_count = 0;
	hp_window_evidence_clear(in->evidence);
	*in->evidence = images;
	in->items = 0;
}

/* If the windows are damaged, the commands beside them still tell whose lists follow. */
static struct hp_error *take_windows(struct evidence_decoding *in)
{
	struct hp_error *error = decode_windows(in);
	bool has_commands = hp_container_has(in->file, "cmds");
	size_t most = in->section ? in->section->raw_size / LEAST_STRATUM_BYTES : 0;

	if (is_damage(error) && has_commands) {
		lose(in, error, "what shadow windows counted");
		clear_windows(in);
		return decode_commands(in, most);
	}
	if (!error && has_commands) {
		error = evidence_open_section(in, "cmds");
		if (is_damage(error)) {
			lose(in, error, "the list of commands");
			error = NULL;
		}
	}
	return error;
}

static struct hp_error *take_list(struct evidence_decoding *in, const struct evidence_list *list)
{
	struct hp_error *error = decode_list(in, list);

	if (!is_damage(error))
		return error;
	lose(in, error, list->what);
	clear_list(in, list);
	return NULL;
}

/* Correctly encoded data may still violate the rules of the model. */
static struct hp_error *check(const struct evidence_decoding *in)
{
	struct hp_error *fault = hp_window_evidence_check(in->evidence);
	struct hp_error *error;

	if (!fault)
		return NULL;
	error = evidence_damaged(in, fault->message);
	hp_error_destroy(fault);
	return error;
}

static struct hp_error *take_beside(struct evidence_decoding *in)
{
	struct hp_error *error = decode_beside(in);

	if (!is_damage(error))
		return error;
	lose(in, error, "the time beside other windows");
	in->evidence->price.beside_ns = 0;
	in->evidence->price.aside_ns = 0;
	return NULL;
}

struct hp_error *evidence_decode_head(struct evidence_decoding *in)
{
	struct hp_error *error = decode_images(in);

	if (!error)
		error = decode_windows(in);
	if (!error && hp_container_has(in->file, "cmds"))
		error = evidence_open_section(in, "cmds");
	return error ? error : decode_beside(in);
}

static struct hp_error *decode(struct evidence_decoding *in)
{
	struct hp_error *error = decode_images(in);

	if (!error)
		error = take_windows(in);
	for (size_t i = 0; i < EVIDENCE_LISTS && !error; i++)
		error = take_list(in, &evidence_lists[i]);
	if (!error)
		error = take_beside(in);
	return error ? error : check(in);
}

struct hp_error *hp_evidence_decode(uint8_t *bytes, size_t size,
				    struct hp_window_evidence *evidence, bool *has_unknown,
				    struct hp_error **lost)
{
	struct hp_container file;
	struct evidence_decoding in = { .file = &file, .evidence = evidence };
	struct hp_error *error = hp_container_parse(bytes, size, &hp_evidence_kind, &file);

	*evidence = (struct hp_window_evidence){ 0 };
	if (error)
		return error;
	if (has_unknown)
		*has_unknown = file.has_unknown;
	error = decode(&in);
	if (!error && !lost)
		error = hp_steal(in.lost);
	if (error)
		hp_window_evidence_clear(evidence);
	else if (lost)
		*lost = hp_steal(in.lost);
	hp_error_destroy(in.lost);
	hp_container_clear(&file);
	return error;
}

struct hp_error *hp_evidence_decode_windows(uint8_t *bytes, size_t size,
					    struct hp_window_evidence *evidence)
{
	struct hp_container file;
	struct evidence_decoding in = { .file = &file, .evidence = evidence };
	struct hp_error *error = hp_container_parse(bytes, size, &hp_evidence_kind, &file);

	*evidence = (struct hp_window_evidence){ 0 };
	if (error)
		return error;
	error = evidence_decode_head(&in);
	for (size_t i = 0; i < EVIDENCE_LISTS && !error; i++)
		if (evidence_lists[i].is_of_windows)
			error = decode_list(&in, &evidence_lists[i]);
	if (!error)
		error = check(&in);
	if (error)
		hp_window_evidence_clear(evidence);
	hp_container_clear(&file);
	return error;
}
