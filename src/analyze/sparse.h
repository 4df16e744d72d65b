/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symmetric sparse systems of one pattern that are factored repeatedly: LDL' by SuiteSparse's AMD
 * (ordering, once) and LDL (no pivoting). The matrices here need no pivoting because they are
 * quasi-definite (a positive definite block for the unknowns, a negative definite one for the
 * constraints), and such matrices have a factor in any order (Vanderbei, "Symmetric quasidefinite
 * matrices", 1995).
 */
#ifndef HPCPROF_ANALYZE_SPARSE_H
#define HPCPROF_ANALYZE_SPARSE_H

#include <hpcprof/base/arena.h>
#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stdint.h>

struct sparse {
	int size;
	int *order; /* elimination order of the unknowns */
	int *names; /* of each unknown: its position in that order */
	/* The upper triangle, in that order, by columns. */
	int *starts;	/* of columns; size + 1 */
	int *rows;	/* in any order */
	double *values; /* to be filled before sparse_factor, at the places' slots */
	/* The factor. */
	int *factor_starts;
	int *factor_rows;
	double *factor;
	double *diagonal;
	/* The factor's rows: the columns left of the diagonal, in the order of subtraction, and the
	 * positions of these entries in the factor. */
	int *left_starts; /* of rows; size + 1 */
	int *left_columns;
	int *left_slots;
	double work;	   /* multiplications of one sparse_factor */
	bool is_too_dense; /* the factor would take more work than is allowed, so there is none */
	/* Scratch arrays. */
	int *parent;
	int *counts;
	int *flag;
	int *pattern;
	double *room;
	double *permuted;
};

/* One entry; it also stands for its mirror image at the diagonal. Values of equal entries are
 * added. */
struct sparse_place {
	int row; /* the order of row and column does not matter */
	int column;
};

/* Builds the pattern of these entries. `slots[i]` is the index in `values` of places[i].
 * `most_work` limits the multiplications of one sparse_factor. */
struct hp_error *sparse_create(int size, const struct sparse_place *places, size_t count,
			       double most_work, struct hp_arena *arena, struct sparse **created,
			       int *slots);

/* Returns false when a pivot is zero or NaN. */
bool sparse_factor(struct sparse *matrix);

/* Replaces the right-hand side by the solution. */
void sparse_solve(struct sparse *matrix, double *x);

/* Computes the diagonal of the inverse, without the rest of it. */
struct hp_error *sparse_inverse_diagonal(struct sparse *matrix, struct hp_arena *arena,
					 double *diagonal);

#endif
