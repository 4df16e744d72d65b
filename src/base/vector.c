/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/vector.h>

#include <stdint.h>
#include <stdlib.h>

bool hp_grow_to(void **data, size_t *capacity, size_t wanted, size_t element_bytes)
{
	size_t room = *capacity;
	void *grown;

	room = room > SIZE_MAX / 2 ? SIZE_MAX : room * 2;
	if (room < wanted)
		room = wanted;
	if (room < 8)
		room = 8;
	grown = reallocarray(*data, room, element_bytes);
	if (!grown)
		return false;
	*data = grown;
	*capacity = room;
	return true;
}
