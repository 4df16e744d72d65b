/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prefetch.h"

#include <string.h>

/* Stands for no line and no page. */
#define NONE UINT64_MAX

void uarch_prefetch_create(struct uarch_prefetch *prefetch,
			   const struct hp_uarch_geometry *geometry, const struct uarch_sets *cache)
{
	prefetch->cache = cache;
	prefetch->follows_pointers = geometry->prefetches_pointers;
	prefetch->line_shift = (unsigned)__builtin_ctz(geometry->line_bytes);
	prefetch->page_shift = (unsigned)__builtin_ctz(geometry->page_bytes);
	uarch_prefetch_reset(prefetch);
}

void uarch_prefetch_reset(struct uarch_prefetch *prefetch)
{
	memset(prefetch->strides, 0, sizeof(prefetch->strides));
	memset(prefetch->leaders, 0, sizeof(prefetch->leaders));
	for (unsigned i = 0; i < STREAMS; i++)
		prefetch->streams[i] = (struct uarch_stream){ .page = NONE };
	for (unsigned i = 0; i < BROUGHT; i++)
		prefetch->brought[i].line = NONE;
	prefetch->pointers = 0;
}

/* --- what was brought ------------------------------------------------------------------------- */

/* By a hash, since strides of many lines would share few of the places. */
static struct uarch_brought *brought_at(struct uarch_prefetch *prefetch, uint64_t line)
{
	return &prefetch->brought[uarch_hash(line) >> 8 & (BROUGHT - 1)];
}

void uarch_prefetch_bring(struct uarch_prefetch *prefetch, uint64_t line, uint64_t now)
{
	struct uarch_brought *brought = brought_at(prefetch, line);

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
	struct uarch_brought *brought = brought_at(prefetch, line);

	if (brought->line != line)
		return false;
	*when = brought->when;
	brought->line = NONE;
	return true;
}

/* --- strides ---------------------------------------------------------------------------------- */

/* Prefetches the lines of the strides ahead that were not prefetched at the last step, and at least the next
 * line. */
static void bring_ahead(struct uarch_prefetch *prefetch, struct uarch_stride *load, uint64_t now)
{
	int64_t line_bytes = INT64_C(1) << prefetch->line_shift;
	unsigned first = load->ahead ? load->ahead : 1;
	unsigned ahead = load->ahead ? load->ahead + STRIDES_GROWTH : STRIDES_AHEAD;

	load->ahead = ahead < STRIDES_FAR ? ahead : STRIDES_FAR;
	for (unsigned i = first; i <= load->ahead; i++) {
		int64_t apart = load->stride * (int64_t)i;
		uint64_t line;

		if (apart > 0 && apart < line_bytes)
			apart = line_bytes;
		if (apart < 0 && apart > -line_bytes)
			apart = -line_bytes;
		line = (load->last + (uint64_t)apart) >> prefetch->line_shift;
		if (line == load->brought)
			continue;
		load->brought = line;
		bring_new(prefetch, line, now);
	}
}

/* Notes when the pointers that lie ahead are known. */
static void look_ahead(struct uarch_leader *leader, uint64_t now)
{
	if (leader->equal < POINTERS_SURE)
		leader->equal++;
	leader->led = leader->times[leader->next];
	leader->times[leader->next] = now;
	leader->next = (leader->next + 1) % POINTERS_AHEAD;
}

/* A load that went elsewhere is likely to go on from there as before, if it did so for long. */
static void turn_aside(struct uarch_prefetch *prefetch, struct uarch_stride *load, int64_t stride,
		       uint64_t now)
{
	load->ahead = 0;
	load->brought = NONE;
	load->confidence /= 2;
	if (load->confidence >= STRIDE_SURE)
		bring_ahead(prefetch, load, now);
	else if (load->confidence == 0)
		load->stride = stride;
}

void uarch_prefetch_follow_step(struct uarch_prefetch *prefetch, uint64_t ip, uint64_t address,
				uint64_t now)
{
	uint32_t place = uarch_prefetch_place(ip);
	struct uarch_stride *load = &prefetch->strides[place];
	struct uarch_leader *leader = prefetch->follows_pointers ? &prefetch->leaders[place] : NULL;
	int64_t stride = (int64_t)(address - load->last);

	if (load->ip != ip) {
		*load = (struct uarch_stride){ .ip = ip, .last = address, .brought = NONE };
		if (leader)
			*leader = (struct uarch_leader){ 0 };
		return;
	}
	load->last = address;
	if (stride != load->stride) {
		if (leader)
			leader->equal = 0;
		turn_aside(prefetch, load, stride, now);
		return;
	}
	if (stride == 0)
		return;
	if (leader)
		look_ahead(leader, now);
	if (load->confidence < STRIDES_KEPT)
		load->confidence++;
	if (load->confidence >= STRIDE_SURE)
		bring_ahead(prefetch, load, now);
}

bool uarch_prefetch_lead(struct uarch_prefetch *prefetch, uint64_t ip, uint64_t line)
{
	uint32_t place = uarch_prefetch_place(ip);
	const struct uarch_leader *leader = &prefetch->leaders[place];

	if (prefetch->strides[place].ip != ip || leader->equal < POINTERS_SURE ||
	    ++prefetch->pointers % POINTERS_LOST == 0)
		return false;
	bring_new(prefetch, line, leader->led);
	return true;
}

/* --- streams ---------------------------------------------------------------------------------- */

static struct uarch_stream *stream_of(struct uarch_prefetch *prefetch, uint64_t page)
{
	return &prefetch->streams[uarch_hash(page) >> 16 & (STREAMS - 1)];
}

/* The stream that has come to this line from the page before, in either direction; otherwise a new one. */
static struct uarch_stream stream_into(struct uarch_prefetch *prefetch, uint64_t page,
				       uint64_t line)
{
	for (int64_t step = -1; step <= 1; step += 2) {
		struct uarch_stream one = *stream_of(prefetch, page - (uint64_t)step);

		if (one.page == page - (uint64_t)step && one.step == step &&
		    one.ahead == STREAM_FAR && line - one.last == (uint64_t)step) {
			one.page = page;
			return one;
		}
	}
	return (struct uarch_stream){ .page = page, .last = line };
}

/* Lines that were prefetched at the last step, which was one line before, are not again. */
static void bring_lines(struct uarch_prefetch *prefetch, struct uarch_stream *stream, uint64_t now)
{
	unsigned shift = prefetch->page_shift - prefetch->line_shift;
	int64_t first = stream->ahead ? stream->ahead : 1;
	int64_t ahead = stream->ahead ? stream->ahead + STREAM_GROWTH : STREAM_AHEAD;

	stream->ahead = ahead < STREAM_FAR ? ahead : STREAM_FAR;
	for (int64_t i = first; i <= stream->ahead; i++) {
		uint64_t next = stream->last + (uint64_t)(stream->step * i);

		if (stream->ahead == STREAM_FAR || next >> shift == stream->page)
			bring_new(prefetch, next, now);
	}
}

void uarch_prefetch_follow_miss(struct uarch_prefetch *prefetch, uint64_t line, uint64_t now)
{
	uint64_t page = line >> (prefetch->page_shift - prefetch->line_shift);
	struct uarch_stream *stream = stream_of(prefetch, page);
	int64_t step;

	if (stream->page != page)
		*stream = stream_into(prefetch, page, line);
	step = (int64_t)(line - stream->last);
	stream->last = line;
	if (step != stream->step || (step != 1 && step != -1)) {
		stream->confidence = 0;
		stream->ahead = 0;
	}
	stream->step = step;
	if (step != 1 && step != -1)
		return;
	if (stream->confidence < STREAM_SURE)
		stream->confidence++;
	if (stream->confidence == STREAM_SURE)
		bring_lines(prefetch, stream, now);
}
