/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	procedures by address
 * provides	owners of nameless procedures that are parts of other procedures
 *
 * In a stripped file, code that the compiler moved out of a procedure (its cold part) has unwind
 * data of its own, and so looks like a procedure. A cold part jumps back into the middle of its
 * owner, which jumps to its beginning. If it jumps back into several procedures, none is its
 * owner. Cold parts that never jump back end the program or throw an exception; they have hardly
 * any samples, and are not looked for.
 *
 * Compilers align procedures, but not cold parts. So only code that begins unaligned is decoded,
 * and then the procedure that it jumps back into: decoding all code would delay reports.
 */
#include "image.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <stdlib.h>

enum { ALIGNMENT = 16 };

/* Calls `see` for each direct jump of one part of a procedure until it returns false. */
static void walk_jumps(const struct hp_cfg_image *shared, const struct hp_procedure *part,
		       bool (*see)(uint64_t target, void *context), void *context)
{
	struct hp_flow flow;
	const uint8_t *bytes;
	size_t size = hp_image_text(shared->image, part->address, part->size, &bytes);

	for (size_t at = 0; at < size; at += flow.length) {
		if (!shared->isa->flow(bytes + at, size - at, part->address.value + at, &flow))
			return;
		if ((flow.kind == HP_INSN_JUMP || flow.kind == HP_INSN_CONDITIONAL) &&
		    !see(flow.target, context))
			return;
	}
}

/* --- where it jumps back to ------------------------------------------------------------------- */

struct way_back {
	struct hp_cfg_image *shared;
	const struct hp_procedure *part;
	const struct hp_procedure *to; /* the procedure into whose middle it jumps */
	bool is_unclear;	       /* there are several */
};

static bool see_way_back(uint64_t target, void *context)
{
	struct way_back *way = context;
	size_t index;
	const struct hp_procedure *to = image_part_at(way->shared, target, &index);

	if (!to || to->owner == way->part->owner || target == to->address.value)
		return true;
	way->is_unclear = way->to && way->to->owner != to->owner;
	way->to = to;
	return !way->is_unclear;
}

static const struct hp_procedure *find_way_back(struct hp_cfg_image *shared,
						const struct hp_procedure *part)
{
	struct way_back way = { .shared = shared, .part = part };

	walk_jumps(shared, part, see_way_back, &way);
	return way.is_unclear ? NULL : way.to;
}

/* --- and whether it is jumped to from there --------------------------------------------------- */

struct way_in {
	uint64_t wanted;
	bool is_found;
};

static bool see_way_in(uint64_t target, void *context)
{
	struct way_in *way = context;

	way->is_found = target == way->wanted;
	return !way->is_found;
}

static bool leads_to(const struct hp_cfg_image *shared, const struct hp_procedure *from,
		     const struct hp_procedure *part)
{
	struct way_in way = { .wanted = part->address.value };

	walk_jumps(shared, from, see_way_in, &way);
	return way.is_found;
}

static bool may_be_cold(const struct hp_procedure *procedure)
{
	return procedure->source == HP_PROCEDURE_EH_FRAME && procedure->owner == procedure &&
	       procedure->size <= LARGEST_COLD_BYTES && procedure->address.value % ALIGNMENT != 0;
}

/* NULL for a procedure that is not a part. A part of a part has the owner of that part. A circle,
 * as in forged code, has no owner. */
static const struct hp_procedure *find_owner(struct hp_cfg_image *shared,
					     const struct hp_procedure *part)
{
	const struct hp_procedure *owner = NULL;

	for (unsigned step = 0; step < LONGEST_COLD_CHAIN; step++) {
		const struct hp_procedure *back = may_be_cold(part) ? find_way_back(shared, part)
								    : NULL;

		if (!back || !leads_to(shared, back, part))
			return owner;
		owner = back->owner;
		part = owner;
	}
	return NULL;
}

static struct hp_error *join(struct hp_image *image, struct hp_cfg_image *shared,
			     const hp_link_address *addresses, size_t count)
{
	_cleanup_free_ struct hp_joint *joints = calloc(count + 1, sizeof(*joints));
	const struct hp_procedure *before = NULL;
	size_t found = 0;

	if (!joints)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct hp_procedure *part = hp_image_procedure_at(image, addresses[i]);

		if (part == before || !may_be_cold(part))
			continue;
		before = part;
		joints[found] = (struct hp_joint){ part, find_owner(shared, part) };
		found += joints[found].owner != NULL;
	}
	hp_image_join(image, joints, found);
	return NULL;
}

struct hp_error *hp_cfg_join_cold_parts(struct hp_image *image, const hp_link_address *addresses,
					size_t count)
{
	_cleanup_(hp_cfg_image_destroy_scope) struct hp_cfg_image *shared = NULL;
	struct hp_error *error;
	bool any = false;

	for (size_t i = 0; i < count && !any; i++)
		any = may_be_cold(hp_image_procedure_at(image, addresses[i]));
	if (!any || !hp_isa_of(hp_image_machine(image)))
		return NULL;
	error = hp_cfg_image_create(image, &shared);
	return error ? error : join(image, shared, addresses, count);
}
