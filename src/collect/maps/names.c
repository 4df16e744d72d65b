/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/vector.h>

#include <stdlib.h>
#include <string.h>

struct name {
	UT_hash_handle hh;
	uint32_t number;
	char text[];
};

bool names_create(struct names *names)
{
	*names = (struct names){ 0 };
	return names_number(names, "") == 0 && names->count == 1;
}

void names_clear(struct names *names)
{
	struct name *name, *next;

	HASH_ITER(hh, names->by_text, name, next)
	{
		HASH_DEL(names->by_text, name);
		free(name);
	}
	free(names->text);
	*names = (struct names){ 0 };
}

uint32_t names_number(struct names *names, const char *text)
{
	size_t length = strlen(text);
	struct name *name;

	HASH_FIND(hh, names->by_text, text, length, name);
	if (name)
		return name->number;
	if (names->count == NAMES_LIMIT || !hp_grow((void **)&names->text, &names->capacity,
						    names->count + 1, sizeof(*names->text)))
		return 0;
	name = malloc(sizeof(*name) + length + 1);
	if (!name)
		return 0;
	memcpy(name->text, text, length + 1);
	name->number = (uint32_t)names->count;
	HASH_ADD_KEYPTR(hh, names->by_text, name->text, length, name);
	if (!name->hh.tbl) {
		free(name);
		return 0;
	}
	names->text[names->count++] = name->text;
	return name->number;
}
