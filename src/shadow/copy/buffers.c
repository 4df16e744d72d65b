/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "buffers.h"

enum { PAGE_BYTES = 4096 };

/* Whether to take `a` rather than `b` for `bytes` of that kind. */
static bool is_better(const struct buffer *a, const struct buffer *b, uint64_t bytes,
		      bool is_lendable)
{
	if (a->is_lendable != b->is_lendable)
		return a->is_lendable == is_lendable;
	if (a->is_lendable != is_lendable || (a->bytes >= bytes && b->bytes >= bytes))
		return a->bytes < b->bytes;
	return a->bytes > b->bytes;
}

void buffers_take(struct buffers *buffers, uint64_t bytes, bool is_kept, struct buffer *taken)
{
	bool is_lendable = buffer_would_be_lent(bytes, is_kept);
	size_t best = 0;

	*taken = (struct buffer){ 0 };
	for (size_t i = 1; i < buffers->count; i++) {
		if (is_better(&buffers->at[i], &buffers->at[best], bytes, is_lendable))
			best = i;
	}
	if (buffers->count) {
		*taken = buffers->at[best];
		buffers->at[best] = buffers->at[--buffers->count];
	}
	taken->is_kept = is_kept;
	buffers->away[buffers->away_count++] = taken;
}

void buffers_give(struct buffers *buffers, struct buffer *buffer)
{
	for (size_t i = 0; i < buffers->away_count; i++) {
		if (buffers->away[i] == buffer)
			buffers->away[i] = buffers->away[--buffers->away_count];
	}
	if (buffer->at && buffers->count < MAKERS)
		buffers->at[buffers->count++] = *buffer;
	else
		buffer_release(buffer);
	*buffer = (struct buffer){ 0 };
}

void buffers_adopt(struct buffers *buffers, uint8_t *memory, uint64_t bytes)
{
	const uint64_t part = bytes / MAKERS / PAGE_BYTES * PAGE_BYTES;

	for (size_t i = 0; i < MAKERS && memory; i++) {
		struct buffer buffer = { 0 };

		buffer_adopt(&buffer, memory + i * part, part);
		buffers_give(buffers, &buffer);
	}
}

bool buffers_away_suffice(const struct buffers *buffers, const struct buffer *mine, uint64_t bytes)
{
	for (size_t i = 0; i < buffers->away_count; i++) {
		if (buffers->away[i] != mine && buffers->away[i]->bytes >= bytes)
			return true;
	}
	return false;
}

void buffers_clear(struct buffers *buffers)
{
	for (size_t i = 0; i < buffers->count; i++)
		buffer_release(&buffers->at[i]);
	buffers->count = 0;
}
