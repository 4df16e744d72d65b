/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "die_name.h"

#include "demangle.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <dwarf.h>
#include <stdint.h>
#include <string.h>

enum {
	DEPTH_LIMIT = 64,
	REFERENCE_LIMIT = 16,
};

/* A namespace or type that functions are declared in. */
struct scope {
	const char *name;
	size_t parent; /* index, or NO_SCOPE */
};
#define NO_SCOPE SIZE_MAX

struct member {
	const void *die;
	size_t scope;
};

/* The scopes of one compilation unit. DWARF has no link from a DIE to its parent, so one walk down
 * collects them. */
struct scopes {
	const Dwarf_CU *unit;
	HP_VECTOR(struct scope) scopes;
	HP_VECTOR(struct member) members; /* in DIE order, so sorted by address */
	const void *last;
	UT_hash_handle hh;
};

struct known_name {
	const void *die;
	struct die_identity identity;
	UT_hash_handle hh;
};

struct die_names {
	struct hp_arena *arena;
	struct known_name *known;
	struct scopes *units;
};

struct die_names *die_names_create(struct hp_arena *arena)
{
	struct die_names *names = calloc(1, sizeof(*names));

	if (names)
		names->arena = arena;
	return names;
}

void die_names_destroy(struct die_names *names)
{
	struct scopes *unit;
	struct scopes *next;

	if (!names)
		return;
	HASH_CLEAR(hh, names->known);
	HASH_ITER(hh, names->units, unit, next)
	{
		HASH_DEL(names->units, unit);
		hp_vector_free(&unit->scopes);
		hp_vector_free(&unit->members);
		free(unit);
	}
	free(names);
}

/* --- scopes ----------------------------------------------------------------------------------- */

static const char *scope_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (name)
		return name;
	return dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : NULL;
}

static void collect_scopes(struct scopes *unit, Dwarf_Die *parent, size_t scope, unsigned depth)
{
	Dwarf_Die die;

	if (depth >= DEPTH_LIMIT || dwarf_haschildren(parent) != 1 ||
	    dwarf_child(parent, &die) != 0)
		return;
	do {
		Dwarf_Die next;
		size_t inner = unit->scopes.count;

		if ((const char *)die.addr <= (const char *)unit->last)
			return;
		unit->last = die.addr;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (scope != NO_SCOPE &&
			    !hp_vector_push(&unit->members, (struct member){ die.addr, scope }))
				return;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
		case DW_TAG_interface_type:
			if (!hp_vector_push(&unit->scopes,
					    (struct scope){ scope_name(&die), scope }))
				return;
			collect_scopes(unit, &die, inner, depth + 1);
			break;
		default:
			break;
		}
		if (dwarf_siblingof(&die, &next) != 0)
			return;
		die = next;
	} while (true);
}

static struct scopes *scopes_of(struct die_names *names, Dwarf_Die *die, Dwarf_Die *unit_die)
{
	const Dwarf_CU *unit = die->cu;
	struct scopes *scopes;

	HASH_FIND(hh, names->units, &unit, sizeof(unit), scopes);
	if (scopes)
		return scopes;
	scopes = calloc(1, sizeof(*scopes));
	if (!scopes)
		return NULL;
	scopes->unit = unit;
	HASH_ADD(hh, names->units, unit, sizeof(scopes->unit), scopes);
	if (!scopes->hh.tbl) {
		free(scopes);
		return NULL;
	}
	collect_scopes(scopes, unit_die, NO_SCOPE, 0);
	return scopes;
}

static size_t scope_of(const struct scopes *scopes, const void *die)
{
	size_t first = hp_bisect(i, scopes->members.count,
				 (const char *)scopes->members.at[i].die < (const char *)die);

	if (first < scopes->members.count && scopes->members.at[first].die == die)
		return scopes->members.at[first].scope;
	return NO_SCOPE;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Code in C and assembly has no scopes. */
static bool language_has_scopes(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

static const char *qualified(struct die_names *names, const struct scopes *scopes, size_t scope,
			     const char *name)
{
	for (unsigned depth = 0; scope != NO_SCOPE && depth < DEPTH_LIMIT; depth++) {
		const struct scope *around = &scopes->scopes.at[scope];

		scope = around->parent;
		if (around->name) {
			char *longer = hp_arena_alloc(names->arena,
						      strlen(around->name) + strlen(name) + 3);

			if (!longer)
				return name;
			stpcpy(stpcpy(stpcpy(longer, around->name), "::"), name);
			name = longer;
		}
	}
	return name;
}

/* Goes from an instance to its abstract origin, or from a definition to its declaration. */
static bool follow(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute reference;
	Dwarf_Die target;

	if (!dwarf_attr(die, attribute, &reference) || !dwarf_formref_die(&reference, &target))
		return false;
	*die = target;
	return true;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name && *name ? name : NULL;
}

static const char *make_name(struct die_names *names, Dwarf_Die *die)
{
	const char *name = linkage_name(die);
	Dwarf_Die declaration = *die;
	Dwarf_Die unit;
	struct scopes *scopes;

	if (name)
		return demangle(names->arena, name);
	name = dwarf_diename(die);
	if (!name)
		return NULL;
	for (unsigned i = 0; i < REFERENCE_LIMIT; i++)
		if (!follow(&declaration, DW_AT_abstract_origin) &&
		    !follow(&declaration, DW_AT_specification))
			break;
	if (!dwarf_diecu(&declaration, &unit, NULL, NULL) || !language_has_scopes(&unit))
		return name;
	scopes = scopes_of(names, &declaration, &unit);
	return scopes ? qualified(names, scopes, scope_of(scopes, declaration.addr), name) : name;
}

static struct die_identity make_identity(struct die_names *names, Dwarf_Die *die)
{
	struct die_identity identity = { .linkage = linkage_name(die) };
	int line;

	identity.name = make_name(names, die);
	if (!identity.linkage)
		identity.linkage = dwarf_diename(die);
	if (dwarf_decl_line(die, &line) == 0 && line > 0)
		identity.declared = (uint32_t)line;
	return identity;
}

struct die_identity die_identity(struct die_names *names, Dwarf_Die *function)
{
	Dwarf_Die origin = *function;
	struct known_name *known;
	const void *key;

	follow(&origin, DW_AT_abstract_origin);
	key = origin.addr;
	HASH_FIND(hh, names->known, &key, sizeof(key), known);
	if (known)
		return known->identity;
	known = hp_arena_alloc(names->arena, sizeof(*known));
	if (!known)
		return (struct die_identity){ .name = dwarf_diename(function) };
	known->die = key;
	known->identity = make_identity(names, &origin);
	/* If memory is short, the name is looked up again next time. */
	HASH_ADD(hh, names->known, die, sizeof(known->die), known);
	return known->identity;
}
