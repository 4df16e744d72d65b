/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects what to keep of an image's file, so that it can be analysed without the file.
 *
 * requires	procedures by address, the addresses that have samples
 * provides	an excerpt: what is read of the file to make graphs, names and lines of
 *		these procedures
 *
 * The code of these procedures is followed as for a graph, and everything that is read is kept. For
 * procedures that they only refer to, the excerpt has the name, the extent, and whether they
 * return.
 */
#include "code.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>
#include <hpcprof/isa/text.h>

#include <stdlib.h>
#include <string.h>

/* Why a part is wanted. Whether it returns is asked only where kept code leads to it: to find out, its
 * code and that of all it calls is decoded. */
enum { WANTED_NAME = 1, WANTED_TARGET = 2, WANTED_CODE = 4 };

struct heat {
	const struct hp_procedure *owner;
	double weight;
};

/* An instruction, or only an address. */
struct spot {
	uint64_t address;
	uint64_t bytes;
};

struct making {
	struct hp_cfg_image *shared; /* NULL: no code is kept, or its machine is unknown */
	struct hp_image *image;
	const struct hp_excerpt_options *options;
	const struct hp_procedure *const *procedures;
	size_t count;
	uint8_t *wanted; /* by procedure */
	size_t name_bytes;
	uint64_t code_bytes;
	HP_VECTOR(struct hp_excerpt_text) ranges; /* to be copied */
	HP_VECTOR(struct spot) spots;		  /* to be looked up */
	struct hp_excerpt *excerpt;
	bool is_short_of_memory;
};

static bool check(struct making *making, bool fine)
{
	making->is_short_of_memory = making->is_short_of_memory || !fine;
	return fine;
}

static size_t index_of(const struct making *making, uint64_t address)
{
	size_t after = hp_bisect(i, making->count, making->procedures[i]->address.value <= address);

	if (!after || address - making->procedures[after - 1]->address.value >=
			      making->procedures[after - 1]->size)
		return SIZE_MAX;
	return after - 1;
}

/* --- parts --------------------------------------------------------------------------------- */

static uint8_t source_of(const struct hp_procedure *part)
{
	switch (part->source) {
	case HP_PROCEDURE_SYMBOL:
		return HP_EXCERPT_SYMBOL;
	case HP_PROCEDURE_PLT:
		return HP_EXCERPT_PLT;
	case HP_PROCEDURE_EH_FRAME:
	case HP_PROCEDURE_CODE:
	case HP_PROCEDURE_GAP:
		break;
	}
	return HP_EXCERPT_EH_FRAME;
}

static bool comes_back(const struct making *making, const struct hp_procedure *part)
{
	return !making->shared || hp_cfg_returns(making->shared, part->address);
}

static void push_part(struct making *making, const struct hp_procedure *from, unsigned what)
{
	struct hp_excerpt_part part = {
		.address = from->address.value,
		.size = from->size,
		.owner = from->owner->address.value,
		.source = source_of(from),
		.never_returns = what != WANTED_NAME && !comes_back(making, from),
		.has_namesake = hp_image_has_namesake(making->image, from),
	};

	if (from->owner == from && part.source != HP_EXCERPT_EH_FRAME) {
		size_t length = strnlen(from->linkage, HP_EXCERPT_MOST_WORD_BYTES);

		making->name_bytes += length;
		part.linkage = strndup(from->linkage, length);
	}
	if (!check(making,
		   (part.linkage || from->owner != from || part.source == HP_EXCERPT_EH_FRAME) &&
			   hp_vector_push(&making->excerpt->parts, part)))
		free(part.linkage);
}

static void want(struct making *making, size_t index, unsigned what)
{
	const struct hp_procedure *part;
	bool is_new;

	if (index == SIZE_MAX)
		return;
	is_new = !making->wanted[index];
	part = making->procedures[index];
	making->wanted[index] |= (uint8_t)what;
	if (!is_new)
		return;
	push_part(making, part, what);
	if (part->owner != part)
		want(making, index_of(making, part->owner->address.value),
		     what == WANTED_NAME ? WANTED_NAME : WANTED_TARGET);
}

static void want_target(struct making *making, uint64_t address)
{
	want(making, index_of(making, address), WANTED_TARGET);
}

/* Keeps the procedure that a call through the linker's tables most likely reaches. */
static void want_namesake(struct making *making, const char *name, size_t length)
{
	const struct hp_procedure *own = image_named(making->shared, name, length);

	if (own)
		want_target(making, own->address.value);
}

/* --- code ---------------------------------------------------------------------------------- */

static void want_bytes(struct making *making, uint64_t address, uint64_t end)
{
	if (end > address)
		check(making,
		      hp_vector_push(&making->ranges, (struct hp_excerpt_text){ address, end }));
}

static void keep_import(struct making *making, uint64_t where)
{
	const char *name = hp_image_import(making->image, where);
	struct hp_excerpt_import import = { .where = where };

	if (!name)
		return;
	want_namesake(making, name, strlen(name));
	import.name = strdup(name);
	making->name_bytes += strlen(name);
	if (!check(making, import.name && hp_vector_push(&making->excerpt->imports, import)))
		free(import.name);
}

static void keep_target(struct making *making, uint64_t target)
{
	size_t index = index_of(making, target);

	want(making, index, WANTED_TARGET);
	if (index != SIZE_MAX && making->procedures[index]->source == HP_PROCEDURE_PLT)
		want_namesake(making, making->procedures[index]->linkage,
			      name_length(making->procedures[index]));
}

static void want_line(struct making *making, uint64_t address, uint64_t length)
{
	check(making, hp_vector_push(&making->spots, (struct spot){ address, length }));
}

/* Walks through all instructions of a part linearly, as views list them. */
static void walk_part(struct making *making, const struct code_part *part)
{
	uint16_t machine = making->shared->isa->machine;
	uint32_t step;

	for (uint32_t at = 0; at < part->size && !making->is_short_of_memory; at += step) {
		uint64_t address = part->address + at;
		size_t length = hp_isa_length(machine, part->bytes + at, part->size - at);
		struct hp_flow flow;

		step = length ? (uint32_t)length : (uint32_t)hp_isa_step(machine);
		step = step ? step : 1;
		want_line(making, address, step);
		if (!making->shared->isa->flow(part->bytes + at, part->size - at, address, &flow))
			continue;
		if (flow.names_memory)
			keep_import(making, flow.target);
		else if (flow.kind == HP_INSN_CALL || flow.kind == HP_INSN_JUMP ||
			 flow.kind == HP_INSN_CONDITIONAL)
			keep_target(making, flow.target);
	}
	/* The code may run into the next part. */
	want_target(making, part->address + part->size);
}

static void keep_part(struct making *making, const struct code_part *part)
{
	struct hp_excerpt *excerpt = making->excerpt;
	const struct hp_code_pointer *pointers;
	size_t count;

	want(making, index_of(making, part->address), WANTED_CODE);
	want_bytes(making, part->address, part->address + part->size);
	making->code_bytes += part->size;
	for (size_t i = 0; i < part->landing_count; i++)
		check(making, hp_vector_push(&excerpt->landings,
					     (struct hp_excerpt_landing){
						     part->landings[i].start, part->landings[i].end,
						     part->landings[i].landing }));
	hp_image_code_pointers(making->image, part->address, part->address + part->size, &pointers,
			       &count);
	for (size_t i = 0; i < count; i++)
		check(making, hp_vector_push(&excerpt->pointers,
					     (struct hp_excerpt_pointer){ pointers[i].where,
									  pointers[i].target }));
	walk_part(making, part);
}

static uint64_t bytes_of(const struct making *making, const struct hp_procedure *owner)
{
	const struct hp_procedure *const *parts;
	uint64_t bytes = 0;
	size_t count;

	image_parts_of(making->shared, owner, &parts, &count);
	for (size_t i = 0; i < count; i++)
		bytes += parts[i]->size < UINT32_MAX ? parts[i]->size : UINT32_MAX;
	return bytes;
}

/* Follows its code like a graph does, which finds parts without names and reads tables. */
static struct hp_error *keep_code(struct making *making, const struct hp_procedure *owner)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct code code = { 0 };
	struct hp_error *error;

	if (!arena)
		return hp_error_create_no_memory();
	error = code_open(making->shared, owner, arena, &code);
	if (!error)
		error = code_discover(&code);
	for (size_t i = 0; i < code.parts.count && !error; i++)
		keep_part(making, &code.parts.at[i]);
	code_close(&code);
	if (!error || error->class != HP_ERROR_INSUFFICIENT)
		return error;
	/* Then no graph can be made from the file either. */
	hp_error_destroy(error);
	return NULL;
}

/* --- procedures ---------------------------------------------------------------------------- */

static int compare_heat(const void *left, const void *right)
{
	const struct heat *a = left;
	const struct heat *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->owner->address.value > b->owner->address.value) -
	       (a->owner->address.value < b->owner->address.value);
}

HP_ORDER_BY(compare_owners, struct heat, owner->address.value);

/* Lists owners with the sums of their weights, the heaviest first. Returns their number. */
static size_t sort_owners(struct heat *heats, size_t count)
{
	size_t kept = 0;

	if (count > 1)
		qsort(heats, count, sizeof(*heats), compare_owners);
	for (size_t i = 0; i < count; i++) {
		if (kept && heats[kept - 1].owner == heats[i].owner)
			heats[kept - 1].weight += heats[i].weight;
		else
			heats[kept++] = heats[i];
	}
	if (kept > 1)
		qsort(heats, kept, sizeof(*heats), compare_heat);
	return kept;
}

static bool keeps_code(const struct making *making)
{
	return making->shared;
}

/* For a sample outside of procedures, only its instruction is kept. All code was kept before. */
static void keep_sample(struct making *making, const struct hp_excerpted *sample)
{
	uint64_t address = sample->address.value;
	size_t index = index_of(making, address);

	want(making, index, WANTED_NAME);
	if (keeps_code(making) && index == SIZE_MAX && !sample->is_call)
		want_bytes(making, address,
			   address > UINT64_MAX - GAP_BYTES ? address : address + GAP_BYTES);
	if (index == SIZE_MAX || !(making->wanted[index] & WANTED_CODE))
		want_line(making, address, 1);
}

static struct hp_error *keep_procedures(struct making *making, const struct hp_excerpted *addresses,
					size_t count)
{
	_cleanup_free_ struct heat *heats = calloc(count + 1, sizeof(*heats));
	struct hp_error *error = NULL;
	size_t owners = 0;

	if (!heats)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		size_t index = index_of(making, addresses[i].address.value);

		if (index != SIZE_MAX && !addresses[i].is_call)
			heats[owners++] = (struct heat){ making->procedures[index]->owner,
							 addresses[i].weight };
	}
	owners = sort_owners(heats, owners);
	for (size_t i = 0; i < owners && keeps_code(making) && !error; i++)
		if (bytes_of(making, heats[i].owner) <=
		    making->options->most_code_bytes - making->code_bytes)
			error = keep_code(making, heats[i].owner);
	for (size_t i = 0; i < count && !error; i++)
		keep_sample(making, &addresses[i]);
	return error;
}

/* --- bytes --------------------------------------------------------------------------------- */

HP_ORDER_BY(compare_ranges, struct hp_excerpt_text, address);

static bool copy_range(struct making *making, uint64_t address, uint64_t end)
{
	const uint8_t *bytes;
	struct hp_excerpt_range range = { .address = address };

	range.size = hp_image_text(making->image, (hp_link_address){ address },
				   (size_t)(end - address), &bytes);
	if (!range.size)
		return true;
	range.bytes = malloc(range.size);
	if (range.bytes)
		memcpy(range.bytes, bytes, range.size);
	if (range.bytes && hp_vector_push(&making->excerpt->ranges, range))
		return true;
	free(range.bytes);
	return false;
}

/* Overlapping ranges are copied as one. */
static void copy_ranges(struct making *making)
{
	uint64_t address = 0;
	uint64_t end = 0;

	if (making->ranges.count > 1)
		qsort(making->ranges.at, making->ranges.count, sizeof(*making->ranges.at),
		      compare_ranges);
	for (size_t i = 0; i < making->ranges.count; i++) {
		const struct hp_excerpt_text *range = &making->ranges.at[i];

		if (range->address > end) {
			check(making, end == address || copy_range(making, address, end));
			address = range->address;
		}
		end = range->end > end ? range->end : end;
	}
	check(making, end == address || copy_range(making, address, end));
}

/* --- lines --------------------------------------------------------------------------------- */

static uint32_t word_of(struct making *making, const char *text)
{
	return text ? hp_excerpt_word(making->excerpt, text) : HP_EXCERPT_NONE;
}

/* Turns the chain of frames into places, starting with the outermost. */
static uint32_t place_of(struct making *making, const struct hp_frames *frames)
{
	uint32_t number = HP_EXCERPT_NONE;

	for (size_t i = frames->count < HP_EXCERPT_DEEPEST ? frames->count : HP_EXCERPT_DEEPEST;
	     i > 0; i--) {
		const struct hp_frame *frame = &frames->frames[i - 1];
		const struct hp_excerpt_place place = {
			.function = word_of(making, frame->function),
			.file = word_of(making, frame->file),
			.line = frame->line,
			.outer = number,
		};

		number = hp_excerpt_place(making->excerpt, &place);
		if (number == HP_EXCERPT_NONE)
			break;
	}
	return number;
}

HP_ORDER_BY(compare_spots, struct spot, address);

static struct hp_error *look_up(struct making *making, const struct spot *spots, size_t count,
				struct hp_frames *frames)
{
	_cleanup_free_ hp_link_address *addresses = calloc(count + 1, sizeof(*addresses));
	struct hp_error *error;

	if (!addresses)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		addresses[i].value = spots[i].address;
	error = hp_image_frames(making->image, addresses, count, true, frames);
	for (size_t i = 0; i < count && !error; i++) {
		struct hp_excerpt_line line = { spots[i].address, spots[i].bytes,
						place_of(making, &frames[i]) };

		if (line.place != HP_EXCERPT_NONE)
			check(making, hp_vector_push(&making->excerpt->lines, line));
	}
	return error;
}

static struct hp_error *keep_lines(struct making *making)
{
	uint64_t begin = hp_clock_thread_ns();
	_cleanup_free_ struct hp_frames *frames = calloc(LINES_AT_ONCE, sizeof(*frames));
	struct hp_error *error = NULL;

	if (!frames)
		return hp_error_create_no_memory();
	/* Unpacking the debugging information of the C library takes longer than recording a short program. */
	if (!making->spots.count || hp_image_has_build_id_file(making->image) ||
	    !hp_image_has_lines(making->image))
		return NULL;
	qsort(making->spots.at, making->spots.count, sizeof(*making->spots.at), compare_spots);
	for (size_t at = 0; at < making->spots.count && !error && !making->is_short_of_memory;
	     at += LINES_AT_ONCE) {
		size_t left = making->spots.count - at;

		if (hp_clock_thread_ns() - begin > making->options->most_line_ns)
			break;
		error = look_up(making, making->spots.at + at,
				left < LINES_AT_ONCE ? left : LINES_AT_ONCE, frames);
	}
	/* Lines that cannot be read are also missing in reports of the file. */
	if (error && error->class != HP_ERROR_SYSTEM) {
		hp_error_destroy(error);
		error = NULL;
	}
	return error;
}

/* --- all together -------------------------------------------------------------------------- */

static struct hp_error *make(struct making *making, const struct hp_excerpted *addresses,
			     size_t count)
{
	struct read_log log = { 0 };
	struct hp_error *error;

	making->wanted = calloc(making->count + 1, 1);
	if (!making->wanted)
		return hp_error_create_no_memory();
	if (making->shared)
		making->shared->log = &log;
	error = keep_procedures(making, addresses, count);
	if (keeps_code(making))
		for (size_t i = 0; i < log.reads.count; i++)
			want_bytes(making, log.reads.at[i].address, log.reads.at[i].end);
	hp_vector_free(&log.reads);
	if (!error)
		copy_ranges(making);
	if (!error)
		error = keep_lines(making);
	if (!error && making->name_bytes > MOST_NAME_BYTES)
		error = hp_error_create(HP_ERROR_INSUFFICIENT,
					"names of more than %d MiB are not kept",
					MOST_NAME_BYTES >> 20);
	if (!error && making->is_short_of_memory)
		error = hp_error_create_no_memory();
	return error ? error : hp_excerpt_finish(making->excerpt);
}

static struct hp_error *join_parts(struct hp_image *image, const struct hp_excerpted *addresses,
				   size_t count)
{
	_cleanup_free_ hp_link_address *plain = calloc(count + 1, sizeof(*plain));

	if (!plain)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		plain[i] = addresses[i].address;
	return hp_cfg_join_cold_parts(image, plain, count);
}

struct hp_error *hp_cfg_excerpt(struct hp_image *image, const struct hp_excerpted *addresses,
				size_t count, const struct hp_excerpt_options *options,
				struct hp_excerpt *excerpt)
{
	_cleanup_(hp_cfg_image_destroy_scope) struct hp_cfg_image *shared = NULL;
	struct making making = { .image = image, .options = options, .excerpt = excerpt };
	struct hp_error *error;

	*excerpt = (struct hp_excerpt){ 0 };
	if (!hp_image_map(image, excerpt)) {
		hp_excerpt_clear(excerpt);
		return NULL;
	}
	excerpt->origin = strdup(hp_image_symbol_origin(image));
	error = excerpt->origin ? join_parts(image, addresses, count) : hp_error_create_no_memory();
	if (!error && !options->no_code && hp_isa_of(hp_image_machine(image)))
		error = hp_cfg_image_create(image, &shared);
	making.shared = shared;
	hp_image_parts(image, &making.procedures, &making.count);
	if (!error)
		error = make(&making, addresses, count);
	if (!error)
		error = hp_excerpt_check(excerpt);
	free(making.wanted);
	hp_vector_free(&making.ranges);
	hp_vector_free(&making.spots);
	if (error)
		hp_excerpt_clear(excerpt);
	return error;
}
