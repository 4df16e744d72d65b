/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scope guards: a local variable that owns a resource releases it at the end of its scope. Its
 * declaration names the function that does so.
 *
 *	_cleanup_close_ int fd = open(...);
 *	_cleanup_free_ char *text = NULL;
 *
 * hp_steal(p) hands ownership out of the scope, hp_steal_fd(&fd) that of a descriptor.
 */
#ifndef HPCPROF_BASE_CLEANUP_H
#define HPCPROF_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))
#define _cleanup_free_	    _cleanup_(hp_cleanup_free)
#define _cleanup_close_	    _cleanup_(hp_cleanup_close)

/* Defines `name_scope`, for use as `_cleanup_(name_scope)`, from `void name(type *)`. */
#define HP_DEFINE_CLEANUP(type, name)                                                              \
	static inline void name##_scope(type **object) /* NOLINT(bugprone-macro-parentheses) */    \
	{                                                                                          \
		if (*object)                                                                       \
			name(*object);                                                             \
	}                                                                                          \
	struct hp_cleanup_semicolon

#define hp_steal(pointer)                                                                          \
	({                                                                                         \
		__typeof__(pointer) hp_stolen = (pointer);                                         \
		(pointer) = NULL;                                                                  \
		hp_stolen;                                                                         \
	})

static inline void hp_cleanup_free(void *object)
{
	free(*(void **)object);
}

static inline void hp_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline int hp_steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

#endif
