/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Included before every file that `make analyze` looks at (but error.c, which defines these).
 * Analysers see one file at a time, and do not take returns_nonnull at its word: without being told
 * again they follow errors that are created and are NULL, or that are NULL once they are wrapped.
 */
#include <hpcprof/base/error.h>

#define hp_never_null(call)                                                                        \
	({                                                                                         \
		struct hp_error *hp_created = (call);                                              \
		if (!hp_created)                                                                   \
			__builtin_unreachable();                                                   \
		hp_created;                                                                        \
	})

#define hp_null_as_before(function, error, ...)                                                    \
	({                                                                                         \
		struct hp_error *hp_before = (error);                                              \
		struct hp_error *hp_after = function(hp_before, __VA_ARGS__);                      \
		if (!hp_before != !hp_after)                                                       \
			__builtin_unreachable();                                                   \
		hp_after;                                                                          \
	})

#define hp_error_create(...)	    hp_never_null(hp_error_create(__VA_ARGS__))
#define hp_error_create_errno(...)  hp_never_null(hp_error_create_errno(__VA_ARGS__))
#define hp_error_create_no_memory() hp_never_null(hp_error_create_no_memory())
#define hp_error_wrap(error, ...)   hp_null_as_before(hp_error_wrap, error, __VA_ARGS__)
#define hp_error_advise(error, ...) hp_null_as_before(hp_error_advise, error, __VA_ARGS__)
