/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From (context, pc) to (image, offset), and on to the database.
 *
 * Entries evicted from the sample table are sorted by context and address, so that one pass over
 * the mappings of a space serves many of them (Anderson et al. 1997, section 5.4). They are added
 * up in a bounded buffer until the next flush.
 */
#ifndef COLLECT_SAMPLES_ATTRIBUTE_H
#define COLLECT_SAMPLES_ATTRIBUTE_H

#include "../images/jit.h"
#include "../images/kernel.h"
#include "../maps/process.h"
#include "sample_table.h"
#include "../tuning.h"

#include <hpcprof/db/db.h>

/* The meaning of a context's stream number. */
struct stream {
	uint32_t event;
	uint64_t period; /* mean number of units between two samples */
};

struct streams {
	struct stream *at;
	size_t count;
	size_t capacity;
};
/* The stream's number, added if it is new; UINT32_MAX: out of memory. */
uint32_t streams_number(struct streams *streams, uint32_t event, uint64_t period);

/* Samples of one place. */
struct placed {
	struct image *image; /* a reference */
	uint64_t offset;
	uint32_t command;
	uint32_t pid; /* 0 unless samples are kept by process */
	uint32_t stream;
	uint32_t lane;
	uint32_t samples;
};

struct attributor {
	struct processes *processes; /* borrowed, as are images and streams */
	struct images *images;
	const struct streams *streams;
	char *const *event_names; /* by event; borrowed */
	bool per_process;
	struct kept kept;
	struct jit jit;
	struct kernel kernel;
	struct placed *placed;
	size_t placed_count;
	/* Called before each profile is written, which may wait for the disk. It may attribute more
	 * samples. */
	void (*meanwhile)(void *context);
	void *meanwhile_context;
	size_t images_written;	/* number of images in the epoch's index */
	uint64_t *unattributed; /* by event */
	/* by event: samples that were dropped, because memory or disk space was short for too
	 * long */
	uint64_t *dropped;
};

struct hp_error *attributor_create(struct attributor *attributor, struct processes *processes,
				   struct images *images, const struct streams *streams,
				   char *const *event_names, size_t event_count);
void attributor_clear(struct attributor *attributor);

/* Places entries, and changes their order. */
void attribute(struct attributor *attributor, struct sampled *entries, size_t count);

/* The image (a reference) and offset of an address in a context. `hint` is NULL at first, and may
 * be reused for the same context only. False: out of memory, or the kernel is unknown. */
bool attributor_place(struct attributor *attributor, const struct context *context,
		      uint64_t address, const struct mapping **hint, struct image **image,
		      uint64_t *offset);

/* Memory that a JIT compiler may have filled. */
bool attributor_may_be_generated(const struct mapping *mapping);

/* Whether it is more than half full after adding up, so it is time to write. */
bool attributor_is_full(struct attributor *attributor);

/* Writes what was placed before the call. What could not be written is kept for the next try. */
struct hp_error *attributor_write(struct attributor *attributor, struct hp_epoch_writer *writer);

/* Writes the names of code that will not exist later, as far as its addresses were placed. Samples
 * are placed before they are written, call paths while they are. */
struct hp_error *attributor_write_names(struct attributor *attributor,
					struct hp_epoch_writer *writer);

#endif
