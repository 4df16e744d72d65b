/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attribute.h"

#include "../images/vdso.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <stdlib.h>
#include <string.h>

uint32_t streams_number(struct streams *streams, uint32_t event, uint64_t period)
{
	for (size_t i = 0; i < streams->count; i++) {
		if (streams->at[i].event == event && streams->at[i].period == period)
			return (uint32_t)i;
	}
	if (!hp_vector_push(streams, (struct stream){ .event = event, .period = period }))
		return UINT32_MAX;
	return (uint32_t)streams->count - 1;
}

static void free_arrays(struct attributor *attributor)
{
	free(attributor->placed);
	free(attributor->unattributed);
	free(attributor->dropped);
}

struct hp_error *attributor_create(struct attributor *attributor, struct processes *processes,
				   struct images *images, const struct streams *streams,
				   char *const *event_names, size_t event_count)
{
	*attributor = (struct attributor){
		.processes = processes,
		.images = images,
		.streams = streams,
		.event_names = event_names,
	};
	attributor->jit = (struct jit){ .images = images, .kept = &attributor->kept };
	attributor->kernel = (struct kernel){ .images = images, .kept = &attributor->kept };
	attributor->placed = malloc(PLACED_LIMIT * sizeof(*attributor->placed));
	attributor->unattributed = calloc(event_count, sizeof(uint64_t));
	attributor->dropped = calloc(event_count, sizeof(uint64_t));
	if (attributor->placed && attributor->unattributed && attributor->dropped)
		return NULL;
	free_arrays(attributor);
	*attributor = (struct attributor){ 0 };
	return hp_error_create_no_memory();
}

void attributor_clear(struct attributor *attributor)
{
	for (size_t i = 0; i < attributor->placed_count; i++)
		image_release(attributor->placed[i].image);
	kernel_clear(&attributor->kernel);
	jit_forget(&attributor->jit);
	kept_clear(&attributor->kept);
	free_arrays(attributor);
	*attributor = (struct attributor){ 0 };
}

/* --- placing --------------------------------------------------------------------------------- */

static bool is_kernel_address(uint64_t address)
{
	return sizeof(void *) == 8 && address >> 63;
}

static const struct mapping *find_mapping(const struct context *context, uint64_t address,
					  const struct mapping **hint)
{
	if (!*hint || address < (*hint)->start || address >= (*hint)->end)
		*hint = space_find(context->space, address);
	return *hint;
}

bool attributor_may_be_generated(const struct mapping *mapping)
{
	return !mapping->image || strncmp(mapping->image->id.path, "/memfd:", 7) == 0;
}

bool attributor_place(struct attributor *attributor, const struct context *context,
		      uint64_t address, const struct mapping **hint, struct image **image,
		      uint64_t *offset)
{
	const char *command = attributor->processes->commands.text[context->command];
	const struct mapping *mapping;

	if (is_kernel_address(address))
		return kernel_resolve(&attributor->kernel, address, image, offset);
	mapping = find_mapping(context, address, hint);
	if (mapping && attributor_may_be_generated(mapping) &&
	    jit_resolve(&attributor->jit, context->pid, command, address, image, offset))
		return true;
	*offset = address;
	if (!mapping) {
		*image = images_named(attributor->images, HP_IMAGE_UNKNOWN, "[unknown]", NULL);
	} else if (!mapping->image) {
		*image = jit_anonymous(&attributor->jit, command);
	} else {
		*image = mapping->image;
		(*image)->references++;
		*offset = mapping->offset + (address - mapping->start);
	}
	return *image != NULL;
}

HP_ORDER_BY_TWO(compare_sampled, struct sampled, context, address);

static void place_entry(struct attributor *attributor, const struct sampled *entry,
			const struct mapping **hint)
{
	const struct context *context = &attributor->processes->contexts[entry->context];
	uint32_t event = attributor->streams->at[context->stream].event;
	struct placed placed = {
		.command = context->command,
		.pid = attributor->per_process ? context->pid : 0,
		.stream = context->stream,
		.lane = context->lane,
		.samples = entry->count,
	};

	if (attributor->placed_count == PLACED_LIMIT ||
	    !attributor_place(attributor, context, entry->address, hint, &placed.image,
			      &placed.offset)) {
		attributor->dropped[event] += entry->count;
		return;
	}
	if (placed.image->id.kind == HP_IMAGE_UNKNOWN)
		attributor->unattributed[event] += entry->count;
	attributor->placed[attributor->placed_count++] = placed;
}

/* --- adding up -------------------------------------------------------------------------------- */

struct sort_context {
	const struct streams *streams;
	const struct names *commands;
	const struct lanes *lanes;
};

static int compare_lanes(uint32_t left, uint32_t right, const struct sort_context *sort)
{
	const struct lane *a = &sort->lanes->at[left];
	const struct lane *b = &sort->lanes->at[right];

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->thread != b->thread)
		return strcmp(sort->commands->text[a->thread], sort->commands->text[b->thread]);
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/* By image and event, which have a file each, then in the order of strata and offsets in a
 * profile. */
static int compare_placed(const void *left, const void *right, void *context)
{
	const struct sort_context *sort = context;
	const struct placed *a = left;
	const struct placed *b = right;
	const struct stream *x = &sort->streams->at[a->stream];
	const struct stream *y = &sort->streams->at[b->stream];

	if (a->image != b->image)
		return (uintptr_t)a->image < (uintptr_t)b->image ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (a->command != b->command)
		return strcmp(sort->commands->text[a->command], sort->commands->text[b->command]);
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->lane != b->lane)
		return compare_lanes(a->lane, b->lane, sort);
	if (x->period != y->period)
		return x->period < y->period ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sorts, and adds up entries of the same place. */
static void add_up(struct attributor *attributor)
{
	struct sort_context sort = { attributor->streams, &attributor->processes->commands,
				     &attributor->processes->lanes };
	struct placed *placed = attributor->placed;
	size_t n = 0;

	qsort_r(placed, attributor->placed_count, sizeof(*placed), compare_placed, &sort);
	for (size_t i = 0; i < attributor->placed_count; i++) {
		if (n && compare_placed(&placed[n - 1], &placed[i], &sort) == 0 &&
		    placed[n - 1].samples <= UINT32_MAX - placed[i].samples) {
			placed[n - 1].samples += placed[i].samples;
			image_release(placed[i].image);
		} else {
			placed[n++] = placed[i];
		}
	}
	attributor->placed_count = n;
}

void attribute(struct attributor *attributor, struct sampled *entries, size_t count)
{
	const struct mapping *hint = NULL;

	/* Tried before anything is dropped, since most places occur again and again. */
	if (attributor->placed_count + count > PLACED_LIMIT)
		add_up(attributor);
	qsort(entries, count, sizeof(*entries), compare_sampled);
	for (size_t i = 0; i < count; i++) {
		if (i && entries[i].context != entries[i - 1].context)
			hint = NULL;
		place_entry(attributor, &entries[i], &hint);
	}
	jit_forget(&attributor->jit);
}

bool attributor_is_full(struct attributor *attributor)
{
	/* Room for what a flush takes out of the sample table. */
	enum { RESERVE = SAMPLE_TABLE_WAYS * SAMPLE_TABLE_BUCKETS + SAMPLE_OVERFLOW_ENTRIES };

	if (attributor->placed_count < PLACED_LIMIT - RESERVE)
		return false;
	add_up(attributor);
	return attributor->placed_count > PLACED_LIMIT / 2;
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool same_stratum(const struct attributor *attributor, const struct placed *a,
			 const struct placed *b)
{
	return a->command == b->command && a->pid == b->pid && a->lane == b->lane &&
	       attributor->streams->at[a->stream].period ==
		       attributor->streams->at[b->stream].period;
}

struct strata {
	struct hp_stratum *at;
	size_t count;
	size_t capacity;
};

/* False: out of memory. */
static bool name_lane(const struct attributor *attributor, const struct lane *lane,
		      struct hp_stratum *share)
{
	const char *name = attributor->processes->commands.text[lane->thread];

	share->tid = lane->tid;
	share->cpu = lane->cpu;
	share->thread = *name ? strdup(name) : NULL;
	return !*name || share->thread;
}

/* Appends the stratum that starts at `placed[0]`. Returns its number of entries; 0: out of
 * memory. */
static size_t take_stratum(const struct attributor *attributor, const struct placed *placed,
			   size_t count, struct strata *strata)
{
	struct hp_stratum *stratum;
	size_t n = 0;

	if (!hp_vector_push(strata, (struct hp_stratum){ 0 }))
		return 0;
	while (n < count && same_stratum(attributor, placed, &placed[n]))
		n++;
	stratum = &strata->at[strata->count - 1];
	*stratum = (struct hp_stratum){
		.command = strdup(attributor->processes->commands.text[placed->command]),
		.pid = placed->pid,
		.period = attributor->streams->at[placed->stream].period,
		.counts = calloc(n + 1, sizeof(*stratum->counts)),
	};
	if (!stratum->command || !stratum->counts ||
	    !name_lane(attributor, &attributor->processes->lanes.at[placed->lane], stratum))
		return 0;
	for (size_t i = 0; i < n; i++) {
		size_t last = stratum->count_count;

		if (last && stratum->counts[last - 1].offset.value == placed[i].offset)
			stratum->counts[last - 1].samples += placed[i].samples;
		else
			stratum->counts[stratum->count_count++] = (struct hp_count){
				.offset = { placed[i].offset },
				.samples = placed[i].samples,
			};
	}
	return n;
}

/* The vdso is not a file, so its bytes are stored in the epoch. */
static struct hp_error *write_vdso(struct hp_epoch_writer *writer, const struct image *image)
{
	struct hp_identity identity = vdso_identity();
	size_t size;
	const void *bytes = vdso_bytes(&size);

	if (!bytes || !hp_identity_equal(&identity, &image->id.identity))
		return NULL;
	return hp_epoch_writer_bytes(writer, image->db_index, bytes, size);
}

static struct hp_error *index_image(struct attributor *attributor, struct hp_epoch_writer *writer,
				    struct image *image)
{
	struct hp_error *error;

	if (image->db_index != SIZE_MAX)
		return NULL;
	error = hp_epoch_writer_image(writer, &image->id, &image->db_index);
	if (!error && image->db_index >= attributor->images_written)
		attributor->images_written = image->db_index + 1;
	if (!error && image->id.kind == HP_IMAGE_VDSO)
		error = write_vdso(writer, image);
	return error;
}

static size_t profile_length(const struct attributor *attributor, const struct placed *placed,
			     size_t count)
{
	const struct stream *streams = attributor->streams->at;
	size_t n = 1;

	while (n < count && placed[n].image == placed[0].image &&
	       streams[placed[n].stream].event == streams[placed[0].stream].event)
		n++;
	return n;
}

/* Samples told by thread or CPU also count in the strata of all. Takes over the strata. */
static struct hp_error *fill_profile(const struct attributor *attributor, struct strata *strata,
				     struct hp_profile *profile)
{
	const struct lanes *lanes = &attributor->processes->lanes;

	if (!lanes->per_thread && !lanes->per_cpu) {
		profile->strata = strata->at;
		profile->stratum_count = strata->count;
		return NULL;
	}
	profile->shares = strata->at;
	profile->share_count = strata->count;
	return hp_shares_sum(profile->shares, profile->share_count, &profile->strata,
			     &profile->stratum_count);
}

/* Writes the `count` entries of one image and event. */
static struct hp_error *write_profile(struct attributor *attributor, struct hp_epoch_writer *writer,
				      const struct placed *placed, size_t count)
{
	uint32_t event = attributor->streams->at[placed->stream].event;
	struct hp_profile profile = { 0 };
	struct strata strata = { 0 };
	struct hp_error *error = index_image(attributor, writer, placed->image);

	if (error)
		return error;
	error = hp_image_id_copy(&placed->image->id, &profile.image);
	profile.event = strdup(attributor->event_names[event]);
	if (!error && !profile.event)
		error = hp_error_create_no_memory();
	for (size_t done = 0; !error && done < count;) {
		size_t taken = take_stratum(attributor, placed + done, count - done, &strata);

		if (!taken)
			error = hp_error_create_no_memory();
		done += taken;
	}
	if (error)
		hp_strata_free(strata.at, strata.count);
	else
		error = fill_profile(attributor, &strata, &profile);
	if (!error)
		error = hp_epoch_writer_add(writer, &profile);
	hp_profile_clear(&profile);
	return error;
}

struct saving {
	struct attributor *attributor;
	struct hp_epoch_writer *writer;
};

static struct hp_error *save_symbols(struct image *image, const struct hp_symbol *symbols,
				     size_t count, void *context)
{
	const struct saving *saving = context;
	struct hp_error *error = index_image(saving->attributor, saving->writer, image);

	if (error)
		return error;
	return hp_epoch_writer_symbols(saving->writer, image->db_index, symbols, count);
}

/* Puts them back, after those that were placed meanwhile. */
static void put_back(struct attributor *attributor, const struct placed *placed, size_t count)
{
	if (attributor->placed_count + count > PLACED_LIMIT)
		add_up(attributor);
	for (size_t i = 0; i < count; i++) {
		if (attributor->placed_count < PLACED_LIMIT) {
			attributor->placed[attributor->placed_count++] = placed[i];
			continue;
		}
		attributor->dropped[attributor->streams->at[placed[i].stream].event] +=
			placed[i].samples;
		image_release(placed[i].image);
	}
}

struct hp_error *attributor_write(struct attributor *attributor, struct hp_epoch_writer *writer)
{
	struct placed *empty = malloc(PLACED_LIMIT * sizeof(*empty));
	_cleanup_free_ struct placed *placed = NULL;
	struct hp_error *error = NULL;
	size_t placed_count;
	size_t done = 0;

	if (!empty)
		return hp_error_create_no_memory();
	add_up(attributor);
	placed = attributor->placed;
	placed_count = attributor->placed_count;
	attributor->placed = empty;
	attributor->placed_count = 0;
	while (!error && done < placed_count) {
		const struct placed *from = placed + done;
		size_t count = profile_length(attributor, from, placed_count - done);

		if (attributor->meanwhile)
			attributor->meanwhile(attributor->meanwhile_context);
		error = write_profile(attributor, writer, from, count);
		if (error)
			break;
		for (size_t i = 0; i < count; i++)
			image_release(from[i].image);
		done += count;
	}
	put_back(attributor, placed + done, placed_count - done);
	return error;
}

struct hp_error *attributor_write_names(struct attributor *attributor,
					struct hp_epoch_writer *writer)
{
	struct saving saving = { attributor, writer };

	return attributor->kept.changed ? kept_save(&attributor->kept, save_symbols, &saving)
					: NULL;
}
