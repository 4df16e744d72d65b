/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of procedures as demanglers write them (C++, Rust), for people: short, and found by what they
 * type. */
#ifndef HPCPROF_MODEL_PROCEDURE_NAME_H
#define HPCPROF_MODEL_PROCEDURE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The name of a C++ function without its arguments: [*start, *start + *length) of `name`. Of an
 * instance of a template also without the type of its result. All of a name that has none. */
void hp_name_bare(const char *name, const char **start, size_t *length);

/*
 * For people: without arguments and result, long arguments of templates as "<…>", long types of
 * Rust's "<Type as Trait>" by their last parts: std::_Rb_tree<…>::_M_erase, <Vec as Debug>::fmt. Of a
 * `linkage` that is neither C++ nor Rust (NULL: not known) the name as it is. malloc'ed; NULL when
 * memory is short.
 */
char *hp_name_shorten(const char *name, const char *linkage);

/* How well a name fits what was typed, the best first. */
enum hp_name_fit {
	HP_NAME_EXACT, /* as shown, or as in the symbol table */
	HP_NAME_BARE,  /* without arguments, result, or a template's arguments; or shortened */
	HP_NAME_GLOB,
	HP_NAME_PART, /* three bytes or more of it */
	HP_NAME_NOT,
};
/* `linkage` may be NULL. */
enum hp_name_fit hp_name_fit(const char *name, const char *linkage, const char *wanted);

#endif
