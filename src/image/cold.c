/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cold.h"

#include <hpcprof/base/hash.h>

#include <string.h>

/* How certain it is that a procedure is the one wanted; a higher value wins. */
enum match {
	MATCH_NONE,
	MATCH_WITHOUT_PART, /* f for f.part.N.cold: f.part.N itself was inlined back */
	MATCH_OTHER_UNIT,   /* a static function of another source file */
	MATCH_GLOBAL,
	MATCH_SAME_UNIT,
};

struct cold {
	const struct symbol *symbol;
	enum match match;
	uint64_t owner;
};

/* A cold symbol whose procedure has this name. */
struct wanted {
	size_t cold;	     /* index */
	bool without_part;   /* the name is shortened */
	struct wanted *next; /* of the same name */
	UT_hash_handle hh;
};

static bool all_digits(const char *text, size_t length)
{
	return length > 0 && strspn(text, "0123456789") >= length;
}

size_t cold_stem(const char *name)
{
	static const char suffix[] = ".cold";
	size_t length = strlen(name);
	const char *dot = strrchr(name, '.');

	if (dot && all_digits(dot + 1, strlen(dot + 1)))
		length = (size_t)(dot - name);
	if (length <= strlen(suffix) ||
	    memcmp(name + length - strlen(suffix), suffix, strlen(suffix)) != 0)
		return 0;
	return length - strlen(suffix);
}

/* The length without a final ".part.N" as well; 0 when it has none. */
static size_t part_stem(const char *name, size_t length)
{
	static const char suffix[] = ".part";
	size_t digits = 0;

	while (digits < length && name[length - 1 - digits] >= '0' &&
	       name[length - 1 - digits] <= '9')
		digits++;
	if (digits == 0 || digits == length || name[length - 1 - digits] != '.')
		return 0;
	length -= digits + 1;
	if (length <= strlen(suffix) ||
	    memcmp(name + length - strlen(suffix), suffix, strlen(suffix)) != 0)
		return 0;
	return length - strlen(suffix);
}

static bool want(struct wanted **table, struct hp_arena *arena, const char *name, size_t length,
		 size_t cold, bool without_part)
{
	struct wanted *wanted = hp_arena_alloc(arena, sizeof(*wanted));
	struct wanted *same;

	if (!wanted)
		return false;
	wanted->cold = cold;
	wanted->without_part = without_part;
	wanted->next = NULL;
	HASH_FIND(hh, *table, name, length, same);
	if (same) {
		wanted->next = same->next;
		same->next = wanted;
		return true;
	}
	HASH_ADD_KEYPTR(hh, *table, name, length, wanted);
	return wanted->hh.tbl != NULL;
}

static void offer(struct cold *colds, const struct wanted *wanted, const struct symbol *symbol)
{
	for (; wanted; wanted = wanted->next) {
		struct cold *cold = &colds[wanted->cold];
		enum match match = MATCH_GLOBAL;

		if (wanted->without_part)
			match = MATCH_WITHOUT_PART;
		else if (symbol->rank == RANK_LOCAL)
			match = symbol->unit == cold->symbol->unit ? MATCH_SAME_UNIT
								   : MATCH_OTHER_UNIT;
		if (match > cold->match) {
			cold->match = match;
			cold->owner = symbol->address;
		}
	}
}

static bool link_all(const symbols *found, struct cold *colds, size_t count, struct hp_arena *arena,
		     cold_links *links)
{
	struct wanted *table = NULL;
	bool fine = true;

	for (size_t i = 0; i < count && fine; i++) {
		const char *name = colds[i].symbol->name;
		size_t stem = cold_stem(name);
		size_t shorter = part_stem(name, stem);

		fine = want(&table, arena, name, stem, i, false) &&
		       (!shorter || want(&table, arena, name, shorter, i, true));
	}
	for (size_t i = 0; i < found->count && fine; i++) {
		const struct symbol *symbol = &found->at[i];
		struct wanted *wanted;

		if (symbol->rank < RANK_LOCAL || cold_stem(symbol->name))
			continue;
		HASH_FIND(hh, table, symbol->name, strcspn(symbol->name, "@"), wanted);
		offer(colds, wanted, symbol);
	}
	for (size_t i = 0; i < count && fine; i++)
		if (colds[i].match != MATCH_NONE)
			fine = hp_vector_push(links, (struct cold_link){ colds[i].symbol->address,
									 colds[i].owner });
	HASH_CLEAR(hh, table);
	return fine;
}

bool cold_find_links(const symbols *found, cold_links *links)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	HP_VECTOR(struct cold) colds = { 0 };
	bool fine = arena != NULL;

	for (size_t i = 0; i < found->count && fine; i++)
		if (found->at[i].rank >= RANK_LOCAL && strstr(found->at[i].name, ".cold") &&
		    cold_stem(found->at[i].name))
			fine = hp_vector_push(&colds, (struct cold){ .symbol = &found->at[i] });
	if (fine && colds.count > 0)
		fine = link_all(found, colds.at, colds.count, arena, links);
	hp_vector_free(&colds);
	return fine;
}
