/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names.h"

#include <hpcprof/base/number.h>

#include <string.h>

/* Returns the length of a name up to the first suffix that a compiler added. */
static size_t without_suffixes(const char *name)
{
	static const char *const suffixes[] = { ".part.", ".isra.",	".constprop.", ".cold",
						".llvm.", ".lto_priv.", ".clone." };
	size_t length = strlen(name);

	for (size_t i = 0; i < HP_ARRAY_COUNT(suffixes); i++) {
		const char *found = strstr(name, suffixes[i]);

		if (found && found > name && (size_t)(found - name) < length)
			length = (size_t)(found - name);
	}
	return length;
}

static const char *cut(struct hp_arena *arena, const char *name, size_t length)
{
	return name[length] ? hp_arena_strndup(arena, name, length) : name;
}

const char *names_key(struct hp_arena *arena, const char *linkage)
{
	return cut(arena, linkage, without_suffixes(linkage));
}

const char *names_shown(struct hp_arena *arena, const char *name)
{
	const char *clone = strstr(name, " [clone ");

	if (clone && clone > name)
		return cut(arena, name, (size_t)(clone - name));
	return cut(arena, name, without_suffixes(name));
}

const char *names_base(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

const char *names_image_key(struct hp_arena *arena, const char *path)
{
	const char *base = names_base(path);
	const char *library = strstr(base, ".so.");

	return library ? cut(arena, base, (size_t)(library - base) + 3) : base;
}
