/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <string.h>

const char *demangle(struct hp_arena *arena, const char *linkage)
{
	_cleanup_free_ char *text = NULL;
	const char *copy;

	/* Rust's legacy scheme looks like C++ with a hash as last component: Rust goes first. */
	if (linkage[0] != '_' || (linkage[1] != 'Z' && linkage[1] != 'R'))
		return linkage;
	text = rust_demangle(linkage, DMGL_NO_OPTS);
	if (!text && linkage[1] == 'Z')
		text = cplus_demangle_v3(linkage, DMGL_PARAMS | DMGL_ANSI);
	if (!text)
		return linkage;
	copy = hp_arena_strdup(arena, text);
	return copy ? copy : linkage;
}
