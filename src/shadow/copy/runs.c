/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs.h"

#include "../tuning.h"
#include <hpcprof/base/vector.h>

#include <stdlib.h>

void runs_begin(struct runs *runs)
{
	runs->count = 0;
	runs->bytes = 0;
}

void runs_clear(struct runs *runs)
{
	free(runs->at);
	*runs = (struct runs){ 0 };
}

/* What fits behind the last run, as a part of it. */
static uint64_t extend_last(struct runs *runs, uint64_t address, uint64_t bytes, uint64_t offset)
{
	struct run *last = runs->count ? &runs->at[runs->count - 1] : NULL;

	if (!last || address != last->address + last->bytes || offset != last->offset + last->bytes)
		return 0;
	if (bytes > RUN_BYTES - last->bytes)
		bytes = RUN_BYTES - last->bytes;
	last->bytes += bytes;
	return bytes;
}

bool runs_add(struct runs *runs, uint64_t address, uint64_t bytes, uint64_t offset)
{
	uint64_t done = extend_last(runs, address, bytes, offset);

	runs->bytes += bytes;
	for (uint64_t part; done < bytes; done += part) {
		part = bytes - done < RUN_BYTES ? bytes - done : RUN_BYTES;
		if (!hp_vector_push(runs, (struct run){ .address = address + done,
							.bytes = part,
							.offset = offset + done }))
			return false;
	}
	return true;
}

size_t runs_vectors(const struct runs *runs, size_t first, size_t end, uint8_t *buffer,
		    struct iovec local[RUNS_AT_ONCE], struct iovec remote[RUNS_AT_ONCE])
{
	uint64_t bytes = 0;
	size_t count = 0;

	while (first + count < end && count < RUNS_AT_ONCE && bytes < COPY_BYTES_AT_ONCE) {
		const struct run *run = &runs->at[first + count];

		local[count] = (struct iovec){ buffer + run->offset, run->bytes };
		remote[count] = (struct iovec){ (void *)(uintptr_t)run->address, run->bytes };
		bytes += run->bytes;
		count++;
	}
	return count;
}
