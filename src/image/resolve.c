/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve.h"

#include <hpcprof/base/search.h>

#include <string.h>

enum { LABELS_LOOKED_AT = 4096 };

static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

/* Returns 0 for a name without version, 1 for the default version ("@@"), 2 for an old version
 * ("@"). */
static int version_class(const char *name)
{
	const char *at = strchr(name, '@');

	if (!at || at == name)
		return 0;
	return at[1] == '@' ? 1 : 2;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *left = a;
	const struct symbol *right = b;
	size_t left_length;
	size_t right_length;
	bool left_typed = left->rank > RANK_LABEL;
	bool right_typed = right->rank > RANK_LABEL;

	if (left->address != right->address)
		return hp_order(left->address, right->address);
	if (left_typed != right_typed)
		return left_typed ? -1 : 1;
	if ((left->size > 0) != (right->size > 0))
		return left->size > 0 ? -1 : 1;
	if ((left->rank > RANK_LOCAL) != (right->rank > RANK_LOCAL))
		return left->rank > RANK_LOCAL ? -1 : 1;
	if (left->rank == RANK_LABEL && left->global_label != right->global_label)
		return left->global_label ? -1 : 1;
	if (leading_underscores(left->name) != leading_underscores(right->name))
		return hp_order(leading_underscores(left->name), leading_underscores(right->name));
	if (version_class(left->name) != version_class(right->name))
		return version_class(left->name) - version_class(right->name);
	if (left->rank != right->rank)
		return left->rank > right->rank ? -1 : 1;
	if (left->size != right->size)
		return hp_order(right->size, left->size);
	left_length = strlen(left->name);
	right_length = strlen(right->name);
	if (left_length != right_length)
		return hp_order(right_length, left_length);
	return strcmp(left->name, right->name);
}

void resolve_sort(symbols *found)
{
	if (found->count > 1)
		qsort(found->at, found->count, sizeof(*found->at), compare_symbols);
}

/* Merges aliases into one symbol, with the longest extent of any of them. */
static void merge_aliases(symbols *found)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		struct symbol *last = kept > 0 ? &found->at[kept - 1] : NULL;

		if (!last || last->address != found->at[i].address)
			found->at[kept++] = found->at[i];
		else if (found->at[i].size > last->size &&
			 (found->at[i].rank > RANK_LABEL || last->rank <= RANK_LABEL))
			last->size = found->at[i].size;
	}
	found->count = kept;
}

/* Guesses the end of a symbol without a size: its unwind extent, the next symbol, or its section.
 * Labels inside an unwind extent that begins with the symbol belong to that procedure. */
static uint64_t guess_end(const symbols *found, size_t index, const struct extent *unwind)
{
	const struct symbol *symbol = &found->at[index];
	uint64_t end = symbol->limit;
	bool starts_here = unwind && unwind->address == symbol->address;

	if (unwind && unwind->address > symbol->address) {
		if (unwind->address < end)
			end = unwind->address;
	} else if (unwind && unwind->address + unwind->size < end) {
		end = unwind->address + unwind->size;
	}
	for (size_t i = index + 1; i < found->count && i - index <= LABELS_LOOKED_AT; i++) {
		if (starts_here && found->at[i].rank == RANK_LABEL)
			continue;
		if (found->at[i].address < end)
			end = found->at[i].address;
		break;
	}
	return end;
}

static void repair_sizes(symbols *found, const extents *unwind)
{
	uint64_t covered = 0;
	bool covered_by_label = false;
	size_t at = 0;
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		struct symbol symbol = found->at[i];
		bool is_label = symbol.rank == RANK_LABEL;

		/* A label inside a function is a jump target; global labels are procedures only in
		 * assembly that has nothing but labels. */
		if (is_label && symbol.address < covered &&
		    !(symbol.global_label && covered_by_label))
			continue;
		while (at < unwind->count &&
		       unwind->at[at].address + unwind->at[at].size <= symbol.address)
			at++;
		if (symbol.size == 0)
			symbol.size =
				guess_end(found, i, at < unwind->count ? &unwind->at[at] : NULL) -
				symbol.address;
		if (symbol.size == 0)
			continue;
		if (symbol.address + symbol.size > covered) {
			covered = symbol.address + symbol.size;
			covered_by_label = is_label;
		}
		found->at[kept++] = symbol;
	}
	found->count = kept;
}

/* A symbol that contains the current position of the sweep; outermost first. */
struct open_symbol {
	const struct symbol *symbol;
	size_t first; /* its first part, or no_part */
};
static const size_t no_part = SIZE_MAX;

struct sweep {
	HP_VECTOR(struct open_symbol) open;
	uint64_t position; /* everything before it is in parts */
	resolved_parts *parts;
};

static bool emit_until(struct sweep *sweep, uint64_t end)
{
	struct open_symbol *top = &sweep->open.at[sweep->open.count - 1];
	size_t index = sweep->parts->count;

	if (end <= sweep->position)
		return true;
	if (top->first == no_part)
		top->first = index;
	if (!hp_vector_push(sweep->parts,
			    (struct resolved){ .address = sweep->position,
					       .end = end,
					       .name = top->symbol->name,
					       .is_plt = top->symbol->rank == RANK_PLT,
					       .first = top->first }))
		return false;
	sweep->position = end;
	return true;
}

/* Closes the symbols that end at or before `address`. */
static bool close_until(struct sweep *sweep, uint64_t address)
{
	while (sweep->open.count > 0) {
		const struct symbol *top = sweep->open.at[sweep->open.count - 1].symbol;

		if (top->address + top->size > address)
			return true;
		if (!emit_until(sweep, top->address + top->size))
			return false;
		sweep->open.count--;
	}
	return true;
}

static bool cut_into_parts(const symbols *found, resolved_parts *parts)
{
	struct sweep sweep = { .parts = parts };
	bool fine = true;

	for (size_t i = 0; i < found->count && fine; i++) {
		const struct symbol *symbol = &found->at[i];

		fine = close_until(&sweep, symbol->address) &&
		       (sweep.open.count == 0 || emit_until(&sweep, symbol->address)) &&
		       hp_vector_push(&sweep.open, (struct open_symbol){ symbol, no_part });
		sweep.position = symbol->address;
	}
	fine = fine && close_until(&sweep, UINT64_MAX);
	hp_vector_free(&sweep.open);
	return fine;
}

/* Merges symbols and PLT entries into one sorted list; a symbol comes before an entry at the same
 * address. */
static bool merge_plt(const symbols *found, const symbols *plt, symbols *all)
{
	size_t at = 0;

	if (!hp_vector_reserve(all, found->count + plt->count))
		return false;
	for (size_t i = 0; i < found->count; i++) {
		while (at < plt->count && plt->at[at].address < found->at[i].address)
			all->at[all->count++] = plt->at[at++];
		if (at < plt->count && plt->at[at].address == found->at[i].address)
			at++;
		all->at[all->count++] = found->at[i];
	}
	while (at < plt->count)
		all->at[all->count++] = plt->at[at++];
	return true;
}

/* Adds unwind extents that no symbol covers. */
static bool fill_holes(const resolved_parts *named, const extents *unwind, resolved_parts *holes)
{
	uint64_t done = 0;
	size_t at = 0;

	for (size_t i = 0; i < unwind->count; i++) {
		uint64_t start = unwind->at[i].address > done ? unwind->at[i].address : done;
		uint64_t end = unwind->at[i].address + unwind->at[i].size;

		while (start < end) {
			uint64_t stop = end;

			while (at < named->count && named->at[at].end <= start)
				at++;
			if (at < named->count && named->at[at].address <= start) {
				start = named->at[at].end;
				continue;
			}
			if (at < named->count && named->at[at].address < stop)
				stop = named->at[at].address;
			if (!hp_vector_push(holes,
					    (struct resolved){ .address = start, .end = stop }))
				return false;
			start = stop;
		}
		if (end > done)
			done = end;
	}
	return true;
}

static bool merge_parts(const resolved_parts *named, const resolved_parts *holes,
			resolved_parts *parts)
{
	_cleanup_free_ size_t *moved = calloc(named->count + 1, sizeof(*moved));
	size_t hole = 0;

	if (!moved || !hp_vector_reserve(parts, named->count + holes->count))
		return false;
	for (size_t i = 0; i <= named->count; i++) {
		while (hole < holes->count &&
		       (i == named->count || holes->at[hole].address < named->at[i].address)) {
			parts->at[parts->count] = holes->at[hole++];
			parts->at[parts->count].first = parts->count;
			parts->count++;
		}
		if (i == named->count)
			break;
		moved[i] = parts->count;
		parts->at[parts->count] = named->at[i];
		/* The first part comes before the later ones, so it has moved already. */
		parts->at[parts->count].first = moved[named->at[i].first];
		parts->count++;
	}
	return true;
}

bool resolve_parts(symbols *found, const symbols *plt, const extents *unwind, resolved_parts *parts)
{
	symbols all = { 0 };
	resolved_parts named = { 0 };
	resolved_parts holes = { 0 };
	bool fine;

	merge_aliases(found);
	fine = merge_plt(found, plt, &all);
	if (fine) {
		repair_sizes(&all, unwind);
		fine = cut_into_parts(&all, &named) && fill_holes(&named, unwind, &holes) &&
		       merge_parts(&named, &holes, parts);
	}
	hp_vector_free(&all);
	hp_vector_free(&named);
	hp_vector_free(&holes);
	return fine;
}
