/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formulas of the tables: + - * / over numbers and names, parentheses, and
 *	min(a, b), max(a, b)
 *	share(a, b)	a / b; 0 where both are 0
 *	known(a)	a, or 0 if it is unknown
 *	first(a, b)	a, or b if a is unknown
 * An unknown value is NaN, and so is every result computed from it, including those of min and max.
 */
#ifndef STACK_FORMULA_H
#define STACK_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a name of `length` bytes; false if there is no such name. */
typedef bool formula_lookup(void *context, const char *name, size_t length, double *value);

/* False if the text is not a formula or contains an unknown name. */
bool formula_evaluate(const char *text, formula_lookup *lookup, void *context, double *value);

#endif
