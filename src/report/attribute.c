/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attribute.h"

#include "kept.h"
#include "rows.h"

#include <hpcprof/model/procedure_name.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool needs_lines(const struct report *report)
{
	return report->options->view == HP_VIEW_LINES || report->by.has[BY_LINE] ||
	       (report->options->view == HP_VIEW_PROCEDURES && report->options->inlines);
}

/* --- opening ------------------------------------------------------------------------------ */

static struct hp_error *read_kept_symbols(struct report_part *part)
{
	if (part->image->id.kind == HP_IMAGE_FILE || !part->epoch)
		return NULL;
	return hp_epoch_read_symbols(part->epoch, part->epoch_image, &part->symbols,
				     &part->symbol_count, NULL);
}

/* The report goes on without the file, and says so. */
static struct hp_error *refuse(struct report *report, struct report_image *image,
			       struct hp_error *error)
{
	if (error->errno_value == ENOMEM)
		return error;
	if (!error->advice && error->class == HP_ERROR_NOT_FOUND)
		error = hp_error_advise(
			error, report->options->symfs
				       ? "put it there, or leave --symfs out"
				       : "if it is kept elsewhere, --symfs DIR looks for every "
					 "file below DIR");
	image->problem = report_intern(report, error->message);
	if (error->advice)
		image->advice = report_intern(report, error->advice);
	if (report_is_noticed(report, image))
		report_warn(report, error->advice, "%s", error->message);
	hp_error_destroy(error);
	return image->problem ? NULL : hp_error_create_no_memory();
}

static struct hp_error *describe_file(struct report *report, struct report_part *part)
{
	struct report_image *image = part->image;

	if (report->options->view != HP_VIEW_SUMMARY)
		return NULL;
	image->origin = report_intern(report, hp_image_symbol_origin(part->file));
	image->has_lines = hp_image_has_lines(part->file);
	return image->origin ? NULL : hp_error_create_no_memory();
}

/* Takes over `unread`. */
static struct hp_error *do_without(struct report *report, struct report_part *part,
				   struct hp_error *unread)
{
	struct hp_error *error = NULL;

	if (part->image->id.kind == HP_IMAGE_FILE && unread->errno_value != ENOMEM)
		error = kept_open(report, part, unread->message);
	if (!error && !part->file)
		return refuse(report, part->image, unread);
	hp_error_destroy(unread);
	return error ? error : describe_file(report, part);
}

static struct hp_error *open_file(struct report *report, struct report_part *part)
{
	struct hp_image_options options = {
		.symfs = report->options->symfs,
		.no_debuginfo = report->options->no_debuginfo,
	};
	struct report_image *image = part->image;
	struct hp_error *error = read_kept_symbols(part);

	if (error)
		return error;
	options.symbols = part->symbols;
	options.symbol_count = part->symbol_count;
	if (image->id.kind == HP_IMAGE_VDSO && part->epoch)
		options.bytes_path = hp_epoch_bytes_path(part->epoch, part->epoch_image);
	error = hp_image_open(&image->id, &options, &part->file);
	if (error) {
		part->file = NULL;
		return do_without(report, part, error);
	}
	if (image->id.kind == HP_IMAGE_FILE && image->id.identity.kind == HP_IDENTITY_NONE &&
	    report_is_noticed(report, image))
		report_warn(report, "it has no build-id and was gone before it could be read",
			    "%s: nothing tells whether this is the file that ran; its names may be "
			    "wrong",
			    image->id.path);
	return describe_file(report, part);
}

/* --- rows --------------------------------------------------------------------------------- */

static void add_tallies(const struct report *report, struct tally *into,
			const struct tally *tallies)
{
	for (size_t i = 0; i < report->events.count; i++)
		tally_add(&into[i], &tallies[i]);
}

static void add_to_row(struct report *report, struct row *row, const struct tally *tallies)
{
	add_tallies(report, row->tallies, tallies);
	for (size_t i = 0; i < report->events.count; i++)
		tally_add(&report->events.at[i].kept, &tallies[i]);
}

static void count_attribution(struct report *report, const struct report_image *image,
			      enum attribution how, const struct tally *tallies)
{
	add_tallies(report, &report->attribution[(size_t)how * report->events.count], tallies);
	if (how == NAMED_BY_EXTENT || how == NAMED_NOT)
		add_tallies(report, image->nameless, tallies);
}

static bool procedure_passes(const struct report *report, const char *name, const char *linkage)
{
	const char *pattern = report->options->procedure;

	return !pattern || hp_name_fit(name, linkage, pattern) <= HP_NAME_GLOB;
}

static struct hp_error *add_code(struct report *report, struct row *row, struct report_part *part,
				 const struct hp_procedure *procedure, uint64_t offset)
{
	struct row_code *code = row->code;

	for (; code; code = code->next)
		if (code->part == part &&
		    (procedure ? code->procedure == procedure : code->offset == offset))
			return NULL;
	code = hp_arena_alloc(report->arena, sizeof(*code));
	if (!code)
		return hp_error_create_no_memory();
	*code = (struct row_code){
		.part = part, .procedure = procedure, .offset = offset, .next = row->code
	};
	row->code = code;
	return NULL;
}

/* Adds `tallies` to the row of `key` if its name passes. Out: the row, or NULL when it does not. */
static struct hp_error *add_named(struct report *report, const struct row_key *key,
				  const char *linkage, const struct tally *tallies,
				  struct row **row)
{
	*row = NULL;
	if (!procedure_passes(report, key->name, linkage))
		return NULL;
	*row = rows_at(report, key);
	if (!*row)
		return hp_error_create_no_memory();
	if (linkage && !(*row)->linkage)
		(*row)->linkage = linkage;
	add_to_row(report, *row, tallies);
	return NULL;
}

/* In the views that have one row an image. */
static struct hp_error *add_to_image(struct report *report, const struct report_part *part,
				     const struct tally *tallies)
{
	struct row_key key;
	struct row *row;

	memset(&key, 0, sizeof(key));
	key.image = part->image;
	row = rows_at(report, &key);
	if (!row)
		return hp_error_create_no_memory();
	add_to_row(report, row, tallies);
	return NULL;
}

/* One procedure at a time: addresses come in order, so most samples find the one before. */
struct walk {
	struct report *report;
	struct report_part *part;
	const struct hp_procedure *procedure; /* part of a procedure that `end` closes */
	const char *name;
	const char *linkage;
	bool by_image;
	uint32_t group; /* of a breakdown */
};

/* Generated code has synthetic addresses, which mean nothing outside their epoch. */
static bool address_means_something(const struct report_part *part)
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
	walk->name = report_intern(walk->report, at->owner->name);
	walk->linkage = at->owner->linkage ? report_intern(walk->report, at->owner->linkage)
					   : walk->name;
	return walk->name && walk->linkage ? NULL : hp_error_create_no_memory();
}

static enum attribution attribution_of(const struct hp_procedure *procedure)
{
	switch (procedure->source) {
	case HP_PROCEDURE_SYMBOL:
		return NAMED_BY_SYMBOL;
	case HP_PROCEDURE_PLT:
		return NAMED_BY_PLT;
	case HP_PROCEDURE_EH_FRAME:
		return NAMED_BY_EXTENT;
	case HP_PROCEDURE_GAP:
		break;
	}
	return NAMED_NOT;
}

static struct hp_error *add_to_procedure(struct walk *walk, const struct tally *tallies)
{
	const struct hp_procedure *owner = walk->procedure->owner;
	bool addressed = address_means_something(walk->part);
	struct hp_error *error;
	struct row_key key;
	struct row *row;

	memset(&key, 0, sizeof(key));
	key.image = walk->part->image;
	key.name = walk->name;
	key.address = addressed ? owner->address.value : 0;
	error = add_named(walk->report, &key, walk->linkage, tallies, &row);
	if (error || !row)
		return error;
	row->has_address = addressed;
	row->address = key.address;
	row->size = addressed ? owner->size : 0;
	if (!report_keeps_files(walk->report))
		return NULL;
	return add_code(walk->report, row, walk->part, owner, 0);
}

/* The function that the source says the code is of, when it was inlined here. */
static struct hp_error *add_to_inlined(struct walk *walk, const struct hp_frame *frame,
				       const struct tally *tallies)
{
	struct row_key key;
	struct row *row;

	memset(&key, 0, sizeof(key));
	key.image = walk->part->image;
	key.name = report_intern(walk->report, frame->function);
	key.inlined = 1;
	if (!key.name)
		return hp_error_create_no_memory();
	return add_named(walk->report, &key, NULL, tallies, &row);
}

static struct hp_error *add_to_line(struct walk *walk, const struct hp_frames *frames,
				    const struct tally *tallies)
{
	const struct hp_frame *frame = frames->count ? &frames->frames[0] : NULL;
	const char *linkage = walk->linkage;
	struct row_key key;
	struct row *row;

	memset(&key, 0, sizeof(key));
	key.image = walk->part->image;
	key.name = walk->name;
	if (walk->report->options->inlines && frames->count > 1 && frame->function) {
		key.name = report_intern(walk->report, frame->function);
		key.inlined = 1;
		linkage = NULL;
	}
	if (frame && frame->file) {
		key.file = report_intern(walk->report, frame->file);
		key.line = frame->line;
		if (!key.file)
			return hp_error_create_no_memory();
	}
	if (!key.name)
		return hp_error_create_no_memory();
	return add_named(walk->report, &key, linkage, tallies, &row);
}

/* What the breakdown does not ask for is not told apart. `frame` may be NULL. */
static struct hp_error *add_to_breakdown(struct walk *walk, const char *name, const char *linkage,
					 const struct hp_frame *frame, const struct tally *tallies)
{
	struct report *report = walk->report;
	const struct breakdown *by = &report->by;
	struct row_key key;
	struct row *row;

	if (!procedure_passes(report, name, linkage))
		return NULL;
	memset(&key, 0, sizeof(key));
	key.group = walk->group;
	key.image = by->has[BY_IMAGE] ? walk->part->image : NULL;
	key.name = by->has[BY_PROCEDURE] ? name : NULL;
	if (by->has[BY_LINE] && frame && frame->file) {
		key.file = report_intern(report, frame->file);
		key.line = frame->line;
		if (!key.file)
			return hp_error_create_no_memory();
	}
	row = rows_at(report, &key);
	if (!row)
		return hp_error_create_no_memory();
	add_to_row(report, row, tallies);
	return NULL;
}

static struct hp_error *add_located(struct walk *walk, uint64_t address,
				    const struct hp_frames *frames, const struct tally *tallies)
{
	struct report *report = walk->report;
	struct hp_error *error = enter_procedure(walk, address);

	if (error)
		return error;
	count_attribution(report, walk->part->image, attribution_of(walk->procedure), tallies);
	if (walk->by_image) {
		if (!procedure_passes(report, walk->name, walk->linkage))
			return NULL;
		return add_to_image(report, walk->part, tallies);
	}
	if (report->options->view == HP_VIEW_BREAKDOWN)
		return add_to_breakdown(walk, walk->name, walk->linkage,
					frames->count ? &frames->frames[0] : NULL, tallies);
	if (report->options->view == HP_VIEW_LINES)
		return add_to_line(walk, frames, tallies);
	if (frames->count > 1 && frames->frames[0].function)
		return add_to_inlined(walk, &frames->frames[0], tallies);
	return add_to_procedure(walk, tallies);
}

/* Samples without a procedure: image+0xOFFSET where the file is refused, the image's own name
 * where offsets are run-time addresses of some process. */
static struct hp_error *add_unlocated(struct walk *walk, size_t index)
{
	struct report *report = walk->report;
	struct report_part *part = walk->part;
	const struct tally *tallies = &part->tallies[index * report->events.count];
	bool runtime = part->image->id.kind == HP_IMAGE_UNKNOWN ||
		       part->image->id.kind == HP_IMAGE_ANON;
	struct hp_error *error;
	struct row_key key;
	struct row *row;

	count_attribution(report, part->image, part->image->problem ? NAMED_REFUSED : NAMED_NOT,
			  tallies);
	memset(&key, 0, sizeof(key));
	key.image = part->image;
	key.name = runtime ? report_intern(report, part->image->id.path)
			   : report_format(report, "%s+0x%" PRIx64,
					   report_basename(part->image->id.path),
					   part->offsets[index]);
	if (!key.name)
		return hp_error_create_no_memory();
	if (walk->by_image) {
		if (!procedure_passes(report, key.name, NULL))
			return NULL;
		return add_to_image(report, part, tallies);
	}
	if (report->options->view == HP_VIEW_BREAKDOWN) {
		walk->group = part->groups[index];
		return add_to_breakdown(walk, key.name, NULL, NULL, tallies);
	}
	error = add_named(report, &key, NULL, tallies, &row);
	if (error || !row || runtime || !report_needs_code(report->options))
		return error;
	return add_code(report, row, part, NULL, part->offsets[index]);
}

/* --- parts -------------------------------------------------------------------------------- */

static int compare_located(const void *left, const void *right)
{
	const struct located *a = left;
	const struct located *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Offsets that the file has code at, as link-time addresses; the others go to rows at once. */
static struct hp_error *locate(struct walk *walk)
{
	struct report_part *part = walk->part;
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
			struct located located = { .address = address.value, .index = i };

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

/* What was moved out of a procedure counts for it, with a name of its own or without. */
static struct hp_error *join_cold_parts(const struct report_part *part)
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

/* Frames of every located address; none, with a word about it, when the lines cannot be read. */
static struct hp_error *read_frames(const struct report *report, struct report_part *part,
				    struct hp_frames *frames)
{
	_cleanup_free_ hp_link_address *addresses = calloc(part->located_count, sizeof(*addresses));
	struct hp_error *error;

	if (!addresses)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < part->located_count; i++)
		addresses[i].value = part->located[i].address;
	error = hp_image_frames(part->file, addresses, part->located_count,
				report->options->inlines, frames);
	if (!error || error->errno_value == ENOMEM)
		return error;
	report_warn(report, error->advice, "%s", error->message);
	hp_error_destroy(error);
	memset(frames, 0, part->located_count * sizeof(*frames));
	return NULL;
}

static struct hp_error *add_all_located(struct walk *walk)
{
	struct report_part *part = walk->part;
	size_t events = walk->report->events.count;
	_cleanup_free_ struct hp_frames *frames = NULL;
	struct hp_error *error = NULL;

	if (needs_lines(walk->report) && part->located_count) {
		frames = calloc(part->located_count, sizeof(*frames));
		if (!frames)
			return hp_error_create_no_memory();
		error = read_frames(walk->report, part, frames);
	}
	for (size_t i = 0; i < part->located_count && !error; i++) {
		static const struct hp_frames none;

		walk->group = part->groups[part->located[i].index];
		error = add_located(walk, part->located[i].address, frames ? &frames[i] : &none,
				    &part->tallies[part->located[i].index * events]);
	}
	return error;
}

/* Without reading any symbols: the image is all that the row wants to know. */
static struct hp_error *add_all_to_image(struct report *report, const struct report_part *part)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < part->count && !error; i++)
		error = add_to_image(report, part, &part->tallies[i * report->events.count]);
	return error;
}

static struct hp_error *attribute_part(struct report *report, struct report_part *part)
{
	struct walk walk = {
		.report = report,
		.part = part,
		.by_image = report->options->view == HP_VIEW_IMAGES ||
			    report->options->view == HP_VIEW_SUMMARY,
	};
	struct hp_error *error = open_file(report, part);

	if (!error && report->options->view == HP_VIEW_IMAGES && !report->options->procedure)
		error = add_all_to_image(report, part);
	else if (!error)
		error = locate(&walk);
	if (!error)
		error = join_cold_parts(part);
	if (!error)
		error = add_all_located(&walk);
	if (part->file && hp_image_left_out(part->file))
		part->image->left_out = hp_image_left_out(part->file);
	if (part->file && !report_keeps_files(report)) {
		hp_image_close(part->file);
		part->file = NULL;
	}
	return error;
}

/* --- a procedure that was asked for but has no samples ------------------------------------- */

struct hp_error *attribute_unsampled(struct report *report, struct report_part *part,
				     const struct hp_procedure *procedure)
{
	struct walk walk = { .report = report, .part = part, .procedure = procedure };
	_cleanup_free_ struct tally *nothing = calloc(report->events.count + 1, sizeof(*nothing));

	walk.name = report_intern(report, procedure->name);
	walk.linkage = procedure->linkage ? report_intern(report, procedure->linkage) : walk.name;
	if (!nothing || !walk.name || !walk.linkage)
		return hp_error_create_no_memory();
	return add_to_procedure(&walk, nothing);
}

struct hp_error *attribute_samples(struct report *report)
{
	struct hp_error *error = NULL;

	report->attribution = hp_arena_array(report->arena,
					     ATTRIBUTION_COUNT * (report->events.count + 1),
					     sizeof(*report->attribution));
	if (!report->attribution)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < report->parts.count && !error; i++)
		error = attribute_part(report, report->parts.at[i]);
	return error;
}
