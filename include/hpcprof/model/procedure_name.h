/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangled names of procedures (C++, Rust): shortened for people, and matched with what they
 * type. */
#ifndef HPCPROF_MODEL_PROCEDURE_NAME_H
#define HPCPROF_MODEL_PROCEDURE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The name of a C++ function without its arguments, [*start, *start + *length) of `name`; for an
 * instance of a template also without its result type. The whole name if it has no arguments. */
void hp_name_bare(const char *name, const char **start, size_t *length);

/*
 * Shortens a name for people: omits arguments and result, writes long template arguments as "<…>",
 * and long types in Rust's "<Type as Trait>" as their last parts: std::_Rb_tree<…>::_M_erase, <Vec
 * as Debug>::fmt. If `linkage` is neither C++ nor Rust, the name remains as it is (NULL: unknown).
 * malloc'ed; NULL when memory is short.
 */
char *hp_name_shorten(const char *name, const char *linkage);

/* How a name matches what was typed, best first. */
enum hp_name_fit {
	HP_NAME_EXACT, /* as shown, or as in the symbol table */
	HP_NAME_BARE,  /* without arguments, result, or a template's arguments; or shortened */
	HP_NAME_GLOB,
	/* Its last part, or three bytes or more of it; also of what it is shortened to, and without
	 * any template arguments: Table::put of acme::Table<int>::put(int). */
	HP_NAME_PART,
	HP_NAME_NOT,
};
/* `linkage` may be NULL. */
enum hp_name_fit hp_name_fit(const char *name, const char *linkage, const char *wanted);

#endif
