/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "known.h"

#include <assert.h>
#include <string.h>

static_assert((KNOWN_PLACES & (KNOWN_PLACES - 1)) == 0, "slots are chosen by bits");

static size_t slot_of(uint64_t place, const void *of)
{
	uint64_t hash = (place ^ (uint64_t)(uintptr_t)of << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return hash >> 40 & (KNOWN_PLACES - 1);
}

void known_forget(struct known *known)
{
	memset(known->at, 0, sizeof(known->at));
	known->forgotten++;
}

struct known_place *known_slot(struct known *known, const struct tables *tables,
			       const struct space *space, uint64_t address)
{
	if (known->changes != tables->changes) {
		known_forget(known);
		memset(known->rules, 0, sizeof(known->rules));
		known->changes = tables->changes;
	}
	return &known->at[slot_of(address, space)];
}

struct known_rule known_rule(struct known *known, const struct unwinding *unwinding,
			     uint64_t offset)
{
	struct known_rule *rule = &known->rules[slot_of(offset, unwinding)];

	if (rule->unwinding == unwinding && rule->offset == offset)
		return *rule;
	*rule = (struct known_rule){ .unwinding = unwinding,
				     .offset = offset,
				     .procedure = offset };
	if (unwinding->table) {
		rule->recipe = hp_unwind_recipe_at(unwinding->table, offset);
		rule->procedure = hp_unwind_procedure_at(unwinding->table, offset);
	}
	return *rule;
}
