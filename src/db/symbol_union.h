/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges two lists of an image's names, of two epochs or two flushes. */
#ifndef HPCPROF_SRC_DB_SYMBOL_UNION_H
#define HPCPROF_SRC_DB_SYMBOL_UNION_H

#include <hpcprof/model/profile.h>

/*
 * `united` gets the names of both, sorted and not overlapping; it points to the strings of `a` and
 * `b` and is freed alone. Of one name at one place the larger size counts. Where different names
 * overlap the one that starts first stays, then the larger, then the alphabetically first: the
 * result does not depend on the order. In a JIT image, whose offsets stand for names, two names at
 * one offset are refused (DAMAGED): their samples could not be told apart.
 */
struct hp_error *hp_symbols_unite(enum hp_image_kind kind, const struct hp_symbol *a,
				  size_t a_count, const struct hp_symbol *b, size_t b_count,
				  struct hp_symbol **united, size_t *count);

#endif
