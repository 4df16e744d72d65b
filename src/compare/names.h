/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of names of procedures and images that stays the same from build to build. */
#ifndef COMPARE_NAMES_H
#define COMPARE_NAMES_H

#include <hpcprof/base/arena.h>

/* A name as in the symbol table, without what compilers put behind it for parts and clones:
 * ".part.0", ".isra.0", ".constprop.0", ".cold", ".lto_priv.0", ".llvm.123". In the arena, or
 * `linkage` itself; NULL when memory is short. */
const char *names_key(struct hp_arena *arena, const char *linkage);
/* The same of a name for people: without " [clone .isra.0]" too. */
const char *names_shown(struct hp_arena *arena, const char *name);

/* The last part of a path. */
const char *names_base(const char *path);
/* An image's: the last part of its path, of a shared library without its version. */
const char *names_image_key(struct hp_arena *arena, const char *path);

#endif
