/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions from DWARF, readable, with namespaces and classes; remembered per function. */
#ifndef HPCPROF_IMAGE_DIE_NAME_H
#define HPCPROF_IMAGE_DIE_NAME_H

#include <hpcprof/base/arena.h>

#include <elfutils/libdw.h>

struct die_names;

struct die_names *die_names_create(struct hp_arena *arena);
void die_names_destroy(struct die_names *names);

/* Of a subprogram or an inlined subroutine; NULL when DWARF does not say. Lives in the arena or in
 * the DWARF data. */
const char *die_name(struct die_names *names, Dwarf_Die *function);

#endif
