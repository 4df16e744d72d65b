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
	int *order; /* the order in which unknowns are eliminated */
	int *names; /* for each unknown, its position in that order */
	/* The upper triangle, in that order, by columns. */
	int *starts;	/* of columns; size + 1 */
	int *rows;	/* in any order */
	double *values; /* to be filled before sparse_factor, at the places' slots */
	/* The factor. */
	int *factor_starts;
	int *factor_rows;
	double *factor;
	double *diagonal;
	/* Its rows: of what is left of the diagonal the columns, in the order in which they are
	 * subtracted, and where in the factor these entries are. */
	int *left_starts; /* of rows; size + 1 */
	int *left_columns;
	int *left_slots;
	double work;	   /* multiplications of one sparse_factor */
	bool is_too_dense; /* its factor would take more work than was allowed: there is none */
	/* Room to work in. */
	int *parent;
	int *counts;
	int *flag;
	int *pattern;
	double *room;
	double *permuted;
};

/* A place stands for its mirror image at the diagonal, too. Values of equal places add up. */
struct sparse_place {
	int row; /* row and column may be exchanged */
	int column;
};

/* The pattern of these places. `slots[i]` is the index in `values` of places[i]. `most_work`:
 * multiplications that one sparse_factor may take. */
struct hp_error *sparse_create(int size, const struct sparse_place *places, size_t count,
			       double most_work, struct hp_arena *arena, struct sparse **created,
			       int *slots);

/* False when a pivot is zero or no number. */
bool sparse_factor(struct sparse *matrix);

/* Replaces the right-hand side by the solution. */
void sparse_solve(struct sparse *matrix, double *x);

/* The diagonal of the inverse, without computing the inverse. */
struct hp_error *sparse_inverse_diagonal(struct sparse *matrix, struct hp_arena *arena,
					 double *diagonal);

#endif
