/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attribute.h"

#include "kept.h"
#include "rows.h"

#include <hpcprof/base/search.h>
#include <hpcprof/model/procedure_name.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool needs_lines(const struct hp_profiles *profiles)
{
	return profiles->options->rows == HP_ROWS_OF_LINES || profiles->by.has[HP_BY_LINE] ||
	       (profiles->options->rows == HP_ROWS_OF_PROCEDURES && profiles->options->inlines);
}

/* --- opening ------------------------------------------------------------------------------ */

static struct hp_error *read_kept_symbols(struct hp_loaded_part *part)
{
	if (part->image->id.kind == HP_IMAGE_FILE || !part->epoch)
		return NULL;
	return hp_epoch_read_symbols(part->epoch, part->epoch_image, &part->symbols,
				     &part->symbol_count, NULL);
}

static const char *advice_if_missing(const struct hp_profiles *profiles,
				     const struct hp_loaded_image *image)
{
	if (strncmp(image->id.path, "/memfd:", 7) == 0)
		return "it was in memory only, and gone before hpcprof read it";
	if (profiles->options->symfs)
		return "put it there, or leave out --symfs";
	return "if it is in another place, --symfs DIR looks for all files below DIR";
}

/* The report continues without the file, and says so. */
static struct hp_error *refuse(struct hp_profiles *profiles, struct hp_loaded_image *image,
			       struct hp_error *error)
{
	if (error->errno_value == ENOMEM)
		return error;
	if (!error->advice && error->class == HP_ERROR_NOT_FOUND)
		error = hp_error_advise(error, "%s", advice_if_missing(profiles, image));
	image->problem = hp_profiles_intern(profiles, error->message);
	if (error->advice)
		image->advice = hp_profiles_intern(profiles, error->advice);
	if (hp_profiles_is_noticed(profiles, image))
		hp_profiles_warn(profiles, error->advice, "%s", error->message);
	hp_error_destroy(error);
	return image->problem ? NULL : hp_error_create_no_memory();
}

static struct hp_error *describe_file(struct hp_profiles *profiles, struct hp_loaded_part *part)
{
	struct hp_loaded_image *image = part->image;

	if (!profiles->options->describes_images)
		return NULL;
	image->origin = hp_profiles_intern(profiles, hp_image_symbol_origin(part->file));
	image->has_lines = hp_image_has_lines(part->file);
	return image->origin ? NULL : hp_error_create_no_memory();
}

/* Takes over `unread`. */
static struct hp_error *do_without(struct hp_profiles *profiles, struct hp_loaded_part *part,
				   struct hp_error *unread)
{
	struct hp_error *error = NULL;

	if (part->image->id.kind == HP_IMAGE_FILE && unread->errno_value != ENOMEM)
		error = kept_open(profiles, part, unread->message);
	if (!error && !part->file)
		return refuse(profiles, part->image, unread);
	hp_error_destroy(unread);
	return error ? error : describe_file(profiles, part);
}

/* Damaged names are no reason to withhold the samples. */
static struct hp_error *lose_names(struct hp_profiles *profiles, struct hp_loaded_part *part,
				   struct hp_error *error)
{
	struct hp_error *lost;

	if (error->class != HP_ERROR_DAMAGED)
		return error;
	lost = hp_error_advise(hp_error_create(HP_ERROR_DAMAGED,
					       "%s: the names are lost; everything else is intact",
					       error->message),
			       "hpcprof epochs verify shows what is damaged");
	hp_error_destroy(error);
	return refuse(profiles, part->image, lost);
}

static struct hp_error *open_file(struct hp_profiles *profiles, struct hp_loaded_part *part)
{
	struct hp_image_options options = {
		.symfs = profiles->options->symfs,
		.no_debuginfo = profiles->options->no_debuginfo,
	};
	struct hp_loaded_image *image = part->image;
	struct hp_error *error = read_kept_symbols(part);

	if (error)
		return lose_names(profiles, part, error);
	options.symbols = part->symbols;
	options.symbol_count = part->symbol_count;
	if (image->id.kind == HP_IMAGE_VDSO && part->epoch)
		options.bytes_path = hp_epoch_bytes_path(part->epoch, part->epoch_image);
	error = hp_image_open(&image->id, &options, &part->file);
	if (error) {
		part->file = NULL;
		return do_without(profiles, part, error);
	}
	if (image->id.kind == HP_IMAGE_FILE && image->id.identity.kind == HP_IDENTITY_NONE &&
	    hp_profiles_is_noticed(profiles, image))
		hp_profiles_warn(profiles,
				 "it has no build-id and was removed before it could be read",
				 "%s: it is not known whether this is the file that was executed; "
				 "its names may be wrong",
				 image->id.path);
	return describe_file(profiles, part);
}

/* --- rows --------------------------------------------------------------------------------- */

static void add_tallies(const struct hp_profiles *profiles, struct hp_tally *into,
			const struct hp_tally *tallies)
{
	for (size_t i = 0; i < profiles->events.count; i++)
		hp_tally_add(&into[i], &tallies[i]);
}

static void add_to_row(struct hp_profiles *profiles, struct hp_row *row,
		       const struct hp_tally *tallies)
{
	add_tallies(profiles, row->tallies, tallies);
	for (size_t i = 0; i < profiles->events.count; i++)
		hp_tally_add(&profiles->events.at[i].kept, &tallies[i]);
}

static void count_attribution(struct hp_profiles *profiles, const struct hp_loaded_image *image,
			      enum hp_attribution how, const struct hp_tally *tallies)
{
	add_tallies(profiles, &profiles->attribution[(size_t)how * profiles->events.count],
		    tallies);
	if (how == HP_NAMED_BY_EXTENT || how == HP_NAMED_NOT)
		add_tallies(profiles, image->nameless, tallies);
}

static bool procedure_passes(const struct hp_profiles *profiles, const char *name,
			     const char *linkage)
{
	const char *pattern = profiles->options->procedure;

	enum hp_name_fit worst = profiles->options->by_part ? HP_NAME_PART : HP_NAME_GLOB;

	return !pattern || hp_name_fit(name, linkage, pattern) <= worst;
}

static struct hp_error *add_code(struct hp_profiles *profiles, struct hp_row *row,
				 struct hp_loaded_part *part, const struct hp_procedure *procedure,
				 uint64_t offset)
{
	struct hp_row_code *code = row->code;

	for (; code; code = code->next)
		if (code->part == part &&
		    (procedure ? code->procedure == procedure : code->offset == offset))
			return NULL;
	code = hp_arena_alloc(profiles->arena, sizeof(*code));
	if (!code)
		return hp_error_create_no_memory();
	*code = (struct hp_row_code){
		.part = part, .procedure = procedure, .offset = offset, .next = row->code
	};
	row->code = code;
	return NULL;
}

/* Adds `tallies` to the row of `key` if its name passes the filter. Sets `*row` to the row, or to
 * NULL. */
static struct hp_error *add_named(struct hp_profiles *profiles, const struct row_key *key,
				  const char *linkage, const struct hp_tally *tallies,
				  struct hp_row **row)
{
	*row = NULL;
	if (!procedure_passes(profiles, key->name, linkage))
		return NULL;
	*row = rows_at(profiles, key);
	if (!*row)
		return hp_error_create_no_memory();
	if (linkage && !(*row)->linkage)
		(*row)->linkage = linkage;
	add_to_row(profiles, *row, tallies);
	return NULL;
}

/* For views with one row per image. */
static struct hp_error *add_to_image(struct hp_profiles *profiles,
				     const struct hp_loaded_part *part,
				     const struct hp_tally *tallies)
{
	struct row_key key;
	struct hp_row *row;

	memset(&key, 0, sizeof(key));
	key.image = part->image;
	row = rows_at(profiles, &key);
	if (!row)
		return hp_error_create_no_memory();
	add_to_row(profiles, row, tallies);
	return NULL;
}

/* Processes addresses in order, so most samples belong to the same procedure as the one before. */
struct walk {
	struct hp_profiles *profiles;
	struct hp_loaded_part *part;
	const struct hp_procedure *procedure; /* a part of a procedure, up to `end` */
	const char *name;
	const char *linkage;
	bool by_image;
	uint32_t group; /* number of the breakdown's group */
};

/* In generated code, addresses are synthetic and differ between epochs. */
static bool address_means_something(const struct hp_loaded_part *part)
{
	return part->image->id.kind == HP_IMAGE_FILE || part->image->id.kind == HP_IMAGE_VDSO ||
	       part->image->id.kind == HP_IMAGE_KERNEL || part->image->id.kind == HP_IMAGE_MODULE;
}

static struct hp_error *enter_procedure(struct walk *walk, uint64_t address)
{
	const struct hp_procedure *at = walk->procedure;

	if (at && address >= at->address.value && address - at->address.value < at->size)
		return NULL;
	at = hp_image_procedure_at(walk->part->file, (hp_link_address){ address });
	walk->procedure = at;
	walk->name = hp_profiles_intern(walk->profiles, at->owner->name);
	walk->linkage = at->owner->linkage ? hp_profiles_intern(walk->profiles, at->owner->linkage)
					   : walk->name;
	return walk->name && walk->linkage ? NULL : hp_error_create_no_memory();
}

static enum hp_attribution attribution_of(const struct hp_procedure *procedure)
{
	switch (procedure->source) {
	case HP_PROCEDURE_SYMBOL:
		return HP_NAMED_BY_SYMBOL;
	case HP_PROCEDURE_PLT:
		return HP_NAMED_BY_PLT;
	case HP_PROCEDURE_EH_FRAME:
		return HP_NAMED_BY_EXTENT;
	case HP_PROCEDURE_CODE:
	case HP_PROCEDURE_GAP:
		break;
	}
	return HP_NAMED_NOT;
}

static struct hp_error *add_to_procedure(struct walk *walk, const struct hp_tally *tallies)
{
	const struct hp_procedure *owner = walk->procedure->owner;
	bool addressed = address_means_something(walk->part);
	struct hp_error *error;
	struct row_key key;
	struct hp_row *row;

	memset(&key, 0, sizeof(key));
	key.image = walk->part->image;
	key.name = walk->name;
	key.address = addressed ? owner->address.value : 0;
	error = add_named(walk->profiles, &key, walk->linkage, tallies, &row);
	if (error || !row)
		return error;
	row->has_address = addressed;
	row->address = key.address;
	row->size = addressed ? owner->size : 0;
	if (!walk->profiles->keeps_files)
		return NULL;
	return add_code(walk->profiles, row, walk->part, owner, 0);
}

/* The function in the source that the code belongs to, if it was inlined here. */
static struct hp_error *add_to_inlined(struct walk *walk, const struct hp_frame *frame,
				       const struct hp_tally *tallies)
{
	struct row_key key;
	struct hp_row *row;

	memset(&key, 0, sizeof(key));
	key.image = walk->part->image;
	key.name = hp_profiles_intern(walk->profiles, frame->function);
	key.inlined = 1;
	if (!key.name)
		return hp_error_create_no_memory();
	return add_named(walk->profiles, &key, NULL, tallies, &row);
}

static struct hp_error *add_to_line(struct walk *walk, const struct hp_frames *frames,
				    const struct hp_tally *tallies)
{
	const struct hp_frame *frame = frames->count ? &frames->frames[0] : NULL;
	const char *linkage = walk->linkage;
	struct row_key key;
	struct hp_row *row;

	memset(&key, 0, sizeof(key));
	key.image = walk->part->image;
	key.name = walk->name;
	if (walk->profiles->options->inlines && frames->count > 1 && frame->function) {
		key.name = hp_profiles_intern(walk->profiles, frame->function);
		key.inlined = 1;
		linkage = NULL;
	}
	if (frame && frame->file) {
		key.file = hp_profiles_intern(walk->profiles, frame->file);
		key.line = frame->line;
		if (!key.file)
			return hp_error_create_no_memory();
	}
	if (!key.name)
		return hp_error_create_no_memory();
	return add_named(walk->profiles, &key, linkage, tallies, &row);
}

/* Keys that the breakdown does not have are left out. `frame` may be NULL. */
static struct hp_error *add_to_breakdown(struct walk *walk, const char *name, const char *linkage,
					 const struct hp_frame *frame,
					 const struct hp_tally *tallies)
{
	struct hp_profiles *profiles = walk->profiles;
	const struct hp_breakdown *by = &profiles->by;
	struct row_key key;
	struct hp_row *row;

	if (!procedure_passes(profiles, name, linkage))
		return NULL;
	memset(&key, 0, sizeof(key));
	key.group = walk->group;
	key.image = by->has[HP_BY_IMAGE] ? walk->part->image : NULL;
	key.name = by->has[HP_BY_PROCEDURE] ? name : NULL;
	if (by->has[HP_BY_LINE] && frame && frame->file) {
		key.file = hp_profiles_intern(profiles, frame->file);
		key.line = frame->line;
		if (!key.file)
			return hp_error_create_no_memory();
	}
	row = rows_at(profiles, &key);
	if (!row)
		return hp_error_create_no_memory();
	add_to_row(profiles, row, tallies);
	return NULL;
}

static struct hp_error *add_located(struct walk *walk, uint64_t address,
				    const struct hp_frames *frames, const struct hp_tally *tallies)
{
	struct hp_profiles *profiles = walk->profiles;
	struct hp_error *error = enter_procedure(walk, address);

	if (error)
		return error;
	count_attribution(profiles, walk->part->image, attribution_of(walk->procedure), tallies);
	if (walk->by_image) {
		if (!procedure_passes(profiles, walk->name, walk->linkage))
			return NULL;
		return add_to_image(profiles, walk->part, tallies);
	}
	if (profiles->options->rows == HP_ROWS_OF_GROUPS)
		return add_to_breakdown(walk, walk->name, walk->linkage,
					frames->count ? &frames->frames[0] : NULL, tallies);
	if (profiles->options->rows == HP_ROWS_OF_LINES)
		return add_to_line(walk, frames, tallies);
	if (frames->count > 1 && frames->frames[0].function)
		return add_to_inlined(walk, &frames->frames[0], tallies);
	return add_to_procedure(walk, tallies);
}

/* Samples without a procedure are named image+0xOFFSET if the file could not be read, and after the
 * image alone if offsets are run-time addresses of a process. */
static struct hp_error *add_unlocated(struct walk *walk, size_t index)
{
	struct hp_profiles *profiles = walk->profiles;
	struct hp_loaded_part *part = walk->part;
	const struct hp_tally *tallies = &part->tallies[index * profiles->events.count];
	bool runtime = part->image->id.kind == HP_IMAGE_UNKNOWN ||
		       part->image->id.kind == HP_IMAGE_ANON;
	struct hp_error *error;
	struct row_key key;
	struct hp_row *row;

	count_attribution(profiles, part->image,
			  part->image->problem ? HP_NAMED_REFUSED : HP_NAMED_NOT, tallies);
	memset(&key, 0, sizeof(key));
	key.image = part->image;
	key.name = runtime ? hp_profiles_intern(profiles, part->image->id.path)
			   : hp_profiles_format(profiles, "%s+0x%" PRIx64,
						hp_image_basename(part->image->id.path),
						part->offsets[index]);
	if (!key.name)
		return hp_error_create_no_memory();
	if (walk->by_image) {
		if (!procedure_passes(profiles, key.name, NULL))
			return NULL;
		return add_to_image(profiles, part, tallies);
	}
	if (profiles->options->rows == HP_ROWS_OF_GROUPS) {
		walk->group = part->groups[index];
		return add_to_breakdown(walk, key.name, NULL, NULL, tallies);
	}
	error = add_named(profiles, &key, NULL, tallies, &row);
	if (error || !row || runtime || !profiles->options->needs_code)
		return error;
	return add_code(profiles, row, part, NULL, part->offsets[index]);
}

/* --- parts -------------------------------------------------------------------------------- */

HP_ORDER_BY_TWO(compare_located, struct hp_located, address, index);

/* Turns offsets into link-time addresses if the file has code there; others become rows at once. */
static struct hp_error *locate(struct walk *walk)
{
	struct hp_loaded_part *part = walk->part;
	bool runtime = part->image->id.kind == HP_IMAGE_UNKNOWN ||
		       part->image->id.kind == HP_IMAGE_ANON;
	bool sorted = true;

	part->located = calloc(part->count ? part->count : 1, sizeof(*part->located));
	if (!part->located)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < part->count; i++) {
		hp_image_offset offset = { part->offsets[i] };
		hp_link_address address;
		struct hp_error *error;

		if (part->file && !runtime && hp_image_link_address(part->file, offset, &address)) {
			struct hp_located located = { .address = address.value, .index = i };

			sorted = sorted && (!part->located_count ||
					    part->located[part->located_count - 1].address <=
						    located.address);
			part->located[part->located_count++] = located;
			continue;
		}
		error = add_unlocated(walk, i);
		if (error)
			return error;
	}
	if (!sorted)
		qsort(part->located, part->located_count, sizeof(*part->located), compare_located);
	return NULL;
}

/* A part that was moved out of a procedure counts for the procedure, with or without a name of its
 * own. */
static struct hp_error *join_cold_parts(const struct hp_loaded_part *part)
{
	_cleanup_free_ hp_link_address *addresses = NULL;

	if (!part->file || !part->located_count || part->image->id.kind != HP_IMAGE_FILE)
		return NULL;
	addresses = calloc(part->located_count, sizeof(*addresses));
	if (!addresses)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < part->located_count; i++)
		addresses[i].value = part->located[i].address;
	return hp_cfg_join_cold_parts(part->file, addresses, part->located_count);
}

/* Reads the frames of all located addresses. If the lines cannot be read, there are none, with a
 * notice. */
static struct hp_error *read_frames(const struct hp_profiles *profiles, struct hp_loaded_part *part,
				    struct hp_frames *frames)
{
	_cleanup_free_ hp_link_address *addresses = calloc(part->located_count, sizeof(*addresses));
	struct hp_error *error;

	if (!addresses)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < part->located_count; i++)
		addresses[i].value = part->located[i].address;
	error = hp_image_frames(part->file, addresses, part->located_count,
				profiles->options->inlines, frames);
	if (!error || error->errno_value == ENOMEM)
		return error;
	hp_profiles_warn(profiles, error->advice, "%s", error->message);
	hp_error_destroy(error);
	memset(frames, 0, part->located_count * sizeof(*frames));
	return NULL;
}

static struct hp_error *add_all_located(struct walk *walk)
{
	struct hp_loaded_part *part = walk->part;
	size_t events = walk->profiles->events.count;
	_cleanup_free_ struct hp_frames *frames = NULL;
	struct hp_error *error = NULL;

	if (needs_lines(walk->profiles) && part->located_count) {
		frames = calloc(part->located_count, sizeof(*frames));
		if (!frames)
			return hp_error_create_no_memory();
		error = read_frames(walk->profiles, part, frames);
	}
	for (size_t i = 0; i < part->located_count && !error; i++) {
		static const struct hp_frames none;

		walk->group = part->groups[part->located[i].index];
		error = add_located(walk, part->located[i].address, frames ? &frames[i] : &none,
				    &part->tallies[part->located[i].index * events]);
	}
	return error;
}

/* Adds everything to the image's row, without reading symbols. */
static struct hp_error *add_all_to_image(struct hp_profiles *profiles,
					 const struct hp_loaded_part *part)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < part->count && !error; i++)
		error = add_to_image(profiles, part, &part->tallies[i * profiles->events.count]);
	return error;
}

static struct hp_error *attribute_part(struct hp_profiles *profiles, struct hp_loaded_part *part)
{
	struct walk walk = {
		.profiles = profiles,
		.part = part,
		.by_image = profiles->options->rows == HP_ROWS_OF_IMAGES,
	};
	struct hp_error *error = open_file(profiles, part);

	if (!error && walk.by_image && !profiles->options->describes_images &&
	    !profiles->options->procedure)
		error = add_all_to_image(profiles, part);
	else if (!error)
		error = locate(&walk);
	if (!error)
		error = join_cold_parts(part);
	if (!error)
		error = add_all_located(&walk);
	if (part->file && hp_image_left_out(part->file))
		part->image->left_out = hp_image_left_out(part->file);
	if (part->file && !profiles->keeps_files) {
		hp_image_close(part->file);
		part->file = NULL;
	}
	return error;
}

/* --- a procedure that was asked for but has no samples ------------------------------------- */

struct hp_error *attribute_unsampled(struct hp_profiles *profiles, struct hp_loaded_part *part,
				     const struct hp_procedure *procedure)
{
	struct walk walk = { .profiles = profiles, .part = part, .procedure = procedure };
	_cleanup_free_ struct hp_tally *nothing =
		calloc(profiles->events.count + 1, sizeof(*nothing));

	walk.name = hp_profiles_intern(profiles, procedure->name);
	walk.linkage = procedure->linkage ? hp_profiles_intern(profiles, procedure->linkage)
					  : walk.name;
	if (!nothing || !walk.name || !walk.linkage)
		return hp_error_create_no_memory();
	return add_to_procedure(&walk, nothing);
}

struct hp_error *hp_profiles_attribute(struct hp_profiles *profiles)
{
	struct hp_error *error = NULL;

	profiles->attribution = hp_arena_array(profiles->arena,
					       HP_ATTRIBUTION_COUNT * (profiles->events.count + 1),
					       sizeof(*profiles->attribution));
	if (!profiles->attribution)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < profiles->parts.count && !error; i++)
		error = attribute_part(profiles, profiles->parts.at[i]);
	return error;
}
