/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles C++ and Rust names. */
#ifndef HPCPROF_IMAGE_DEMANGLE_H
#define HPCPROF_IMAGE_DEMANGLE_H

#include <hpcprof/base/arena.h>

/* Returns the readable form, in `arena`, or `linkage` itself if it is not mangled or memory is
 * short. */
const char *demangle(struct hp_arena *arena, const char *linkage);

#endif
