/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sets of a spread are compared as replicates of one side. */
#include <hpcprof/compare/spread.h>

#include "sides.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <string.h>

/* Samples of something in each set. Rows with the same key are added up. */
struct entry {
	const char *name;
	const char *image_key;
	const char *image;
	const char *file;
	uint32_t line;
	double *counts; /* by set; in the arena */
};

struct spreading {
	struct sides sides;
	struct hp_spread *spread;
	enum hp_spread_of of;
	double weight; /* mean units per sample over all sets */
	HP_VECTOR(struct entry) entries;
};

static size_t set_count(const struct spreading *spreading)
{
	return spreading->sides.at[HP_BASE].replicates.count;
}

static struct entry *add_entry(struct spreading *spreading, const struct unit *unit)
{
	struct hp_arena *arena = spreading->sides.arena;
	const struct code *code = unit->codes.at[0];
	const struct entry entry = {
		.name = hp_arena_strdup(arena, code->name),
		.image_key = unit->image_key,
		.image = hp_arena_strdup(arena, code->image->id.path),
		.counts = hp_arena_array(arena, set_count(spreading), sizeof(double)),
	};

	if (!entry.name || !entry.image || !entry.counts ||
	    !hp_vector_push(&spreading->entries, entry))
		return NULL;
	return &spreading->entries.at[spreading->entries.count - 1];
}

static void count(const struct spreading *spreading, struct entry *entry, const struct place *place)
{
	entry->counts[place->replicate] += place->cost / spreading->weight;
}

/* --- what there is a row for ----------------------------------------------------------------- */

static void count_unit(const struct spreading *spreading, const struct unit *unit,
		       struct entry *entry)
{
	for (size_t i = 0; i < unit->codes.count; i++)
		for (size_t j = 0; j < unit->codes.at[i]->place_count; j++)
			count(spreading, entry, &unit->codes.at[i]->places[j]);
}

static struct hp_error *add_procedures(struct spreading *spreading)
{
	for (size_t i = 0; i < spreading->sides.units.count; i++) {
		const struct unit *unit = &spreading->sides.units.at[i];
		struct entry *entry = add_entry(spreading, unit);

		if (!entry)
			return hp_error_create_no_memory();
		count_unit(spreading, unit, entry);
	}
	return NULL;
}

/* Units of one image follow each other. */
static struct hp_error *add_images(struct spreading *spreading)
{
	struct entry *entry = NULL;

	for (size_t i = 0; i < spreading->sides.units.count; i++) {
		const struct unit *unit = &spreading->sides.units.at[i];

		if (!entry || strcmp(entry->image_key, unit->image_key) != 0) {
			entry = add_entry(spreading, unit);
			if (!entry)
				return hp_error_create_no_memory();
			entry->name = entry->image;
		}
		count_unit(spreading, unit, entry);
	}
	return NULL;
}

/* Finds the line of each place. The addresses of one code are in order. */
static struct hp_error *find_lines(const struct code *code, struct hp_frames *frames)
{
	_cleanup_free_ hp_link_address *addresses =
		calloc(code->place_count + 1, sizeof(*addresses));

	if (!addresses)
		return hp_error_create_no_memory();
	if (!code->procedure || !code->image->file)
		return NULL;
	for (size_t i = 0; i < code->place_count; i++)
		addresses[i].value = code->places[i].address;
	return hp_image_frames(code->image->file, addresses, code->place_count, false, frames);
}

static struct hp_error *add_lines_of(struct spreading *spreading, const struct unit *unit,
				     const struct code *code, size_t first)
{
	_cleanup_free_ struct hp_frames *frames = calloc(code->place_count + 1, sizeof(*frames));
	struct hp_error *error = frames ? find_lines(code, frames) : hp_error_create_no_memory();

	for (size_t i = 0; i < code->place_count && !error; i++) {
		const struct hp_frame *frame = frames[i].count ? frames[i].frames : NULL;
		const char *file = frame ? frame->file : NULL;
		uint32_t line = file ? frame->line : 0;
		struct entry *entry = NULL;

		for (size_t j = first; j < spreading->entries.count && !entry; j++) {
			struct entry *other = &spreading->entries.at[j];

			if (other->line == line && !other->file == !file &&
			    (!file || strcmp(other->file, file) == 0))
				entry = other;
		}
		if (!entry) {
			entry = add_entry(spreading, unit);
			if (!entry)
				return hp_error_create_no_memory();
			entry->line = line;
			entry->file = file ? hp_arena_strdup(spreading->sides.arena, file) : NULL;
		}
		count(spreading, entry, &code->places[i]);
	}
	return error;
}

static struct hp_error *add_lines(struct spreading *spreading)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < spreading->sides.units.count && !error; i++) {
		const struct unit *unit = &spreading->sides.units.at[i];
		size_t first = spreading->entries.count;

		for (size_t j = 0; j < unit->codes.count && !error; j++)
			error = add_lines_of(spreading, unit, unit->codes.at[j], first);
	}
	return error;
}

/* --- figures --------------------------------------------------------------------------------- */

static struct hp_spread_row row_of(const struct spreading *spreading, const struct entry *entry)
{
	double sets = (double)set_count(spreading);
	struct hp_spread_row row = {
		.name = entry->name,
		.image = entry->image,
		.file = entry->file,
		.line = entry->line,
		.least = INFINITY,
	};
	double squares = 0;

	for (size_t i = 0; i < set_count(spreading); i++) {
		row.sets += entry->counts[i] > 0;
		row.sum += entry->counts[i];
		row.least = fmin(row.least, entry->counts[i]);
		row.most = fmax(row.most, entry->counts[i]);
	}
	row.mean = row.sum / sets;
	for (size_t i = 0; i < set_count(spreading); i++)
		squares += (entry->counts[i] - row.mean) * (entry->counts[i] - row.mean);
	row.deviation = sets > 1 ? sqrt(squares / (sets - 1)) : NAN;
	row.range = (row.most - row.least) / row.sum;
	row.share = row.sum / spreading->spread->samples;
	return row;
}

/* Range times share, minus what all rows have in common: a procedure with one sample in one set has
 * the whole range, but does not matter. */
static double weight_of(const struct hp_spread_row *row)
{
	return row->most - row->least;
}

static int compare_rows(const void *left, const void *right)
{
	const struct hp_spread_row *a = left;
	const struct hp_spread_row *b = right;
	int order = (weight_of(a) < weight_of(b)) - (weight_of(a) > weight_of(b));

	if (!order)
		order = (a->sum < b->sum) - (a->sum > b->sum);
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static struct hp_error *list_rows(struct spreading *spreading)
{
	size_t rows = spreading->entries.count;
	struct hp_spread_row *list =
		hp_arena_array(spreading->sides.arena, rows + 1, sizeof(*list));

	if (!list)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < rows; i++)
		list[i] = row_of(spreading, &spreading->entries.at[i]);
	qsort(list, rows, sizeof(*list), compare_rows);
	spreading->spread->rows = list;
	spreading->spread->row_count = rows;
	return NULL;
}

static struct hp_error *list_sets(struct spreading *spreading)
{
	const struct side *side = &spreading->sides.at[HP_BASE];
	struct hp_arena *arena = spreading->sides.arena;
	struct hp_spread_set *sets = hp_arena_array(arena, side->replicates.count, sizeof(*sets));
	struct hp_spread *spread = spreading->spread;

	if (!sets)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < side->replicates.count; i++) {
		const struct replicate *replicate = &side->replicates.at[i];

		sets[i].stamp = hp_arena_strdup(arena, hp_epoch_stamp(replicate->epoch));
		sets[i].label = replicate->meta->label
					? hp_arena_strdup(arena, replicate->meta->label)
					: NULL;
		sets[i].samples = replicate->cost / spreading->weight;
		spread->samples += sets[i].samples;
		if (!sets[i].stamp)
			return hp_error_create_no_memory();
	}
	spread->sets = sets;
	spread->set_count = side->replicates.count;
	spread->period = spreading->weight;
	spread->unit = spreading->sides.unit;
	spread->event = hp_arena_strdup(arena, spreading->sides.event);
	spread->notes = sides_notes(&spreading->sides);
	spread->note_count = spreading->sides.notes.count;
	return spread->event && spread->notes ? NULL : hp_error_create_no_memory();
}

/* --- the whole ------------------------------------------------------------------------------- */

static struct hp_error *spread_sets(struct spreading *spreading,
				    const struct hp_compare_epochs epochs[HP_SIDES])
{
	static struct hp_error *(*const adders[])(struct spreading *) = {
		[HP_SPREAD_PROCEDURES] = add_procedures,
		[HP_SPREAD_IMAGES] = add_images,
		[HP_SPREAD_LINES] = add_lines,
	};
	const struct side *side = &spreading->sides.at[HP_BASE];
	struct hp_error *error = sides_open(&spreading->sides, epochs);

	if (!error)
		error = sides_gather(&spreading->sides);
	if (!error)
		error = sides_match(&spreading->sides);
	if (error)
		return error;
	spreading->weight = side->cost / (double)side->samples;
	error = list_sets(spreading);
	if (!error)
		error = adders[spreading->of](spreading);
	return error ? error : list_rows(spreading);
}

struct hp_error *hp_spread(struct hp_db *db, char *const *stamps, size_t count,
			   const struct hp_spread_options *options, struct hp_spread **spread)
{
	const struct hp_compare_epochs epochs[HP_SIDES] = { { db, stamps, count, 0 } };
	/* Sets from different CPUs may be compared, since samples are not costs. */
	const struct hp_compare_options gathering = {
		.event = options->event,
		.is_relative = true,
		.symfs = options->symfs,
		.no_debuginfo = options->no_debuginfo,
	};
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct spreading spreading = {
		.sides = { .arena = arena, .options = &gathering },
		.spread = arena ? hp_arena_alloc(arena, sizeof(**spread)) : NULL,
		.of = options->of,
	};
	struct hp_error *error;

	if (!spreading.spread)
		return hp_error_create_no_memory();
	error = spread_sets(&spreading, epochs);
	sides_clear(&spreading.sides);
	hp_vector_free(&spreading.entries);
	if (error)
		return error;
	*spread = spreading.spread;
	(*spread)->arena = hp_steal(arena);
	return NULL;
}

void hp_spread_destroy(struct hp_spread *spread)
{
	/* The spread lives in its own arena. */
	hp_arena_destroy(spread->arena);
}
