/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "named.h"

#include <hpcprof/base/cleanup.h>

#include <stdlib.h>
#include <string.h>

/* The data of a node for the new tree. */
struct carried {
	uint64_t offset;
	uint32_t image;	 /* its image in the new tree */
	uint32_t number; /* the node's number there */
	bool is_live;	 /* it or a node below it has samples */
};

struct naming {
	const struct hp_paths *tree;
	const struct raw_images *raw;
	struct attributor *attributor;
	struct hp_paths *sum;
	struct carried *carried; /* by node */
};

static const struct raw_image *raw_image_of(const struct naming *naming, size_t node)
{
	const struct hp_path_node *from = &naming->tree->nodes.at[node];

	if (hp_path_is_root(from) || from->image == HP_PATH_NO_IMAGE)
		return NULL;
	return raw_images_find(naming->raw, from->image);
}

/* Marks nodes with samples. Parents have smaller numbers. */
static void find_live(const struct naming *naming)
{
	for (size_t i = naming->tree->nodes.count; i-- > 0;) {
		const struct hp_path_node *node = &naming->tree->nodes.at[i];

		naming->carried[i].is_live |= node->samples || node->folded;
		if (naming->carried[i].is_live && !hp_path_is_root(node))
			naming->carried[node->parent].is_live = true;
	}
}

/* --- addresses ------------------------------------------------------------------------------- */

/* Sorts nodes by process, as one map of generated code is loaded at a time. */
static int compare_raw(const void *left, const void *right, void *context)
{
	const struct naming *naming = context;
	const struct hp_path_node *a = &naming->tree->nodes.at[*(const uint32_t *)left];
	const struct hp_path_node *b = &naming->tree->nodes.at[*(const uint32_t *)right];

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Finds the image (a reference) and offset of an address; NULL when memory is short. */
static struct image *resolve(const struct naming *naming, const struct raw_image *raw,
			     uint64_t address, uint64_t *offset)
{
	struct attributor *attributor = naming->attributor;
	const char *command = attributor->processes->commands.text[raw->command];
	struct image *image = NULL;

	*offset = address;
	if (!raw->pid)
		return kernel_resolve(&attributor->kernel, address, &image, offset) ? image : NULL;
	if (jit_resolve(&attributor->jit, raw->pid, command, address, &image, offset))
		return image;
	*offset = address;
	return jit_anonymous(&attributor->jit, command);
}

static struct hp_error *name_node(const struct naming *naming, uint32_t number)
{
	const struct hp_path_node *node = &naming->tree->nodes.at[number];
	const struct raw_image *raw = raw_image_of(naming, number);
	/* A return address belongs to the call before it. */
	uint64_t back = node->flags & HP_PATH_EXACT ? 0 : 1;
	struct carried *carried = &naming->carried[number];
	struct hp_error *error;
	struct image *image;

	if (!raw)
		return NULL;
	image = resolve(naming, raw, node->offset - back, &carried->offset);
	if (!image)
		return hp_error_create_no_memory();
	carried->offset += back;
	error = hp_paths_image(naming->sum, &image->id, &carried->image);
	image_release(image);
	return error;
}

static struct hp_error *name_raw(struct naming *naming)
{
	size_t nodes = naming->tree->nodes.count;
	_cleanup_free_ uint32_t *numbers = malloc((nodes + 1) * sizeof(*numbers));
	struct hp_error *error = NULL;
	size_t count = 0;

	if (!numbers)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < nodes; i++) {
		if (naming->carried[i].is_live && raw_image_of(naming, i))
			numbers[count++] = (uint32_t)i;
	}
	qsort_r(numbers, count, sizeof(*numbers), compare_raw, naming);
	for (size_t i = 0; !error && i < count; i++)
		error = name_node(naming, numbers[i]);
	jit_forget(&naming->attributor->jit);
	return error;
}

/* --- the tree -------------------------------------------------------------------------------- */

/* Converts the place of a node that is not raw: its image gets a new number. */
static struct hp_error *carry_place(const struct naming *naming, size_t number)
{
	const struct hp_path_node *node = &naming->tree->nodes.at[number];
	struct carried *carried = &naming->carried[number];

	if (hp_path_is_root(node))
		return hp_paths_series(naming->sum, &naming->tree->series.at[node->image],
				       &carried->image);
	if (node->image != HP_PATH_NO_IMAGE && raw_image_of(naming, number))
		return NULL;
	carried->offset = node->offset;
	carried->image = HP_PATH_NO_IMAGE;
	return node->image == HP_PATH_NO_IMAGE
		       ? NULL
		       : hp_paths_image(naming->sum, &naming->tree->images.at[node->image],
					&carried->image);
}

static struct hp_error *carry(const struct naming *naming, size_t number)
{
	const struct hp_path_node *node = &naming->tree->nodes.at[number];
	struct carried *carried = &naming->carried[number];
	struct hp_error *error = carry_place(naming, number);
	const struct hp_path_frame frame = { carried->offset, carried->image, node->flags };

	if (error)
		return error;
	return hp_paths_node(naming->sum,
			     hp_path_is_root(node) ? HP_PATH_NO_NODE
						   : naming->carried[node->parent].number,
			     &frame, node->samples, node->folded, &carried->number);
}

struct hp_error *paths_name(const struct hp_paths *tree, const struct raw_images *raw,
			    struct attributor *attributor, struct hp_paths *sum)
{
	_cleanup_free_ struct carried *carried = calloc(tree->nodes.count + 1, sizeof(*carried));
	struct naming naming = { tree, raw, attributor, sum, carried };
	struct hp_error *error;

	if (!carried)
		return hp_error_create_no_memory();
	sum->clock++;
	find_live(&naming);
	error = name_raw(&naming);
	for (size_t i = 0; !error && i < tree->nodes.count; i++) {
		if (carried[i].is_live)
			error = carry(&naming, i);
	}
	return error;
}
