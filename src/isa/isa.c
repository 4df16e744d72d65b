/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machines.h"

const struct hp_isa *hp_isa_of(uint16_t machine)
{
	static const struct hp_isa *const known[] = { &isa_x86_64 };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i]->machine == machine)
			return known[i];
	return NULL;
}
