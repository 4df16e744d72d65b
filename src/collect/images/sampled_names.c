/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampled_names.h"

#include "../tuning.h"
#include "trim.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/cfg/cfg.h>
#include <hpcprof/image/body.h>
#include <hpcprof/image/image.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An offset with samples, and its largest share of the samples of an event. */
struct sampled {
	uint64_t offset;
	double share;
	bool is_call; /* it is a call in a path; nothing was sampled or counted there */
};

struct offsets {
	HP_VECTOR(struct sampled) all; /* ascending */
};

/* What is left of the limits, for the following images. */
struct allowance {
	uint64_t code_bytes;
	uint64_t line_ns;
};

struct names {
	HP_VECTOR(struct hp_symbol) all; /* owned, including names and bodies */
	size_t bytes;
	uint64_t body_bytes; /* bytes of code */
};

HP_ORDER_BY(compare_offsets, struct sampled, offset);

static bool add_profile(struct offsets *offsets, const struct hp_profile *profile, uint64_t samples)
{
	for (size_t i = 0; i < profile->stratum_count; i++) {
		const struct hp_stratum *stratum = &profile->strata[i];

		if (!hp_vector_reserve(&offsets->all, offsets->all.count + stratum->count_count))
			return false;
		for (size_t j = 0; j < stratum->count_count; j++)
			offsets->all.at[offsets->all.count++] = (struct sampled){
				stratum->counts[j].offset.value,
				(double)stratum->counts[j].samples / (double)samples,
				false,
			};
	}
	return true;
}

static struct hp_error *list_offsets(struct hp_epoch_writer *writer, size_t index,
				     char *const *events, size_t event_count,
				     struct offsets *offsets)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < event_count && !error; i++) {
		struct hp_profile profile;

		error = hp_epoch_writer_read(writer, index, events[i], &profile);
		if (!error &&
		    !add_profile(offsets, &profile, hp_epoch_writer_samples(writer, events[i])))
			error = hp_error_create_no_memory();
		hp_profile_clear(&profile);
	}
	if (!error && offsets->all.count)
		qsort(offsets->all.at, offsets->all.count, sizeof(*offsets->all.at),
		      compare_offsets);
	return error;
}

/* A call is located one byte before its return address. */
static struct hp_error *add_callers(const struct hp_paths *paths, const struct hp_image_id *id,
				    struct offsets *offsets)
{
	uint32_t image = 0;
	bool fine = true;

	while (image < paths->images.count &&
	       hp_image_id_compare(&paths->images.at[image], id) != 0)
		image++;
	for (size_t i = 0; i < paths->nodes.count && image < paths->images.count && fine; i++) {
		const struct hp_path_node *node = &paths->nodes.at[i];
		bool is_return = !(node->flags & HP_PATH_EXACT) && node->offset;

		if (!hp_path_is_root(node) && node->image == image)
			fine = hp_vector_push(
				&offsets->all,
				(struct sampled){ node->offset - is_return, 0, is_return });
	}
	if (offsets->all.count)
		qsort(offsets->all.at, offsets->all.count, sizeof(*offsets->all.at),
		      compare_offsets);
	return fine ? NULL : hp_error_create_no_memory();
}

/* A caller of sampled code may have no samples itself. */
static struct hp_error *index_callers(struct hp_epoch_writer *writer, const struct hp_paths *paths)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < paths->images.count && !error; i++) {
		size_t index;

		if (paths->images.at[i].kind == HP_IMAGE_FILE)
			error = hp_epoch_writer_image(writer, &paths->images.at[i], &index);
	}
	return error;
}

/* Offset in the file of the part that begins `into` bytes before `offset`. False if it begins in
 * another segment. */
static bool find_start(const struct hp_image *image, const struct hp_procedure *part,
		       uint64_t offset, uint64_t into, hp_image_offset *start)
{
	hp_link_address address;

	*start = (hp_image_offset){ offset - into };
	return into <= offset && hp_image_link_address(image, *start, &address) &&
	       address.value == part->address.value && part->size <= UINT64_MAX - start->value;
}

/* As in the file, since a detached part is recognized by the procedure's body. */
static bool add_body(struct names *names, struct hp_image *image,
		     const struct hp_procedure *procedure, struct hp_symbol *symbol)
{
	if (procedure->size > MOST_BODY_BYTES - names->body_bytes)
		return true;
	names->body_bytes += procedure->size;
	symbol->body = malloc(sizeof(*symbol->body));
	if (symbol->body)
		hp_image_body(image, procedure, symbol->body);
	return symbol->body;
}

static bool add_name(struct names *names, struct hp_image *image, const struct hp_procedure *part,
		     hp_image_offset start, double share)
{
	const char *name = part->owner->linkage ? part->owner->linkage : part->owner->name;
	size_t length = strnlen(name, MOST_NAME_BYTES);
	struct hp_symbol symbol = { .offset = start, .size = part->size };

	names->bytes += length;
	if (names->bytes >= MOST_NAME_BYTES)
		return true;
	symbol.name = strdup(name);
	if (symbol.name &&
	    (share < HP_BODY_LEAST_SHARE || add_body(names, image, part->owner, &symbol)) &&
	    hp_vector_push(&names->all, symbol))
		return true;
	free(symbol.name);
	free(symbol.body);
	return false;
}

/* A procedure known only from unwind data is named by its address, which means nothing in another
 * build. */
static bool has_name(const struct hp_procedure *part)
{
	return part->owner->source == HP_PROCEDURE_SYMBOL ||
	       part->owner->source == HP_PROCEDURE_PLT;
}

/* The share of the offsets from index `first` on that lie before `end`. */
static double share_before(const struct offsets *offsets, size_t first, uint64_t end)
{
	double share = 0;

	for (size_t i = first; i < offsets->all.count && offsets->all.at[i].offset < end; i++)
		share += offsets->all.at[i].share;
	return share;
}

static bool list_names(struct hp_image *image, const struct offsets *offsets, struct names *names)
{
	uint64_t end = 0; /* end of what is known already */

	for (size_t i = 0; i < offsets->all.count && names->bytes < MOST_NAME_BYTES; i++) {
		uint64_t offset = offsets->all.at[i].offset;
		const struct hp_procedure *part;
		hp_link_address address;
		hp_image_offset start;

		if (offset < end ||
		    !hp_image_link_address(image, (hp_image_offset){ offset }, &address))
			continue;
		part = hp_image_procedure_at(image, address);
		if (!has_name(part) ||
		    !find_start(image, part, offset, address.value - part->address.value, &start) ||
		    start.value < end)
			continue;
		end = start.value + part->size;
		if (!add_name(names, image, part, start, share_before(offsets, i, end)))
			return false;
	}
	return true;
}

static struct hp_error *keep_names(struct hp_epoch_writer *writer, size_t index,
				   struct hp_image *image, const struct offsets *offsets)
{
	struct names names = { 0 };
	struct hp_error *error = NULL;

	if (!list_names(image, offsets, &names))
		error = hp_error_create_no_memory();
	else if (names.all.count && names.bytes < MOST_NAME_BYTES)
		error = hp_epoch_writer_symbols(writer, index, names.all.at, names.all.count);
	hp_symbols_free(names.all.at, names.all.count);
	return error;
}

static uint64_t less(uint64_t from, uint64_t taken)
{
	return from > taken ? from - taken : 0;
}

/* Code that windows counted may have no samples. */
static bool add_items(struct offsets *offsets, uint32_t image, const struct hp_counted *items,
		      size_t count)
{
	bool fine = true;

	for (size_t i = 0; i < count && fine; i++) {
		if (items[i].image == image)
			fine = hp_vector_push(&offsets->all,
					      (struct sampled){ items[i].at.value, 0, false });
		if (fine && items[i].to_image == image && !items[i].bytes)
			fine = hp_vector_push(&offsets->all,
					      (struct sampled){ items[i].to.value, 0, false });
	}
	return fine;
}

static struct hp_error *add_counted(const struct hp_window_evidence *evidence,
				    const struct hp_image_id *id, struct offsets *offsets)
{
	uint32_t image = 0;
	bool fine = true;

	while (image < evidence->image_count &&
	       hp_image_id_compare(&evidence->images[image], id) != 0)
		image++;
	for (size_t i = 0; i < evidence->stratum_count && image < evidence->image_count && fine;
	     i++) {
		const struct hp_window_stratum *stratum = &evidence->strata[i];

		fine = add_items(offsets, image, stratum->items, stratum->item_count) &&
		       add_items(offsets, image, stratum->probes, stratum->probe_count);
	}
	if (offsets->all.count)
		qsort(offsets->all.at, offsets->all.count, sizeof(*offsets->all.at),
		      compare_offsets);
	return fine ? NULL : hp_error_create_no_memory();
}

/* Lists each offset's address once. */
static struct hp_error *list_addresses(const struct hp_image *image, const struct offsets *offsets,
				       struct hp_excerpted **addresses, size_t *count)
{
	*count = 0;
	*addresses = calloc(offsets->all.count + 1, sizeof(**addresses));
	if (!*addresses)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < offsets->all.count; i++) {
		const struct sampled *sampled = &offsets->all.at[i];
		struct hp_excerpted *last;
		hp_link_address address;

		if (!hp_image_link_address(image, (hp_image_offset){ sampled->offset }, &address))
			continue;
		last = &(*addresses)[*count - !!*count];
		if (!*count || last->address.value != address.value) {
			(*addresses)[(*count)++] =
				(struct hp_excerpted){ address, sampled->share, sampled->is_call };
		} else {
			last->weight += sampled->share;
			last->is_call = last->is_call && sampled->is_call;
		}
	}
	return NULL;
}

static struct hp_error *keep_excerpt(const struct sampled_source *source, size_t index,
				     struct hp_image *image, const struct offsets *offsets,
				     struct allowance *allowance)
{
	const uint64_t begin = hp_clock_thread_ns();
	const struct hp_excerpt_options options = {
		.no_code = source->no_code,
		.most_code_bytes = allowance->code_bytes < MOST_CODE_BYTES ? allowance->code_bytes
									   : MOST_CODE_BYTES,
		.most_line_ns = allowance->line_ns,
	};
	_cleanup_free_ struct hp_excerpted *addresses = NULL;
	struct hp_excerpt excerpt = { 0 };
	size_t count;
	struct hp_error *error = list_addresses(image, offsets, &addresses, &count);

	if (!error)
		error = hp_cfg_excerpt(image, addresses, count, &options, &excerpt);
	if (!error)
		error = hp_epoch_writer_excerpt(source->writer, index, &excerpt);
	for (size_t i = 0; i < excerpt.ranges.count; i++)
		allowance->code_bytes = less(allowance->code_bytes, excerpt.ranges.at[i].size);
	allowance->line_ns = less(allowance->line_ns, hp_clock_thread_ns() - begin);
	hp_excerpt_clear(&excerpt);
	/* A damaged file is skipped; others still get their names. */
	if (error && error->errno_value == 0) {
		hp_error_destroy(error);
		error = NULL;
	}
	return error;
}

static struct hp_error *open_sampled(const struct sampled_source *source, size_t index,
				     struct hp_image **image)
{
	const struct hp_image_id *id = hp_epoch_writer_image_id(source->writer, index);
	struct hp_image_options options = { .no_server = true, .in_little_memory = true };
	char path[64];
	struct hp_error *error;

	if (source->held && held_files_path(source->held, id, path))
		options.bytes_path = path;
	error = hp_image_open(id, &options, image);
	if (!error || error->errno_value == ENOMEM)
		return error;
	hp_error_destroy(error);
	return NULL;
}

/* What an epoch has besides samples. */
struct beside {
	struct hp_window_evidence counted;
	struct hp_paths paths;
	struct allowance allowance;
};

static struct hp_error *keep_image(const struct sampled_source *source, size_t index,
				   struct offsets *offsets, struct beside *beside)
{
	const struct hp_image_id *id = hp_epoch_writer_image_id(source->writer, index);
	_cleanup_(hp_image_close_scope) struct hp_image *image = NULL;
	struct hp_error *error = add_callers(&beside->paths, id, offsets);

	if (!error && offsets->all.count)
		error = open_sampled(source, index, &image);
	if (error || !image)
		return error;
	error = keep_names(source->writer, index, image, offsets);
	if (!error)
		error = add_counted(&beside->counted, id, offsets);
	return error ? error : keep_excerpt(source, index, image, offsets, &beside->allowance);
}

static struct hp_error *keep_all(const struct sampled_source *source, struct beside *beside)
{
	struct hp_epoch_writer *writer = source->writer;
	struct hp_error *error = hp_epoch_writer_read_windows(writer, &beside->counted);

	if (!error)
		error = hp_epoch_writer_read_paths(writer, &beside->paths);
	if (!error)
		error = index_callers(writer, &beside->paths);
	for (size_t i = 0; i < hp_epoch_writer_image_count(writer) && !error; i++) {
		struct offsets offsets = { 0 };

		/* An image that was never identified could be any file by now. */
		if (hp_epoch_writer_image_id(writer, i)->kind != HP_IMAGE_FILE ||
		    hp_epoch_writer_image_id(writer, i)->identity.kind == HP_IDENTITY_NONE)
			continue;
		error = list_offsets(writer, i, source->events, source->event_count, &offsets);
		if (!error)
			error = keep_image(source, i, &offsets, beside);
		hp_vector_free(&offsets.all);
		/* Returns memory to the system, so that two large files do not need it at the same
		 * time. */
		trim_memory();
	}
	return error;
}

struct hp_error *sampled_names_keep(const struct sampled_source *source)
{
	struct beside beside = { .allowance = { MOST_CODE_BYTES_OF_ALL, most_line_ns } };
	struct hp_error *error = keep_all(source, &beside);

	hp_window_evidence_clear(&beside.counted);
	hp_paths_clear(&beside.paths);
	return hp_error_wrap(error, "keeping names and code");
}
