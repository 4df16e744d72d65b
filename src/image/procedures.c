/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "procedures.h"

#include "cold.h"
#include "demangle.h"
#include "gaps.h"
#include "resolve.h"
#include "unsized.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/search.h>

#include <stdio.h>
#include <string.h>

/* `procedure` comes first, so that its address is also the part's. Until it is named, its `linkage`
 * is the symbol as in the table. */
struct part {
	struct hp_procedure procedure;
	bool linked; /* `linkage` is final, unless no symbol has it */
	bool named;
	bool is_cold;
	bool has_namesake; /* an excerpt says so, which does not contain the namesakes */
};

struct procedures {
	struct elf_file *file;
	const struct hp_excerpt *excerpt;
	const char *image_name;
	bool plain_names;
	struct hp_arena *arena;
	struct part *parts; /* sorted */
	size_t count;
	const struct hp_procedure **list; /* made when asked for */
	bool list_is_named;
	uint64_t *linkages; /* hashes of all linkage names, sorted; likewise */
	size_t linkage_count;
	struct gaps gaps;
	struct hp_procedure fallback; /* when memory is too short for a gap */
	enum symbol_origin origin;
	bool from_unwind;
};

static struct part *part_at(const struct procedures *procedures, uint64_t address)
{
	size_t after = hp_bisect(i, procedures->count,
				 procedures->parts[i].procedure.address.value <= address);

	return after > 0 ? &procedures->parts[after - 1] : NULL;
}

static uint64_t part_end(const struct part *part)
{
	return part->procedure.address.value + part->procedure.size;
}

static bool part_holds(const struct part *part, uint64_t address)
{
	return part && address - part->procedure.address.value < part->procedure.size;
}

/* --- building --------------------------------------------------------------------------------- */

static struct hp_error *take_parts(struct procedures *procedures, const resolved_parts *resolved)
{
	procedures->parts = calloc(resolved->count + 1, sizeof(*procedures->parts));
	if (!procedures->parts)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < resolved->count; i++) {
		const struct resolved *from = &resolved->at[i];
		struct part *part = &procedures->parts[i];

		part->procedure.address.value = from->address;
		part->procedure.size = from->end - from->address;
		part->procedure.linkage = from->name;
		part->procedure.owner = &procedures->parts[from->first].procedure;
		if (from->is_plt)
			part->procedure.source = HP_PROCEDURE_PLT;
		else if (from->name)
			part->procedure.source = HP_PROCEDURE_SYMBOL;
		else
			part->procedure.source = HP_PROCEDURE_EH_FRAME;
		if (!from->name)
			procedures->from_unwind = true;
		part->is_cold = from->name && !procedures->plain_names && cold_stem(from->name);
	}
	procedures->count = resolved->count;
	return NULL;
}

static enum hp_procedure_source source_of(const struct hp_excerpt_part *part)
{
	switch ((enum hp_excerpt_source)part->source) {
	case HP_EXCERPT_PLT:
		return HP_PROCEDURE_PLT;
	case HP_EXCERPT_SYMBOL:
		return HP_PROCEDURE_SYMBOL;
	case HP_EXCERPT_EH_FRAME:
		break;
	}
	return HP_PROCEDURE_EH_FRAME;
}

/* Takes the parts that were resolved when the excerpt was made. */
static struct hp_error *take_excerpt(struct procedures *procedures)
{
	const struct hp_excerpt *excerpt = procedures->excerpt;

	procedures->parts = calloc(excerpt->parts.count + 1, sizeof(*procedures->parts));
	if (!procedures->parts)
		return hp_error_create_no_memory();
	procedures->count = excerpt->parts.count;
	for (size_t i = 0; i < procedures->count; i++) {
		const struct hp_excerpt_part *from = &excerpt->parts.at[i];
		struct part *part = &procedures->parts[i];

		part->procedure = (struct hp_procedure){
			.address = { from->address },
			.size = from->size,
			.linkage = from->linkage,
			.owner = &part->procedure,
			.source = source_of(from),
			.never_returns = from->never_returns,
		};
		part->has_namesake = from->has_namesake;
	}
	/* Owners own themselves. */
	for (size_t i = 0; i < procedures->count; i++) {
		const struct hp_excerpt_part *from = &excerpt->parts.at[i];
		size_t owner =
			hp_bisect(k, procedures->count, excerpt->parts.at[k].address < from->owner);

		if (owner < procedures->count && excerpt->parts.at[owner].address == from->owner &&
		    excerpt->parts.at[owner].owner == from->owner)
			procedures->parts[i].procedure.owner = &procedures->parts[owner].procedure;
	}
	/* A procedure that is its own owner has its own name, or none. */
	for (size_t i = 0; i < procedures->count; i++) {
		struct hp_procedure *procedure = &procedures->parts[i].procedure;

		if (procedure->owner == procedure && !procedure->linkage)
			procedure->source = HP_PROCEDURE_EH_FRAME;
	}
	return NULL;
}

static void link_cold_parts(struct procedures *procedures, const cold_links *links)
{
	for (size_t i = 0; i < links->count; i++) {
		struct part *cold = part_at(procedures, links->at[i].cold);
		struct part *owner = part_at(procedures, links->at[i].owner);

		if (part_holds(cold, links->at[i].cold) && cold->is_cold &&
		    part_holds(owner, links->at[i].owner) && !owner->is_cold)
			cold->procedure.owner = owner->procedure.owner;
	}
	/* Later parts of a part that has found its owner follow it. */
	for (size_t i = 0; i < procedures->count; i++) {
		struct hp_procedure *procedure = &procedures->parts[i].procedure;

		procedure->owner = procedure->owner->owner;
	}
}

/* Reads Go's table if there is no full symbol table. */
static bool read_go(const struct elf_file *file, symbols *found, enum symbol_origin *origin)
{
	size_t before = found->count;

	if (*origin == ORIGIN_SYMTAB || *origin == ORIGIN_DEBUG_FILE)
		return true;
	if (!gopclntab_symbols(file, found))
		return false;
	if (found->count > before)
		*origin = ORIGIN_GOPCLNTAB;
	return true;
}

static bool read_file(struct elf_file *file, symbols *found, enum symbol_origin *origin,
		      extents *unwind)
{
	if (!symbols_read(file, found, origin) || !read_go(file, found, origin))
		return false;
	if (*origin == ORIGIN_DYNSYM)
		unsized_limit(file, found);
	elf_file_forget_pages(file);
	if (!eh_frame_extents(file, unwind))
		return false;
	elf_file_forget_pages(file);
	return true;
}

static struct hp_error *build(struct procedures *procedures, const struct procedures_input *input,
			      symbols *found, symbols *plt)
{
	extents unwind = { 0 };
	cold_links links = { 0 };
	resolved_parts resolved = { 0 };
	struct hp_error *error = NULL;
	bool fine = true;

	if (input->file)
		fine = read_file(input->file, found, &procedures->origin, &unwind);
	for (size_t i = 0; i < input->kept->count && fine; i++)
		fine = hp_vector_push(found, input->kept->at[i]);
	resolve_sort(found);
	if (fine && input->file)
		fine = plt_entries(input->file, found, procedures->arena, plt);
	if (fine && !input->plain_names)
		fine = cold_find_links(found, &links);
	fine = fine && resolve_parts(found, plt, &unwind, &resolved);
	error = fine ? take_parts(procedures, &resolved) : hp_error_create_no_memory();
	if (!error)
		link_cold_parts(procedures, &links);
	hp_vector_free(&unwind);
	hp_vector_free(&links);
	hp_vector_free(&resolved);
	return error;
}

struct hp_error *procedures_create(const struct procedures_input *input,
				   struct procedures **created)
{
	_cleanup_(procedures_destroy_scope) struct procedures *procedures =
		calloc(1, sizeof(*procedures));
	symbols found = { 0 };
	symbols plt = { 0 };
	struct hp_error *error;

	if (!procedures)
		return hp_error_create_no_memory();
	procedures->file = input->file;
	procedures->excerpt = input->excerpt;
	procedures->image_name = input->image_name;
	procedures->plain_names = input->plain_names;
	procedures->fallback = (struct hp_procedure){ .name = input->image_name,
						      .linkage = input->image_name,
						      .size = UINT64_MAX,
						      .owner = &procedures->fallback,
						      .source = HP_PROCEDURE_GAP };
	procedures->arena = hp_arena_create();
	if (!procedures->arena)
		return hp_error_create_no_memory();
	error = input->excerpt ? take_excerpt(procedures) : build(procedures, input, &found, &plt);
	procedures->gaps = (struct gaps){
		.file = input->file,
		.arena = procedures->arena,
		.image_name = input->image_name,
		.is_all = !input->file && !input->excerpt && procedures->count == 0,
	};
	hp_vector_free(&found);
	hp_vector_free(&plt);
	if (!error)
		*created = hp_steal(procedures);
	return error;
}

void procedures_destroy(struct procedures *procedures)
{
	if (!procedures)
		return;
	gaps_clear(&procedures->gaps);
	hp_arena_destroy(procedures->arena);
	free(procedures->parts);
	free(procedures->list);
	free(procedures->linkages);
	free(procedures);
}

/* --- names ------------------------------------------------------------------------------------ */

/* "memcpy@@GLIBC_2.14" is memcpy, "f.cold.2" is f. */
static const char *plain_linkage(struct procedures *procedures, const char *name)
{
	size_t length = cold_stem(name);
	const char *copy;

	if (!length)
		length = strcspn(name, "@");
	if (length == 0 || name[length] == '\0')
		return name;
	copy = hp_arena_strndup(procedures->arena, name, length);
	return copy ? copy : name;
}

static const char *plt_name(struct procedures *procedures, const char *linkage)
{
	static const char suffix[] = "@plt";
	size_t stem = strlen(linkage) - strlen(suffix);
	const char *bare = hp_arena_strndup(procedures->arena, linkage, stem);
	const char *readable = bare ? demangle(procedures->arena, bare) : NULL;
	size_t length;
	char *name;

	if (!readable || readable == bare)
		return linkage;
	length = strlen(readable);
	name = hp_arena_alloc(procedures->arena, length + sizeof(suffix));
	if (!name)
		return linkage;
	memcpy(name, readable, length);
	memcpy(name + length, suffix, sizeof(suffix));
	return name;
}

static void link_own(struct procedures *procedures, struct part *part)
{
	struct hp_procedure *procedure = &part->procedure;

	part->linked = true;
	if (procedure->source == HP_PROCEDURE_SYMBOL && !procedures->plain_names)
		procedure->linkage = plain_linkage(procedures, procedure->linkage);
}

static void give_own_name(struct procedures *procedures, struct part *part)
{
	struct hp_procedure *procedure = &part->procedure;

	part->named = true;
	switch (procedure->source) {
	case HP_PROCEDURE_PLT:
		procedure->name = plt_name(procedures, procedure->linkage);
		break;
	case HP_PROCEDURE_SYMBOL:
		procedure->name = procedures->plain_names
					  ? procedure->linkage
					  : demangle(procedures->arena, procedure->linkage);
		break;
	case HP_PROCEDURE_EH_FRAME:
	case HP_PROCEDURE_CODE:
	case HP_PROCEDURE_GAP:
		procedure->name = address_name(procedures->arena, procedures->image_name,
					       procedure->address.value);
		procedure->linkage = procedure->name;
		break;
	}
}

static struct part *owner_of(const struct procedures *procedures, struct part *part)
{
	struct part *owner = part_at(procedures, part->procedure.owner->address.value);

	return owner ? owner : part;
}

static const struct hp_procedure *linked(struct procedures *procedures, struct part *part)
{
	struct part *owner;

	if (part->linked)
		return &part->procedure;
	owner = owner_of(procedures, part);
	if (!owner->linked)
		link_own(procedures, owner);
	part->procedure.linkage = owner->procedure.linkage;
	part->linked = true;
	return &part->procedure;
}

static const struct hp_procedure *named(struct procedures *procedures, struct part *part)
{
	struct part *owner;

	if (part->named)
		return &part->procedure;
	linked(procedures, part);
	owner = owner_of(procedures, part);
	if (!owner->named)
		give_own_name(procedures, owner);
	part->procedure.name = owner->procedure.name;
	part->procedure.linkage = owner->procedure.linkage;
	part->named = true;
	return &part->procedure;
}

/* --- names that several have ------------------------------------------------------------------ */

static uint64_t linkage_hash(const struct part *part)
{
	const char *name = part->procedure.linkage;

	return XXH3_64bits(name, strcspn(name, "@"));
}

/* Whether the part has a symbol of its own: parts of other procedures have their names, and code
 * without symbols has none. */
static bool has_own_symbol(const struct part *part)
{
	return part->procedure.source == HP_PROCEDURE_SYMBOL && !part->is_cold &&
	       part->procedure.owner == &part->procedure;
}

HP_ORDER_VALUES(compare_hashes, uint64_t);

static void list_linkages(struct procedures *procedures)
{
	procedures->linkages = calloc(procedures->count + 1, sizeof(uint64_t));
	for (size_t i = 0; i < procedures->count && procedures->linkages; i++)
		if (has_own_symbol(&procedures->parts[i]))
			procedures->linkages[procedures->linkage_count++] =
				linkage_hash(&procedures->parts[i]);
	if (procedures->linkage_count)
		qsort(procedures->linkages, procedures->linkage_count, sizeof(uint64_t),
		      compare_hashes);
}

bool procedures_have_namesake(struct procedures *procedures, uint64_t address)
{
	const struct part *part = part_at(procedures, address);
	uint64_t hash;
	size_t first;

	if (!part_holds(part, address) || !has_own_symbol(part))
		return false;
	if (procedures->excerpt)
		return part->has_namesake;
	if (!procedures->linkages)
		list_linkages(procedures);
	hash = linkage_hash(part);
	first = hp_bisect(i, procedures->linkage_count, procedures->linkages[i] < hash);
	return first + 1 < procedures->linkage_count && procedures->linkages[first + 1] == hash;
}

/* --- looking up ------------------------------------------------------------------------------- */

static void see_border(uint64_t border, uint64_t address, uint64_t *low, uint64_t *high)
{
	if (border <= address && border > *low)
		*low = border;
	if (border > address && border < *high)
		*high = border;
}

/* The nearest borders of executable parts around an address that no procedure holds. */
static void text_borders(const struct procedures *procedures, uint64_t address, uint64_t *low,
			 uint64_t *high)
{
	const struct elf_file *file = procedures->file;
	const struct hp_excerpt *excerpt = procedures->excerpt;

	for (size_t i = 0; file && i < file->text_count; i++) {
		see_border(file->texts[i].address, address, low, high);
		see_border(file->texts[i].end, address, low, high);
	}
	for (size_t i = 0; excerpt && i < excerpt->texts.count; i++) {
		see_border(excerpt->texts.at[i].address, address, low, high);
		see_border(excerpt->texts.at[i].end, address, low, high);
	}
}

static const struct hp_procedure *gap_at(struct procedures *procedures, const struct part *before,
					 uint64_t address)
{
	size_t next = before ? (size_t)(before - procedures->parts) + 1 : 0;
	uint64_t low = before ? part_end(before) : 0;
	uint64_t high = next < procedures->count ? procedures->parts[next].procedure.address.value
						 : UINT64_MAX;
	const struct hp_procedure *found;

	text_borders(procedures, address, &low, &high);
	found = gaps_at(&procedures->gaps, low, high > low ? high : low + 1, address);
	return found ? found : &procedures->fallback;
}

const struct hp_procedure *procedures_at(struct procedures *procedures, uint64_t address)
{
	struct part *part = part_at(procedures, address);

	if (part_holds(part, address))
		return named(procedures, part);
	return gap_at(procedures, part, address);
}

void procedures_list(struct procedures *procedures, bool with_names,
		     const struct hp_procedure *const **list, size_t *count)
{
	*list = NULL;
	*count = 0;
	if (!procedures->list) {
		procedures->list = calloc(procedures->count + 1, sizeof(*procedures->list));
		if (!procedures->list)
			return;
		for (size_t i = 0; i < procedures->count; i++)
			procedures->list[i] = linked(procedures, &procedures->parts[i]);
	}
	for (size_t i = 0; i < procedures->count && with_names && !procedures->list_is_named; i++)
		named(procedures, &procedures->parts[i]);
	procedures->list_is_named |= with_names;
	*list = procedures->list;
	*count = procedures->count;
}

static bool joins(struct procedures *procedures, const struct hp_joint *joint)
{
	struct part *part = part_at(procedures, joint->part->address.value);
	struct part *owner = part_at(procedures, joint->owner->owner->address.value);

	if (!part || !owner || &part->procedure != joint->part || part == owner ||
	    &owner->procedure != joint->owner->owner || joint->part->owner != joint->part)
		return false;
	part->procedure.owner = &owner->procedure;
	return true;
}

void procedures_join(struct procedures *procedures, const struct hp_joint *joints, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any = joins(procedures, &joints[i]) || any;
	/* Later parts of a part that has found its owner follow it. */
	for (size_t i = 0; i < procedures->count && any; i++) {
		struct part *part = &procedures->parts[i];
		const struct hp_procedure *owner = part->procedure.owner;

		if (owner == &part->procedure)
			continue;
		part->procedure.owner = owner->owner;
		if (part->linked) {
			part->linked = false;
			linked(procedures, part);
		}
		if (part->named) {
			part->named = false;
			named(procedures, part);
		}
	}
}

enum symbol_origin procedures_origin(const struct procedures *procedures)
{
	return procedures->origin;
}

bool procedures_from_unwind(const struct procedures *procedures)
{
	return procedures->from_unwind;
}
