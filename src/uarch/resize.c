/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/uarch/resize.h>

#include <hpcprof/base/number.h>

#include <stdio.h>
#include <string.h>

/* The fields of a code: a part (from 1), and a size as a mantissa that is shifted. */
enum { MANTISSA_BITS = 11, SHIFT_BITS = 6, PART_BITS = 4 };
enum { RESIZE_BITS = MANTISSA_BITS + SHIFT_BITS + PART_BITS };
_Static_assert(HP_MOST_RESIZES *RESIZE_BITS < 64 && HP_PART_COUNT < 1 << PART_BITS, "they fit");

static const struct part {
	const char *name;
	bool is_bytes;
	size_t sets; /* offset of its sets in the geometry; 0 for others */
} parts[HP_PART_COUNT] = {
	[HP_PART_L1I] = { "l1i", true, offsetof(struct hp_uarch_geometry, l1i) },
	[HP_PART_L1D] = { "l1d", true, offsetof(struct hp_uarch_geometry, l1d) },
	[HP_PART_L2] = { "l2", true, offsetof(struct hp_uarch_geometry, l2) },
	[HP_PART_ITLB] = { "itlb", false, offsetof(struct hp_uarch_geometry, itlb) },
	[HP_PART_DTLB] = { "dtlb", false, offsetof(struct hp_uarch_geometry, tlb2) },
	[HP_PART_ROB] = { "rob", false, 0 },
	[HP_PART_STORES] = { "stores", false, 0 },
};

/* HP_PART_COUNT: no such part. */
static enum hp_part part_named(const char *name, size_t length)
{
	unsigned part = 0;

	while (part < HP_PART_COUNT &&
	       (strncmp(parts[part].name, name, length) != 0 || parts[part].name[length]))
		part++;
	return (enum hp_part)part;
}

static unsigned shift_of(uint64_t size)
{
	unsigned shift = 0;

	while (size >> shift >> MANTISSA_BITS)
		shift++;
	return shift;
}

bool hp_resizes_add(struct hp_resizes *resizes, enum hp_part part, uint64_t size)
{
	unsigned shift = shift_of(size);
	size_t at = resizes->count;

	if (resizes->count == HP_MOST_RESIZES || !size)
		return false;
	for (; at > 0 && resizes->at[at - 1].part >= part; at--)
		if (resizes->at[at - 1].part == part)
			return false;
	memmove(&resizes->at[at + 1], &resizes->at[at],
		(resizes->count - at) * sizeof(resizes->at[0]));
	resizes->at[at] = (struct hp_resize){ (uint8_t)part, size >> shift << shift };
	resizes->count++;
	return true;
}

static bool take_one(const char *text, size_t length, struct hp_resizes *resizes)
{
	char one[32];
	const char *value;
	enum hp_part part;
	uint64_t size;

	if (length >= sizeof(one))
		return false;
	snprintf(one, sizeof(one), "%.*s", (int)length, text);
	value = strchr(one, ':');
	part = value ? part_named(one, (size_t)(value - one)) : HP_PART_COUNT;
	return part != HP_PART_COUNT &&
	       (parts[part].is_bytes ? hp_parse_bytes : hp_parse_u64)(value + 1, &size) &&
	       hp_resizes_add(resizes, part, size);
}

bool hp_resizes_parse(const char *text, struct hp_resizes *resizes)
{
	*resizes = (struct hp_resizes){ 0 };
	for (;;) {
		size_t length = strcspn(text, ",");

		if (!take_one(text, length, resizes))
			return false;
		if (!text[length])
			return true;
		text += length + 1;
	}
}

/* --- what they are of ------------------------------------------------------------------------- */

static struct hp_uarch_sets *sets_of(enum hp_part part, struct hp_uarch_geometry *geometry)
{
	return (void *)((char *)geometry + parts[part].sets);
}

uint64_t hp_part_size(enum hp_part part, const struct hp_uarch_geometry *geometry,
		      const struct hp_core *core)
{
	struct hp_uarch_geometry copy = *geometry;
	const struct hp_uarch_sets *sets = sets_of(part, &copy);

	if (part == HP_PART_ROB)
		return core->reorder_slots;
	if (part == HP_PART_STORES)
		return geometry->store_entries;
	return (uint64_t)sets->sets * sets->ways * (parts[part].is_bytes ? copy.line_bytes : 1);
}

static bool apply(const struct hp_resize *resize, struct hp_uarch_geometry *geometry,
		  struct hp_core *core)
{
	struct hp_uarch_sets *sets = sets_of(resize->part, geometry);
	uint64_t of_set;

	if (resize->size > UINT32_MAX)
		return false;
	if (resize->part == HP_PART_ROB) {
		/* limited to what struct hp_core can hold */
		core->reorder_slots = (__typeof__(core->reorder_slots))resize->size;
		geometry->reorder_slots = (uint32_t)resize->size;
		return core->reorder_slots == resize->size;
	}
	if (resize->part == HP_PART_STORES) {
		geometry->store_entries = (uint32_t)resize->size;
		return true;
	}
	of_set = (uint64_t)sets->ways * (parts[resize->part].is_bytes ? geometry->line_bytes : 1);
	if (!of_set || resize->size < of_set)
		return false;
	sets->sets = (uint32_t)(resize->size / of_set);
	return true;
}

bool hp_resizes_apply(const struct hp_resizes *resizes, struct hp_uarch_geometry *geometry,
		      struct hp_core *core)
{
	struct hp_uarch_geometry other = *geometry;
	struct hp_core other_core = *core;

	for (size_t i = 0; i < resizes->count; i++)
		if (!apply(&resizes->at[i], &other, &other_core))
			return false;
	if (!hp_uarch_geometry_is_valid(&other))
		return false;
	*geometry = other;
	*core = other_core;
	return true;
}

/* --- as a number ------------------------------------------------------------------------------ */

uint64_t hp_resizes_code(const struct hp_resizes *resizes)
{
	uint64_t code = 0;

	for (size_t i = resizes->count; i-- > 0;) {
		unsigned shift = shift_of(resizes->at[i].size);
		uint64_t one = resizes->at[i].size >> shift;

		one = (one << SHIFT_BITS | shift) << PART_BITS | (resizes->at[i].part + 1U);
		code = code << RESIZE_BITS | one;
	}
	return code;
}
