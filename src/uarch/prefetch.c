/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prefetch.h"

#include "history.h"

#include <string.h>

/* Stands for no line and no page. */
#define NONE UINT64_MAX

void uarch_prefetch_create(struct uarch_prefetch *prefetch,
			   const struct hp_uarch_geometry *geometry, const struct uarch_sets *cache)
{
	prefetch->cache = cache;
	prefetch->line_shift = (unsigned)__builtin_ctz(geometry->line_bytes);
	prefetch->page_shift = (unsigned)__builtin_ctz(geometry->page_bytes);
	uarch_prefetch_reset(prefetch);
}

void uarch_prefetch_reset(struct uarch_prefetch *prefetch)
{
	memset(prefetch->strides, 0, sizeof(prefetch->strides));
	for (unsigned i = 0; i < STREAMS; i++)
		prefetch->streams[i] = (struct uarch_stream){ .page = NONE };
	for (unsigned i = 0; i < BROUGHT; i++)
		prefetch->brought[i].line = NONE;
}

/* --- what was brought ------------------------------------------------------------------------- */

void uarch_prefetch_bring(struct uarch_prefetch *prefetch, uint64_t line, uint64_t now)
{
	struct uarch_brought *brought = &prefetch->brought[line & (BROUGHT - 1)];

	if (brought->line != line)
		*brought = (struct uarch_brought){ line, now };
}

static void bring_new(struct uarch_prefetch *prefetch, uint64_t line, uint64_t now)
{
	if (!uarch_sets_has(prefetch->cache, line))
		uarch_prefetch_bring(prefetch, line, now);
}

bool uarch_prefetch_take(struct uarch_prefetch *prefetch, uint64_t line, uint64_t *when)
{
	struct uarch_brought *brought = &prefetch->brought[line & (BROUGHT - 1)];

	if (brought->line != line)
		return false;
	*when = brought->when;
	brought->line = NONE;
	return true;
}

/* --- strides ---------------------------------------------------------------------------------- */

/* Prefetches the line some strides ahead, at least the next one, within the page. */
static void bring_ahead(struct uarch_prefetch *prefetch, struct uarch_stride *load, uint64_t now)
{
	int64_t line_bytes = INT64_C(1) << prefetch->line_shift;
	int64_t ahead = load->stride * STRIDES_AHEAD;
	uint64_t address;

	if (ahead > 0 && ahead < line_bytes)
		ahead = line_bytes;
	if (ahead < 0 && ahead > -line_bytes)
		ahead = -line_bytes;
	address = load->last + (uint64_t)ahead;
	if (address >> prefetch->page_shift != load->last >> prefetch->page_shift ||
	    address >> prefetch->line_shift == load->brought)
		return;
	load->brought = address >> prefetch->line_shift;
	bring_new(prefetch, load->brought, now);
}

void uarch_prefetch_follow_load(struct uarch_prefetch *prefetch, uint64_t ip, uint64_t address,
				uint64_t now)
{
	struct uarch_stride *load = &prefetch->strides[uarch_hash(ip) & (STRIDES - 1)];
	int64_t stride = (int64_t)(address - load->last);

	if (load->ip != ip) {
		*load = (struct uarch_stride){ .ip = ip, .last = address, .brought = NONE };
		return;
	}
	load->last = address;
	if (stride != load->stride) {
		if (load->confidence > 0)
			load->confidence--;
		else
			load->stride = stride;
		return;
	}
	if (stride == 0)
		return;
	if (load->confidence < STRIDE_SURE)
		load->confidence++;
	else
		bring_ahead(prefetch, load, now);
}

/* --- streams ---------------------------------------------------------------------------------- */

void uarch_prefetch_follow_miss(struct uarch_prefetch *prefetch, uint64_t line, uint64_t now)
{
	uint64_t page = line >> (prefetch->page_shift - prefetch->line_shift);
	struct uarch_stream *stream = &prefetch->streams[uarch_hash(page) >> 16 & (STREAMS - 1)];
	int64_t step = (int64_t)(line - stream->last);

	if (stream->page != page) {
		*stream = (struct uarch_stream){ .page = page, .last = line };
		return;
	}
	stream->last = line;
	if (step != 1 && step != -1) {
		stream->confidence = 0;
		return;
	}
	if (step != stream->step)
		stream->confidence = 0;
	stream->step = step;
	if (++stream->confidence < STREAM_SURE)
		return;
	stream->confidence = STREAM_SURE;
	for (int64_t i = 1; i <= STREAM_AHEAD; i++) {
		uint64_t next = line + (uint64_t)(step * i);

		if (next >> (prefetch->page_shift - prefetch->line_shift) != page)
			return;
		bring_new(prefetch, next, now);
	}
}
