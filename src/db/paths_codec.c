/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes and decodes call paths: images, series, and the nodes of all trees in preorder. A node
 * consists of the number of levels from the previous node up to its parent, and its place, as a
 * distance from the latest node in the same image.
 */
#include "codec.h"

#include <hpcprof/base/cleanup.h>

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define IMAGES_TAG "imgs"
#define SERIES_TAG "sers"
#define NODES_TAG  "node"

static const char *const tags[] = { IMAGES_TAG, SERIES_TAG, NODES_TAG, NULL };
const struct hp_container_kind hp_paths_kind = {
	.letter = 'T',
	.noun = "call paths",
	.tags = tags,
	.most_times = 64,
};

enum { HAS_SAMPLES = 1 << 6, HAS_FOLDED = 1 << 7 };
static_assert((int)HP_PATH_ALL_FLAGS < (int)HAS_SAMPLES,
	      "flags and the bits beside them share a byte");

enum {
	LEAST_SERIES_BYTES = 7,
	LEAST_NODE_BYTES = 4,
	/* a root, the frames below it, and one for folded frames */
	MOST_LEVELS = HP_PATH_MOST_FRAMES + 2,
};

/* --- writing ---------------------------------------------------------------------------------- */

static void encode_series(const struct hp_path_series *series, struct hp_writer *writer)
{
	hp_write_string(writer, series->event);
	hp_write_string(writer, series->command);
	hp_write_varint(writer, series->pid);
	hp_write_varint(writer, series->tid);
	hp_write_string(writer, series->thread ? series->thread : "");
	hp_write_varint(writer, series->cpu);
	hp_write_varint(writer, series->period);
}

/* By the image's number in canonical order. */
static void encode_place(const struct hp_path_node *node, const struct hp_paths_order *order,
			 uint64_t *offsets, struct hp_writer *writer)
{
	hp_write_varint(writer, node->image == HP_PATH_NO_IMAGE
					? 0
					: order->images[node->image] + UINT64_C(1));
	if (node->image == HP_PATH_NO_IMAGE)
		return;
	hp_write_varint(writer, hp_to_zigzag(node->offset - offsets[node->image]));
	offsets[node->image] = node->offset;
}

static void encode_nodes(const struct hp_paths *paths, const struct hp_paths_order *order,
			 uint32_t *levels, uint64_t *offsets, struct hp_writer *writer)
{
	uint32_t level = 0;

	hp_write_varint(writer, order->count);
	for (size_t i = 0; i < order->count; i++) {
		const struct hp_path_node *node = &paths->nodes.at[order->nodes[i]];
		bool is_root = hp_path_is_root(node);
		uint32_t above = is_root ? 0 : levels[node->parent];

		/* 0: the parent is the previous node; otherwise the number of levels up. */
		hp_write_varint(writer, is_root ? level + !!i : level - above);
		level = is_root ? 0 : above + 1;
		levels[order->nodes[i]] = level;
		hp_write_u8(writer, (uint8_t)(node->flags | (node->samples ? HAS_SAMPLES : 0) |
					      (node->folded ? HAS_FOLDED : 0)));
		if (!is_root)
			encode_place(node, order, offsets, writer);
		if (node->samples)
			hp_write_varint(writer, node->samples);
		if (node->folded)
			hp_write_varint(writer, node->folded);
	}
}

static void encode_heads(const struct hp_paths *paths, const struct hp_paths_order *order,
			 struct hp_writer *images, struct hp_writer *series)
{
	hp_write_varint(images, order->image_count);
	for (size_t i = 0; i < paths->images.count; i++)
		if (order->images[paths->image_order.at[i]] != HP_PATH_NO_IMAGE)
			hp_image_encode(&paths->images.at[paths->image_order.at[i]], 0, images);
	hp_write_varint(series, order->series_count);
	for (size_t i = 0; i < paths->series.count; i++)
		if (order->series[paths->series_order.at[i]] != HP_PATH_NO_IMAGE)
			encode_series(&paths->series.at[paths->series_order.at[i]], series);
}

static struct hp_error *encode_in_order(const struct hp_paths *paths,
					const struct hp_paths_order *order, struct hp_writer *file)
{
	struct hp_container_builder builder = { .kind = &hp_paths_kind };
	_cleanup_free_ uint32_t *levels = calloc(paths->nodes.count + 1, sizeof(*levels));
	_cleanup_free_ uint64_t *offsets = calloc(paths->images.count + 1, sizeof(*offsets));
	struct hp_writer images = { 0 };
	struct hp_writer series = { 0 };
	struct hp_writer nodes = { 0 };

	if (!levels || !offsets)
		return hp_error_create_no_memory();
	encode_heads(paths, order, &images, &series);
	encode_nodes(paths, order, levels, offsets, &nodes);
	builder.failed = images.failed || series.failed || nodes.failed;
	hp_container_add(&builder, IMAGES_TAG, HP_SECTION_REQUIRED, images.bytes, images.size);
	hp_container_add(&builder, SERIES_TAG, HP_SECTION_REQUIRED, series.bytes, series.size);
	hp_container_add(&builder, NODES_TAG, HP_SECTION_REQUIRED, nodes.bytes, nodes.size);
	hp_writer_free(&images);
	hp_writer_free(&series);
	hp_writer_free(&nodes);
	return hp_container_finish(&builder, file);
}

struct hp_error *hp_paths_encode(const struct hp_paths *paths, struct hp_writer *file)
{
	struct hp_paths_order order = { 0 };
	struct hp_error *error = hp_paths_check(paths);

	for (size_t i = 0; i < paths->images.count && !error; i++)
		error = hp_image_check(&paths->images.at[i]);
	if (!error)
		error = hp_paths_sort(paths, &order);
	if (!error && order.count > HP_PATHS_MOST_NODES)
		error = hp_error_create(HP_ERROR_USAGE, "%zu nodes of call paths are too many",
					order.count);
	if (!error)
		error = encode_in_order(paths, &order, file);
	hp_paths_order_clear(&order);
	return error;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct decoding {
	const struct hp_container *file;
	const struct hp_section *section;
	struct hp_reader reader;
	struct hp_paths *paths;
	uint64_t *offsets; /* of each image: the last offset */
	bool *is_used;	   /* of each image */
	uint32_t *nodes;   /* the last node of each level */
	uint32_t level;	   /* level of the last node */
	/* the last node has children or samples; nodes without either are never written */
	bool last_has_children;
};

static struct hp_error *damaged(const struct decoding *in, const char *what)
{
	return hp_section_damaged(in->section, &in->reader, "%s", what);
}

static struct hp_error *begin(struct decoding *in, const char *tag, const char *what,
			      size_t least_bytes, uint64_t *count)
{
	struct hp_error *error = hp_container_section(in->file, tag, &in->section, &in->reader);

	if (error)
		return error;
	if (!hp_read_varint(&in->reader, count))
		return damaged(in, "not a number");
	if (*count > hp_reader_left(&in->reader) / least_bytes)
		return hp_section_overflows(in->section, &in->reader, *count, what,
					    hp_reader_left(&in->reader) / least_bytes);
	return NULL;
}

static struct hp_error *decode_image(struct decoding *in, uint64_t number)
{
	struct hp_paths *paths = in->paths;
	struct hp_image_id id;
	uint8_t flags = 0;
	uint32_t image = 0;
	struct hp_error *error = hp_image_decode(in->section, &in->reader, &id, &flags);

	if (error)
		return error;
	if (flags || (number && hp_image_id_compare(&paths->images.at[number - 1], &id) >= 0))
		error = damaged(in, "images out of order");
	else
		error = hp_paths_image(paths, &id, &image);
	hp_image_id_clear(&id);
	return error;
}

static struct hp_error *decode_one_series(struct decoding *in, uint64_t number)
{
	struct hp_reader *reader = &in->reader;
	_cleanup_free_ char *event = NULL;
	_cleanup_free_ char *command = NULL;
	_cleanup_free_ char *thread = NULL;
	struct hp_path_series series = { 0 };
	uint32_t at;

	if (!hp_read_string(reader, &event) || !hp_read_string(reader, &command) ||
	    !hp_read_varint_u32(reader, &series.pid) || !hp_read_varint_u32(reader, &series.tid) ||
	    !hp_read_string(reader, &thread) || !hp_read_varint_u32(reader, &series.cpu) ||
	    !hp_read_varint(reader, &series.period))
		return damaged(in, "ends inside a series");
	series.event = event;
	series.command = command;
	series.thread = thread[0] ? thread : NULL;
	if (!event[0] || !series.period)
		return damaged(in, "a series without event or period");
	if (number && hp_path_series_compare(&in->paths->series.at[number - 1], &series) >= 0)
		return damaged(in, "series out of order");
	return hp_paths_series(in->paths, &series, &at);
}

/* Whether it follows the sibling before it. Images are numbered in order. */
static bool is_in_order(const struct decoding *in, uint32_t level,
			const struct hp_path_frame *frame)
{
	const struct hp_path_node *before;

	/* The last node at this level is a sibling if there was no higher node since. */
	if (level > in->level)
		return true;
	before = &in->paths->nodes.at[in->nodes[level]];
	if (before->image != frame->image)
		return before->image < frame->image;
	if (before->offset != frame->offset)
		return before->offset < frame->offset;
	return before->flags < frame->flags;
}

static struct hp_error *read_place(struct decoding *in, struct hp_path_frame *frame)
{
	uint64_t image;
	uint64_t step;

	if (!hp_read_varint(&in->reader, &image) || image > in->paths->images.count)
		return damaged(in, "the image of a node is out of range");
	frame->image = image ? (uint32_t)image - 1 : HP_PATH_NO_IMAGE;
	if (!image)
		return NULL;
	if (!hp_read_varint(&in->reader, &step))
		return damaged(in, "the offset of a node is out of range");
	frame->offset = in->offsets[image - 1] + hp_from_zigzag(step);
	in->offsets[image - 1] = frame->offset;
	in->is_used[image - 1] = true;
	return NULL;
}

/* The next root belongs to the next series. */
static struct hp_error *read_frame(struct decoding *in, uint32_t *level, uint8_t *bits,
				   struct hp_path_frame *frame)
{
	bool is_first = in->paths->nodes.count == 0;
	uint64_t up;
	struct hp_error *error = NULL;

	if (!hp_read_varint(&in->reader, &up) || up > (uint64_t)in->level + !is_first)
		return damaged(in, "the level of a node is out of range");
	*level = is_first ? 0 : in->level + 1 - (uint32_t)up;
	if (!is_first && up && !in->last_has_children)
		return damaged(in, "a node without samples");
	if (*level >= MOST_LEVELS)
		return damaged(in, "a path that is too long");
	if (!hp_read_u8(&in->reader, bits))
		return damaged(in, "ends inside a node");
	*frame = (struct hp_path_frame){ .flags = *bits & HP_PATH_ALL_FLAGS };
	if (*level) {
		error = read_place(in, frame);
	} else {
		frame->image = is_first ? 0 : in->paths->nodes.at[in->nodes[0]].image + 1;
		if (frame->image >= in->paths->series.count || frame->flags)
			return damaged(in, "a root without a series");
	}
	if (!error && !is_first && !is_in_order(in, *level, frame))
		error = damaged(in, "nodes out of order");
	return error;
}

static struct hp_error *decode_node(struct decoding *in)
{
	struct hp_path_frame frame;
	uint64_t samples = 0;
	uint64_t folded = 0;
	uint32_t level = 0;
	uint8_t bits = 0;
	struct hp_error *error = read_frame(in, &level, &bits, &frame);

	if (error)
		return error;
	if ((bits & HAS_SAMPLES && (!hp_read_varint(&in->reader, &samples) || !samples)) ||
	    (bits & HAS_FOLDED && (!hp_read_varint(&in->reader, &folded) || !folded)))
		return damaged(in, "the number of samples is out of range");
	error = hp_paths_node(in->paths, level ? in->nodes[level - 1] : HP_PATH_NO_NODE, &frame,
			      samples, folded, &in->nodes[level]);
	in->level = level;
	in->last_has_children = samples || folded;
	return error;
}

static struct hp_error *decode_nodes(struct decoding *in)
{
	uint64_t count;
	struct hp_error *error = begin(in, NODES_TAG, "nodes", LEAST_NODE_BYTES - 2, &count);

	if (!error && count > HP_PATHS_MOST_NODES)
		error = hp_section_damaged(in->section, &in->reader,
					   "%" PRIu64 " nodes, more than the %d that an epoch may "
					   "have",
					   count, HP_PATHS_MOST_NODES);
	for (uint64_t i = 0; i < count && !error; i++)
		error = decode_node(in);
	if (!error)
		error = hp_section_check_end(in->section, &in->reader);
	if (!error && count && !in->last_has_children)
		error = damaged(in, "a node without samples");
	return error;
}

/* Correctly encoded data may still violate the rules of the model; and there must be no unused
 * entries. */
static struct hp_error *check(const struct decoding *in)
{
	const struct hp_paths *paths = in->paths;
	struct hp_error *fault = hp_paths_check(paths);
	struct hp_error *error;
	uint32_t roots = 0;

	for (size_t i = 0; i < paths->nodes.count; i++)
		roots += hp_path_is_root(&paths->nodes.at[i]);
	if (!fault && roots != paths->series.count)
		return damaged(in, "a series without samples");
	for (size_t i = 0; i < paths->images.count && !fault; i++)
		if (!in->is_used[i])
			return damaged(in, "an image without nodes");
	if (!fault)
		return NULL;
	error = damaged(in, fault->message);
	hp_error_destroy(fault);
	return error;
}

static struct hp_error *decode(struct decoding *in)
{
	uint64_t count;
	struct hp_error *error = begin(in, IMAGES_TAG, "images", HP_IMAGE_LEAST_BYTES, &count);

	for (uint64_t i = 0; i < count && !error; i++)
		error = decode_image(in, i);
	if (!error)
		error = hp_section_check_end(in->section, &in->reader);
	if (!error)
		error = begin(in, SERIES_TAG, "series", LEAST_SERIES_BYTES, &count);
	for (uint64_t i = 0; i < count && !error; i++)
		error = decode_one_series(in, i);
	if (!error)
		error = hp_section_check_end(in->section, &in->reader);
	if (error)
		return error;
	in->offsets = calloc(in->paths->images.count + 1, sizeof(*in->offsets));
	in->is_used = calloc(in->paths->images.count + 1, sizeof(*in->is_used));
	in->nodes = calloc(MOST_LEVELS, sizeof(*in->nodes));
	if (!in->offsets || !in->is_used || !in->nodes)
		return hp_error_create_no_memory();
	error = decode_nodes(in);
	return error ? error : check(in);
}

struct hp_error *hp_paths_decode(uint8_t *bytes, size_t size, struct hp_paths *paths,
				 bool *has_unknown)
{
	struct hp_container file;
	struct decoding in = { .file = &file, .paths = paths };
	struct hp_error *error = hp_container_parse(bytes, size, &hp_paths_kind, &file);

	*paths = (struct hp_paths){ .node_limit = HP_PATHS_MOST_NODES };
	if (error)
		return error;
	if (has_unknown)
		*has_unknown = file.has_unknown;
	error = decode(&in);
	if (error)
		hp_paths_clear(paths);
	free(in.offsets);
	free(in.is_used);
	free(in.nodes);
	hp_container_clear(&file);
	return error;
}
