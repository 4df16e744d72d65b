/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths of samples: the path of each sample is found at once and added to a calling-context
 * tree. Copied stacks and raw addresses are not kept.
 *
 * Where the kernel supplies a path (by frame pointers), that path is used. Otherwise user registers
 * and a piece of the stack come with the sample, and unwind tables of the images give the path.
 *
 * Where the copied piece of stack ends too early, the path continues as the latest complete path of
 * the same thread did from the same frame, and is marked there.
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
	uint64_t whole;	    /* those that reach the root */
	uint64_t joined;    /* … as an earlier path of the thread did, from some frame on */
	uint64_t truncated; /* the copied stack ended before */
	uint64_t lost;	    /* what came next was no code, or nobody knew how to go on */
	uint64_t frames;
	uint64_t guesses;     /* of the frames: found without a rule */
	uint32_t stack_bytes; /* copied per sample now; 0: not chosen here */
	size_t tables;
	uint64_t tables_ns; /* CPU time of making them */
	size_t table_bytes; /* in memory now */
};

/* `attributor` is borrowed, and its processes, images and streams are. */
struct hp_error *call_paths_create(enum hp_call_paths how, struct attributor *attributor,
				   struct call_paths **paths);
void call_paths_destroy(struct call_paths *paths);

/* The sizes of the stack that samples can come with, the smallest first (borrowed), and which they
 * come with at first. */
void call_paths_offer_stacks(struct call_paths *paths, const uint32_t *sizes, size_t count,
			     size_t first);
/* Which of them they are to come with from now on. */
size_t call_paths_choose_stack(struct call_paths *paths);

/* No more samples come, and all was written: gives back the memory, but for the figures. */
void call_paths_end(struct call_paths *paths);

/* Takes the path of a sample that was taken under this context, and counts as so many. */
void call_paths_take(struct call_paths *paths, const struct hp_record *record, uint32_t context,
		     uint64_t count);

/* Takes no path, but keeps it to continue others of the thread with. */
void call_paths_learn(struct call_paths *paths, const struct hp_record *record, uint32_t context);

/* Numbers of contexts are given out again from now on. */
void call_paths_forget_contexts(struct call_paths *paths);

/* Adds what there is to the epoch; kept for the next try when that fails. */
struct hp_error *call_paths_write(struct call_paths *paths, struct hp_epoch_writer *writer);

struct call_path_figures call_paths_figures(const struct call_paths *paths);

#endif
