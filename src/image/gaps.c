/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gaps.h"

#include "unsized.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/search.h>

#include <stdio.h>
#include <string.h>

struct gap {
	struct hp_procedure *procedures; /* sorted; all of the gap is in them */
	size_t count;
	uint64_t start;
	UT_hash_handle hh;
};

void gaps_clear(struct gaps *gaps)
{
	HASH_CLEAR(hh, gaps->all); /* the gaps themselves are in the arena */
}

const char *address_name(struct hp_arena *arena, const char *image_name, uint64_t address)
{
	char number[24];
	size_t length = strlen(image_name);
	char *name;

	snprintf(number, sizeof(number), "+0x%llx", (unsigned long long)address);
	name = hp_arena_alloc(arena, length + strlen(number) + 1);
	if (!name)
		return image_name;
	memcpy(name, image_name, length);
	memcpy(name + length, number, strlen(number) + 1);
	return name;
}

/* False when memory is short. */
static bool fill(const struct gaps *gaps, struct gap *gap, const extents *found,
		 enum hp_procedure_source source)
{
	gap->procedures = hp_arena_alloc(gaps->arena, found->count * sizeof(*gap->procedures));
	for (size_t i = 0; gap->procedures && i < found->count; i++)
		gap->procedures[i] = (struct hp_procedure){
			.address.value = found->at[i].address,
			.size = found->at[i].size,
			.owner = &gap->procedures[i],
			.source = source,
		};
	gap->count = found->count;
	return gap->procedures;
}

/* NULL when memory is short. */
static struct gap *make(struct gaps *gaps, uint64_t start, uint64_t end)
{
	struct gap *gap = hp_arena_alloc(gaps->arena, sizeof(*gap));
	enum hp_procedure_source source = HP_PROCEDURE_CODE;
	extents found = { 0 };
	bool fine = gap;

	if (fine && gaps->file && elf_file_text_at(gaps->file, start)) {
		fine = unsized_divide(gaps->file, start, end, &found);
		elf_file_forget_pages(gaps->file);
	}
	if (fine && !found.count) {
		source = HP_PROCEDURE_GAP;
		fine = hp_vector_push(&found, ((struct extent){ start, end - start, 0 }));
	}
	fine = fine && fill(gaps, gap, &found, source);
	hp_vector_free(&found);
	if (!fine)
		return NULL;
	gap->start = start;
	HASH_ADD(hh, gaps->all, start, sizeof(gap->start), gap);
	return gap->hh.tbl ? gap : NULL;
}

const struct hp_procedure *gaps_at(struct gaps *gaps, uint64_t start, uint64_t end,
				   uint64_t address)
{
	struct hp_procedure *procedure;
	struct gap *gap;
	size_t after;

	HASH_FIND(hh, gaps->all, &start, sizeof(start), gap);
	if (!gap)
		gap = make(gaps, start, end);
	if (!gap)
		return NULL;
	after = hp_bisect(i, gap->count, gap->procedures[i].address.value <= address);
	procedure = &gap->procedures[after ? after - 1 : 0];
	if (!procedure->name)
		procedure->name = gaps->is_all ? gaps->image_name
					       : address_name(gaps->arena, gaps->image_name,
							      procedure->address.value);
	procedure->linkage = procedure->name;
	return procedure;
}
