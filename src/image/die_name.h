/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Full names of functions from DWARF, with namespaces and classes. They are cached per function.
 */
#ifndef HPCPROF_IMAGE_DIE_NAME_H
#define HPCPROF_IMAGE_DIE_NAME_H

#include <hpcprof/base/arena.h>

#include <elfutils/libdw.h>
#include <stdint.h>

struct die_names;

struct die_names *die_names_create(struct hp_arena *arena);
void die_names_destroy(struct die_names *names);

/* The names that DWARF gives a function; NULL or 0 if it has none. Texts live in the arena or in
 * the DWARF data. */
struct die_identity {
	const char *name;
	const char *linkage; /* the plain name where there is none */
	uint32_t declared;   /* line */
};

/* Returns the names of a subprogram or an inlined subroutine. */
struct die_identity die_identity(struct die_names *names, Dwarf_Die *function);

#endif
