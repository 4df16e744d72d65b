/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths of samples: the path of each sample is found at once and added to a calling-context
 * tree. Copied stacks and raw addresses are not kept.
 *
 * Where the kernel supplies a path (by frame pointers), that path is used. Otherwise user registers
 * and a piece of the stack come with the sample, and unwind tables of the images give the path.
 *
 * Where the copied piece of stack ends too early, the path continues as the latest complete path of
 * the same thread did from the same frame, and is marked at its beginning.
 *
 * Code in files is stored as image and offset. Addresses in generated code and in the kernel stay
 * raw until the tree is written, as in the rest of a recording: names of generated code come late,
 * and one look-up per address is enough.
 */
#ifndef COLLECT_PATHS_CALL_PATHS_H
#define COLLECT_PATHS_CALL_PATHS_H

#include "tables.h"
#include "../samples/attribute.h"

#include <hpcprof/collect/session.h>
#include <hpcprof/model/paths.h>
#include <hpcprof/sample/record.h>

struct call_paths;

struct call_path_figures {
	uint64_t samples;
	uint64_t whole;	 /* paths that reach the root */
	uint64_t joined; /* of the whole ones, those completed from an earlier path of the thread */
	/* Joins that deep samples checked, and those of them that were wrong. */
	uint64_t checked;
	uint64_t wrong;
	uint64_t truncated; /* the copied stack ended too early */
	uint64_t lost;	    /* the next address was no code, or the frame had no rule */
	uint64_t frames;
	uint64_t guesses;     /* frames found without a rule */
	uint32_t stack_bytes; /* bytes copied per sample now; 0: the size is not chosen here */
	size_t tables;	      /* made so far */
	size_t table_bytes;   /* in memory now */
};

/* Creates it. `attributor` is borrowed, with its processes, images and streams. */
struct hp_error *call_paths_create(enum hp_call_paths how, struct attributor *attributor,
				   struct call_paths **paths);
void call_paths_destroy(struct call_paths *paths);

/* Sets the sizes of stack that samples can have, in ascending order (borrowed), and the index of
 * the first one in use. */
void call_paths_offer_stacks(struct call_paths *paths, const uint32_t *sizes, size_t count,
			     size_t first);
/* Returns the index of the size for the next samples. */
size_t call_paths_choose_stack(struct call_paths *paths, uint64_t now_ns);

/* Call after the last sample and write: frees everything but the figures. */
void call_paths_end(struct call_paths *paths);

/* Finds the path of a sample in this context and adds it with this weight. */
void call_paths_take(struct call_paths *paths, const struct hp_record *record, uint32_t context,
		     uint64_t count);

/* Finds the path of a deep sample without counting it: later paths of the thread may be completed
 * from it. */
void call_paths_learn(struct call_paths *paths, const struct hp_record *record, uint32_t context);

/* Call when numbers of contexts are reused. */
void call_paths_forget_contexts(struct call_paths *paths);

/* Adds the paths so far to the epoch; after an error they are kept for the next try. */
struct hp_error *call_paths_write(struct call_paths *paths, struct hp_epoch_writer *writer);

struct call_path_figures call_paths_figures(const struct call_paths *paths);

#endif
