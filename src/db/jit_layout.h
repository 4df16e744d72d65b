/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of one image, brought together from several epochs.
 *
 * For most images the names agree and are simply united. In a JIT image each epoch gave its names
 * extents as they came, so the same offset means different code: there the union is laid out anew,
 * names sorted, each with the largest of its sizes, and samples move with their names. The result
 * depends on the set of names and sizes only, hence not on the order of merging.
 */
#ifndef HPCPROF_SRC_DB_JIT_LAYOUT_H
#define HPCPROF_SRC_DB_JIT_LAYOUT_H

#include <hpcprof/model/profile.h>

/* The name that takes in JIT samples outside all names. */
#define HP_JIT_UNNAMED "[unnamed]"

struct hp_jit_source {
	size_t epoch;
	struct hp_symbol *symbols;
	size_t count;
};

struct hp_jit_layout {
	struct hp_jit_source *sources;
	size_t source_count;
	struct hp_symbol *merged; /* after finish */
	size_t merged_count;
};

/* Takes over `symbols`. */
struct hp_error *hp_jit_layout_add(struct hp_jit_layout *layout, size_t epoch,
				   struct hp_symbol *symbols, size_t count);
struct hp_error *hp_jit_layout_finish(struct hp_jit_layout *layout, bool anew);
/* Moves a profile of `epoch` into the new layout. */
struct hp_error *hp_jit_layout_move(const struct hp_jit_layout *layout, size_t epoch,
				    struct hp_profile *profile);
void hp_jit_layout_clear(struct hp_jit_layout *layout);

#endif
