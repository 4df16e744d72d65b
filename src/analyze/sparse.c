/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sparse.h"
#include "tuning.h"

#include <hpcprof/base/number.h>

#include <math.h>
#include <suitesparse/amd.h>
#include <suitesparse/ldl.h>

static int larger_name(const struct sparse_place *place, const int *names)
{
	int row = names ? names[place->row] : place->row;
	int column = names ? names[place->column] : place->column;

	return row > column ? row : column;
}

static int smaller_name(const struct sparse_place *place, const int *names)
{
	int row = names ? names[place->row] : place->row;
	int column = names ? names[place->column] : place->column;

	return row < column ? row : column;
}

/* Converts places to columns, renaming rows and columns by `names` (NULL: no renaming). AMD and LDL
 * accept rows in any order and repeated places. */
static void index_places(struct sparse *matrix, const struct sparse_place *places, size_t count,
			 const int *names, int *slots)
{
	for (int i = 0; i <= matrix->size; i++)
		matrix->starts[i] = 0;
	for (size_t i = 0; i < count; i++)
		matrix->starts[larger_name(&places[i], names) + 1]++;
	for (int i = 0; i < matrix->size; i++) {
		matrix->starts[i + 1] += matrix->starts[i];
		matrix->counts[i] = matrix->starts[i];
	}
	for (size_t i = 0; i < count; i++) {
		int slot = matrix->counts[larger_name(&places[i], names)]++;

		matrix->rows[slot] = smaller_name(&places[i], names);
		slots[i] = slot;
	}
}

static bool make_room(struct sparse *matrix, size_t count, struct hp_arena *arena)
{
	size_t size = (size_t)matrix->size + 1;
	int **const integers[] = { &matrix->starts, &matrix->order,   &matrix->names,
				   &matrix->parent, &matrix->counts,  &matrix->factor_starts,
				   &matrix->flag,   &matrix->pattern, &matrix->left_starts };
	double **const reals[] = { &matrix->diagonal, &matrix->room, &matrix->permuted };

	for (size_t i = 0; i < HP_ARRAY_COUNT(integers); i++) {
		*integers[i] = hp_arena_array(arena, size, sizeof(int));
		if (!*integers[i])
			return false;
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(reals); i++) {
		*reals[i] = hp_arena_array(arena, size, sizeof(double));
		if (!*reals[i])
			return false;
	}
	matrix->rows = hp_arena_array(arena, count + 1, sizeof(int));
	matrix->values = hp_arena_array(arena, count + 1, sizeof(double));
	return matrix->rows && matrix->values;
}

/* Finds an elimination order. AMD's estimate of the work is exact except for rows that it treats as
 * dense, for which it is too high. If it exceeds the limit by far, the matrix counts as too dense
 * at once: the exact work takes as long to find as the factor has entries, which on a dense graph
 * grow with the square of the size. */
static bool order(struct sparse *matrix, double most_work)
{
	double info[AMD_INFO];

	if (amd_order(matrix->size, matrix->starts, matrix->rows, matrix->order, NULL, info) <
	    AMD_OK)
		return false;
	matrix->work = info[AMD_NMULTSUBS_LDL];
	matrix->is_too_dense = matrix->work > too_dense * most_work;
	for (int i = 0; i < matrix->size; i++)
		matrix->names[matrix->order[i]] = i;
	return true;
}

/* Each column of the factor is subtracted from all columns in its pattern. */
static double work_of(const struct sparse *matrix)
{
	double work = 0;

	for (int i = 0; i < matrix->size; i++)
		work += (double)matrix->counts[i] * matrix->counts[i] / 2;
	return work;
}

/* Finds the columns left of the diagonal that one row of the factor has, by walking up the
 * elimination tree from each entry of the matrix. Each column comes after all those it depends on.
 * They fill the end of `pattern`, from the returned index on. */
static int find_left(struct sparse *matrix, int row)
{
	int top = matrix->size;

	matrix->flag[row] = row;
	for (int p = matrix->starts[row]; p < matrix->starts[row + 1]; p++) {
		int length = 0;

		for (int i = matrix->rows[p]; matrix->flag[i] != row; i = matrix->parent[i]) {
			matrix->pattern[length++] = i;
			matrix->flag[i] = row;
		}
		while (length > 0)
			matrix->pattern[--top] = matrix->pattern[--length];
	}
	return top;
}

/* All factors of this matrix have the same rows. */
static struct hp_error *find_rows(struct sparse *matrix, struct hp_arena *arena)
{
	size_t count = (size_t)matrix->factor_starts[matrix->size];
	int next = 0;

	matrix->factor_rows = hp_arena_array(arena, count + 1, sizeof(int));
	matrix->factor = hp_arena_array(arena, count + 1, sizeof(double));
	matrix->left_columns = hp_arena_array(arena, count + 1, sizeof(int));
	matrix->left_slots = hp_arena_array(arena, count + 1, sizeof(int));
	if (!matrix->factor_rows || !matrix->factor || !matrix->left_columns || !matrix->left_slots)
		return hp_error_create_no_memory();
	for (int i = 0; i < matrix->size; i++) {
		matrix->counts[i] = 0;
		matrix->flag[i] = -1;
	}
	for (int row = 0; row < matrix->size; row++) {
		matrix->left_starts[row] = next;
		for (int at = find_left(matrix, row); at < matrix->size; at++) {
			int column = matrix->pattern[at];
			int slot = matrix->factor_starts[column] + matrix->counts[column]++;

			matrix->factor_rows[slot] = row;
			matrix->left_columns[next] = column;
			matrix->left_slots[next++] = slot;
		}
	}
	matrix->left_starts[matrix->size] = next;
	return NULL;
}

struct hp_error *sparse_create(int size, const struct sparse_place *places, size_t count,
			       double most_work, struct hp_arena *arena, struct sparse **created,
			       int *slots)
{
	struct sparse *matrix = hp_arena_alloc(arena, sizeof(*matrix));

	if (!matrix)
		return hp_error_create_no_memory();
	if (count > INT32_MAX)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "the system of flows is too large");
	matrix->size = size;
	if (!make_room(matrix, count, arena))
		return hp_error_create_no_memory();
	index_places(matrix, places, count, NULL, slots);
	if (!order(matrix, most_work))
		return hp_error_create_no_memory();
	*created = matrix;
	if (matrix->is_too_dense)
		return NULL;
	index_places(matrix, places, count, matrix->names, slots);
	ldl_symbolic(size, matrix->starts, matrix->rows, matrix->factor_starts, matrix->parent,
		     matrix->counts, matrix->flag, NULL, NULL);
	matrix->work = work_of(matrix);
	matrix->is_too_dense = matrix->work > most_work;
	if (matrix->is_too_dense)
		return NULL;
	if (matrix->factor_starts[size] < 0)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "the system of flows is too large");
	return find_rows(matrix, arena);
}

/* Eliminates the entry of one row in one column: returns what the previous columns have left of it
 * in `room`. */
static double eliminate(struct sparse *matrix, int column, int slot)
{
	double *restrict room = matrix->room;
	double *restrict factor = matrix->factor;
	const int *rows = matrix->factor_rows;
	double left = room[column];
	double share =
		left / matrix->diagonal[column]; /* it takes as long as the loop: both at once */

	room[column] = 0;
	for (int p = matrix->factor_starts[column]; p < slot; p++)
		room[rows[p]] -= factor[p] * left;
	factor[slot] = share;
	return share * left;
}

/* The same operations in the same order as LDL's ldl_numeric, which however finds the rows again on
 * each call. */
bool sparse_factor(struct sparse *matrix)
{
	double *room = matrix->room; /* all zero between rows */

	for (int i = 0; i < matrix->size; i++)
		room[i] = 0; /* a failed factorization may have left values */
	for (int row = 0; row < matrix->size; row++) {
		double own;

		for (int p = matrix->starts[row]; p < matrix->starts[row + 1]; p++)
			room[matrix->rows[p]] += matrix->values[p];
		own = room[row];
		room[row] = 0;
		for (int at = matrix->left_starts[row]; at < matrix->left_starts[row + 1]; at++)
			own -= eliminate(matrix, matrix->left_columns[at], matrix->left_slots[at]);
		matrix->diagonal[row] = own;
		if (own == 0 || !isfinite(own))
			return false;
	}
	return true;
}

void sparse_solve(struct sparse *matrix, double *x)
{
	int size = matrix->size;
	double *y = matrix->permuted;

	ldl_perm(size, y, x, matrix->order);
	ldl_lsolve(size, y, matrix->factor_starts, matrix->factor_rows, matrix->factor);
	ldl_dsolve(size, y, matrix->diagonal);
	ldl_ltsolve(size, y, matrix->factor_starts, matrix->factor_rows, matrix->factor);
	ldl_permt(size, x, y, matrix->order);
}

/*
 * Takahashi's recurrence: with Z the inverse, Z = D^-1 L^-1 + (I - L')Z, so the entries of Z in the
 * pattern of the factor follow from each other, last column first. Of column j, for rows i in its
 * pattern: Z_ij = -sum over k in the pattern of Z_ik L_kj; Z_jj = 1/D_jj - sum of Z_kj L_kj.
 */
struct hp_error *sparse_inverse_diagonal(struct sparse *matrix, struct hp_arena *arena,
					 double *diagonal)
{
	const int *starts = matrix->factor_starts;
	const int *rows = matrix->factor_rows;
	double *inverse = hp_arena_array(arena, (size_t)starts[matrix->size] + 1, sizeof(double));
	double *column = matrix->room; /* one column of L, scattered by row; zero elsewhere */
	double *sums = hp_arena_array(arena, (size_t)matrix->size + 1, sizeof(double));

	if (!inverse || !sums)
		return hp_error_create_no_memory();
	for (int j = matrix->size - 1; j >= 0; j--) {
		int first = starts[j];
		int end = starts[j + 1];
		double own = 1 / matrix->diagonal[j];

		for (int p = first; p < end; p++)
			column[rows[p]] = matrix->factor[p];
		for (int p = first; p < end; p++) {
			int k = rows[p];

			sums[k] += diagonal[matrix->order[k]] * column[k];
			/* The inverse is symmetric: Z_ik with i < k stands for Z_ki. */
			for (int q = starts[k]; q < starts[k + 1]; q++) {
				sums[rows[q]] += inverse[q] * column[k];
				sums[k] += inverse[q] * column[rows[q]];
			}
		}
		for (int p = first; p < end; p++) {
			inverse[p] = -sums[rows[p]];
			own -= inverse[p] * matrix->factor[p];
		}
		for (int p = first; p < end; p++) {
			int k = rows[p];

			for (int q = starts[k]; q < starts[k + 1]; q++)
				sums[rows[q]] = 0;
			sums[k] = 0;
			column[k] = 0;
		}
		diagonal[matrix->order[j]] = own;
	}
	return NULL;
}
