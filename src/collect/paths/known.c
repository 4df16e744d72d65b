/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "known.h"

#include <assert.h>
#include <string.h>

static_assert((KNOWN_PLACES & (KNOWN_PLACES - 1)) == 0, "slots are chosen by bits");

void known_forget(struct known *known)
{
	memset(known->at, 0, sizeof(known->at));
}

struct known_place *known_slot(struct known *known, const struct tables *tables,
			       const struct space *space, uint64_t address)
{
	uint64_t hash = (address ^ (uintptr_t)space << 20) * UINT64_C(0x9e3779b97f4a7c15);

	if (known->changes != tables->changes) {
		known_forget(known);
		known->changes = tables->changes;
	}
	return &known->at[hash >> 40 & (KNOWN_PLACES - 1)];
}
