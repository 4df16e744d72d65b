/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of names of procedures and images that stays the same from build to build. */
#ifndef COMPARE_NAMES_H
#define COMPARE_NAMES_H

#include <hpcprof/base/arena.h>

/* A symbol's name without the suffixes that compilers add for parts and clones: ".part.0",
 * ".isra.0", ".constprop.0", ".cold", ".lto_priv.0", ".llvm.123". In the arena, or `linkage`
 * itself; NULL: out of memory. */
const char *names_key(struct hp_arena *arena, const char *linkage);
/* The same for a name for people, also without " [clone .isra.0]". */
const char *names_shown(struct hp_arena *arena, const char *name);

/* The last component of a path. */
const char *names_base(const char *path);
/* An image's key: the last component of its path; for a shared library, without its version. */
const char *names_image_key(struct hp_arena *arena, const char *path);

#endif
