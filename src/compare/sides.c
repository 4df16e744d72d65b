/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the epochs to compare, and the event. */
#include "sides.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *sides_format(struct hp_arena *arena, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	return text ? hp_arena_strdup(arena, text) : NULL;
}

bool sides_note(struct sides *sides, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	const char *note;
	va_list arguments;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (!text)
		return false;
	for (size_t i = 0; i < sides->notes.count; i++)
		if (strcmp(sides->notes.at[i], text) == 0)
			return true;
	note = hp_arena_strdup(sides->arena, text);
	return note && hp_vector_push(&sides->notes, note);
}

const char *const *sides_notes(const struct sides *sides)
{
	const char **notes = hp_arena_array(sides->arena, sides->notes.count + 1, sizeof(*notes));

	for (size_t i = 0; notes && i < sides->notes.count; i++)
		notes[i] = sides->notes.at[i];
	return notes;
}

struct hp_error *sides_advise(struct hp_error *error)
{
	if (!error || error->advice)
		return error;
	if (error->class == HP_ERROR_NOT_PERMITTED)
		return hp_error_advise(
			error, "its owner can let others read it: chmod -R a+rX on the database");
	if (error->class != HP_ERROR_DAMAGED)
		return error;
	return hp_error_advise(error, "leave it out, or record it again; hpcprof epochs verify "
				      "lists what is damaged");
}

static void close_image(struct side_image *image)
{
	if (image->file)
		hp_image_close(image->file);
	hp_excerpt_clear(&image->excerpt);
	hp_symbols_free(image->symbols, image->symbol_count);
	hp_image_id_clear(&image->id);
	hp_vector_free(&image->places);
	free(image);
}

void sides_clear(struct sides *sides)
{
	for (size_t side = 0; side < HP_SIDES; side++) {
		struct side *at = &sides->at[side];

		for (size_t i = 0; i < at->images.count; i++)
			close_image(at->images.at[i]);
		for (size_t i = 0; i < at->replicates.count; i++)
			hp_epoch_close(at->replicates.at[i].epoch);
		hp_vector_free(&at->images);
		hp_vector_free(&at->replicates);
		hp_vector_free(&at->codes);
	}
	for (size_t i = 0; i < sides->units.count; i++) {
		hp_vector_free(&sides->units.at[i].codes);
		hp_vector_free(&sides->units.at[i].absorbed);
	}
	hp_vector_free(&sides->units);
	hp_vector_free(&sides->notes);
}

/* --- epochs ---------------------------------------------------------------------------------- */

static void settle_exposure(struct replicate *replicate, double given)
{
	double work = 0;
	size_t known = 0;

	replicate->given_work = given;
	for (size_t i = 0; i < replicate->meta->run_count; i++) {
		work += replicate->meta->runs[i].work;
		known += replicate->meta->runs[i].work > 0;
	}
	replicate->exposure = replicate->meta->run_count ? (double)replicate->meta->run_count : 1;
	replicate->has_work = given > 0 || (known && known == replicate->meta->run_count);
	if (given > 0)
		replicate->exposure *= given;
	else if (replicate->has_work)
		replicate->exposure = work;
}

static struct hp_error *open_side(struct side *side, const struct hp_compare_epochs *epochs)
{
	for (size_t i = 0; i < epochs->count; i++) {
		struct replicate replicate = { 0 };
		struct hp_error *error =
			hp_epoch_open(epochs->db, epochs->stamps[i], &replicate.epoch);

		if (error)
			return sides_advise(error);
		replicate.meta = hp_epoch_meta(replicate.epoch);
		settle_exposure(&replicate, epochs->work);
		if (!hp_vector_push(&side->replicates, replicate)) {
			hp_epoch_close(replicate.epoch);
			return hp_error_create_no_memory();
		}
	}
	return NULL;
}

/* The first epoch that has (or lacks) its amount of work; NULL: none. */
static struct replicate *find_work(struct sides *sides, bool has_work)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++)
			if (sides->at[side].replicates.at[i].has_work == has_work)
				return &sides->at[side].replicates.at[i];
	return NULL;
}

static void forget_work(struct sides *sides)
{
	struct replicate *replicate;

	while ((replicate = find_work(sides, true))) {
		replicate->has_work = false;
		replicate->exposure =
			replicate->meta->run_count ? (double)replicate->meta->run_count : 1;
	}
}

/* Costs are per unit of work only if all epochs have their amount. */
static struct hp_error *settle_work(struct sides *sides, const struct hp_compare_epochs *epochs)
{
	const struct replicate *known = find_work(sides, true);
	const struct replicate *silent = find_work(sides, false);

	if (!known || !silent)
		return NULL;
	if (epochs[HP_BASE].work > 0 || epochs[HP_CANDIDATE].work > 0)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE,
					"epoch %s does not contain its amount of work, and the "
					"amount was given for the other side only",
					hp_epoch_stamp(silent->epoch)),
			"--work=N gives the amount for both sides");
	/* With a single side there is nothing to compare with. */
	if (sides->at[HP_CANDIDATE].replicates.count &&
	    !sides_note(sides,
			"epoch %s contains its amount of work, but epoch %s does not: costs are "
			"per run, whatever its work",
			hp_epoch_stamp(known->epoch), hp_epoch_stamp(silent->epoch)))
		return hp_error_create_no_memory();
	forget_work(sides);
	return NULL;
}

/* --- recordings that are no runs -------------------------------------------------------------- */

/* If its recorder died, an epoch contains an unknown part of a run. */
static struct hp_error *check_complete(struct sides *sides, const struct replicate *replicate)
{
	const char *stamp = hp_epoch_stamp(replicate->epoch);
	const char *what = hp_epoch_is_recording(replicate->epoch) ? "is still being recorded"
								   : "was interrupted";
	/* Shares are about right in a part of a run, and so are the samples of one set among
	 * others. */
	bool is_enough = sides->options->is_relative || !sides->at[HP_CANDIDATE].replicates.count;

	if (replicate->meta->complete)
		return NULL;
	if (!is_enough)
		return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
						       "epoch %s %s: its total cost is not known",
						       stamp, what),
				       "leave it out by naming the other epochs, or compare shares "
				       "with --relative");
	return sides_note(sides, "epoch %s %s: it contains only a part of the run", stamp, what)
		       ? NULL
		       : hp_error_create_no_memory();
}

static struct hp_error *check_whole(struct sides *sides, const struct replicate *replicate)
{
	const char *contradiction = hp_epoch_contradiction(replicate->epoch);

	if (!contradiction ||
	    sides_note(sides,
		       "epoch %s was changed after the recording: %s (hpcprof epochs verify)",
		       hp_epoch_stamp(replicate->epoch), contradiction))
		return check_complete(sides, replicate);
	return hp_error_create_no_memory();
}

static struct hp_error *check_recordings(struct sides *sides)
{
	const struct replicate *whole = NULL;

	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++) {
			const struct replicate *replicate = &sides->at[side].replicates.at[i];
			struct hp_error *error = check_whole(sides, replicate);

			if (error)
				return error;
			if (!whole && !replicate->meta->run_count)
				whole = replicate;
		}
	if (!whole || sides->options->is_relative || !sides->at[HP_CANDIDATE].replicates.count ||
	    sides_note(sides,
		       "epoch %s has no run of a command: the whole recording counts as one run, "
		       "whatever its duration",
		       hp_epoch_stamp(whole->epoch)))
		return NULL;
	return hp_error_create_no_memory();
}

/* --- the event ------------------------------------------------------------------------------- */

/* Whether both events are sampled in the same modes; with `user_part`, in user mode. */
static bool is_same_mode(const char *a, const char *b, bool user_part)
{
	struct hp_event_modes one = hp_event_modes(a);
	struct hp_event_modes other = hp_event_modes(b);

	if (user_part)
		return one.has_user && other.has_user;
	return one.has_user == other.has_user && one.has_kernel == other.has_kernel;
}

static bool is_chosen(const char *pattern, const char *name)
{
	const char *colon = strrchr(name, ':');
	_cleanup_free_ char *bare = colon ? strndup(name, (size_t)(colon - name)) : strdup(name);

	return !pattern || strcmp(pattern, name) == 0 || (bare && strcmp(pattern, bare) == 0) ||
	       fnmatch(pattern, name, 0) == 0;
}

/* Units of `to` per unit of `from` in this epoch; 0: unknown. */
static double convert(const struct hp_epoch_meta *meta, enum hp_unit from, enum hp_unit unit)
{
	double cycles = hp_epoch_cycles_per_unit(meta, from);

	if (from == unit)
		return 1;
	return unit == HP_UNIT_CYCLES ? cycles : 0;
}

/* Takes the epoch's event that counts the same as `wanted`: by name, otherwise by what it
 * counts. */
static bool take_event(struct replicate *replicate, const struct hp_event_info *wanted,
		       enum hp_unit unit, const struct sides *sides)
{
	const struct hp_epoch_meta *meta = replicate->meta;

	for (int by_name = 1; by_name >= 0; by_name--)
		for (size_t i = 0; i < meta->event_count; i++) {
			const struct hp_event_totals *totals = &meta->events[i];
			bool named = strcmp(totals->info.name, wanted->name) == 0;
			double scale = convert(meta, totals->info.unit, unit);

			/* Only time is the same for all events that measure it. */
			if (by_name ? !named
				    : !is_chosen(sides->options->event, totals->info.name) ||
					      unit == HP_UNIT_EVENTS ||
					      !is_same_mode(totals->info.name, wanted->name,
							    sides->user_part))
				continue;
			if (!(scale > 0))
				continue;
			replicate->event = i;
			replicate->scale = scale * hp_event_units_for_one(totals);
			return true;
		}
	return false;
}

static bool try_event(struct sides *sides, const struct hp_event_info *wanted, enum hp_unit unit)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++)
			if (!take_event(&sides->at[side].replicates.at[i], wanted, unit, sides))
				return false;
	sides->event = wanted->name;
	sides->unit = unit;
	return true;
}

static const char *names_of_events(struct hp_arena *arena, const struct replicate *replicate)
{
	const char *names = "";

	for (size_t i = 0; names && i < replicate->meta->event_count; i++)
		names = sides_format(arena, "%s%s%s", names, *names ? ", " : "",
				     replicate->meta->events[i].info.name);
	return names && *names ? names : "nothing";
}

/* The side's first epoch without the event that the first of all has. */
static const struct replicate *odd_one(const struct sides *sides)
{
	const struct side *candidate = &sides->at[HP_CANDIDATE];
	const struct side *base = &sides->at[HP_BASE];

	return candidate->replicates.count ? &candidate->replicates.at[0]
					   : &base->replicates.at[base->replicates.count - 1];
}

static struct hp_error *no_common_event(const struct sides *sides)
{
	const struct replicate *first = &sides->at[HP_BASE].replicates.at[0];
	const struct replicate *other = odd_one(sides);
	const char *asked = sides->options->event;

	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE,
				"no event%s%s can be compared in all epochs: %s has %s, %s has %s",
				asked ? " " : "", asked ? asked : "", hp_epoch_stamp(first->epoch),
				names_of_events(sides->arena, first), hp_epoch_stamp(other->epoch),
				names_of_events(sides->arena, other)),
		"record all epochs with the same -e EVENT");
}

/* Finds the base's first event that all others have, too: in its own unit, or in cycles. */
static bool find_event(struct sides *sides, bool in_cycles)
{
	static const enum hp_unit none = HP_UNIT_EVENTS;
	const struct hp_epoch_meta *meta = sides->at[HP_BASE].replicates.at[0].meta;

	for (size_t i = 0; i < meta->event_count; i++) {
		const struct hp_event_info *info = &meta->events[i].info;

		if (is_chosen(sides->options->event, info->name) &&
		    !(in_cycles && info->unit == none) &&
		    try_event(sides, info, in_cycles ? HP_UNIT_CYCLES : info->unit))
			return true;
	}
	return false;
}

static struct hp_error *settle_event(struct sides *sides)
{
	for (int user_part = 0; user_part < 2; user_part++) {
		bool in_cycles;
		bool noted = true;

		sides->user_part = user_part;
		in_cycles = !find_event(sides, false);
		/* If one side has time and the other cycles, time is converted by the measured
		 * clock. */
		if (in_cycles && !find_event(sides, true))
			continue;
		if (in_cycles)
			noted = sides_note(sides, "time was converted into cycles with the clock "
						  "measured during the recording");
		if (user_part)
			noted &= sides_note(sides, "not all epochs have samples of the kernel: "
						   "only samples in user mode are compared");
		return noted ? NULL : hp_error_create_no_memory();
	}
	return no_common_event(sides);
}

static bool is_mixed(const struct sides *sides)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++) {
			const struct replicate *replicate = &sides->at[side].replicates.at[i];

			if (strcmp(replicate->meta->events[replicate->event].info.name,
				   sides->event) != 0)
				return true;
		}
	return false;
}

/* --- machines -------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return !a || !b || strcmp(a, b) == 0;
}

static struct hp_error *check_machines(struct sides *sides)
{
	const struct replicate *first = &sides->at[HP_BASE].replicates.at[0];

	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++) {
			const struct replicate *other = &sides->at[side].replicates.at[i];

			if (same_text(first->meta->cpu_model, other->meta->cpu_model))
				continue;
			if (!sides->options->is_relative)
				return hp_error_advise(
					hp_error_create(HP_ERROR_INSUFFICIENT,
							"epoch %s was recorded on %s, epoch %s on "
							"%s: their costs cannot be compared",
							hp_epoch_stamp(first->epoch),
							first->meta->cpu_model,
							hp_epoch_stamp(other->epoch),
							other->meta->cpu_model),
					"--relative compares the shares of procedures; or record "
					"both on one machine");
			if (!sides_note(sides, "different CPUs: %s, and %s", first->meta->cpu_model,
					other->meta->cpu_model))
				return hp_error_create_no_memory();
		}
	return NULL;
}

struct hp_error *sides_open(struct sides *sides, const struct hp_compare_epochs epochs[HP_SIDES])
{
	struct hp_error *error = NULL;

	for (size_t side = 0; side < HP_SIDES && !error; side++)
		error = open_side(&sides->at[side], &epochs[side]);
	if (error)
		return error;
	error = check_recordings(sides);
	if (!error)
		error = settle_work(sides, epochs);
	if (!error)
		error = check_machines(sides);
	if (!error)
		error = settle_event(sides);
	if (!error && is_mixed(sides) &&
	    !sides_note(sides, "not all epochs have %s: equivalent events of the others are used",
			sides->event))
		return hp_error_create_no_memory();
	return error;
}

int code_compare_keys(const struct code *a, const struct code *b)
{
	int order = strcmp(a->image->key, b->image->key);

	if (!order)
		order = strcmp(a->key, b->key);
	return order ? order : (a->side > b->side) - (a->side < b->side);
}

/* --- builds ---------------------------------------------------------------------------------- */

static bool is_file(const struct side_image *image)
{
	return image->id.kind == HP_IMAGE_FILE && image->cost > 0;
}

/* Whether the path is in a directory of the system, such as /lib or /usr/lib64/aarch64-linux-gnu.
 * That such files are equal tells nothing of the program. */
static bool is_of_system(const char *path)
{
	size_t length;

	if (strncmp(path, "/usr/", 5) == 0)
		path += 4;
	if (strncmp(path, "/lib/", 5) != 0 && strncmp(path, "/lib64/", 7) != 0 &&
	    strncmp(path, "/lib32/", 7) != 0)
		return false;
	path += strcspn(path + 1, "/") + 1;
	length = strcspn(path + !!*path, "/");
	if (*path && path[1 + length] && memmem(path + 1, length, "-linux", 6))
		path += 1 + length;
	return *path && !strchr(path + 1, '/');
}

static bool is_own(const struct side_image *image)
{
	return is_file(image) && !is_of_system(image->id.path);
}

static const struct side_image *find_namesake(const struct side *side,
					      const struct side_image *image)
{
	for (size_t i = 0; i < side->images.count; i++)
		if (is_file(side->images.at[i]) && strcmp(side->images.at[i]->key, image->key) == 0)
			return side->images.at[i];
	return NULL;
}

/* An image with a larger share would have samples on the other side, too. */
static bool is_missing_by_chance(const struct side *side, const struct side_image *image)
{
	return !is_own(image) || image->cost < least_image * side->cost;
}

bool sides_are_same_build(const struct sides *sides)
{
	bool some_are = false;

	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].images.count; i++) {
			const struct side_image *one = sides->at[side].images.at[i];
			const struct side_image *other =
				is_file(one) ? find_namesake(&sides->at[!side], one) : NULL;

			if (!other && !is_missing_by_chance(&sides->at[side], one))
				return false;
			if (!other)
				continue;
			if (one->id.identity.kind == HP_IDENTITY_NONE ||
			    !hp_identity_equal(&one->id.identity, &other->id.identity))
				return false;
			some_are |= is_own(one);
		}
	return some_are;
}
