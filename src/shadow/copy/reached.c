/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reached.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum {
	WORD = 8,
	STACK_POINTER = 4, /* rsp, by its number in instructions */
	SEEN_BITS = 8192,
	GENERAL = 16,
};

/* The state of one collection. */
struct reach {
	struct reached *reached;
	pid_t tid;
	const struct areas *areas;
	const struct area *only; /* the only area to be read: its stack; NULL: any area */
	uint64_t thread_pointer;
	/* Hashes of the lines in the pieces. A line with the hash of another is left out. */
	uint8_t seen[SEEN_BITS / 8];
};

static bool is_comparable(const struct reach *reach, const struct area *area)
{
	if (reach->only && area != reach->only)
		return false;
	return (area->protection & PROT_WRITE) && !area->is_shared && !area->is_secret &&
	       (area->kind == AREA_MEMORY || area->kind == AREA_HEAP || area->kind == AREA_STACK ||
		area->kind == AREA_FILE);
}

static bool is_near_control_block(const struct reach *reach, uint64_t start, uint64_t end)
{
	return end > reach->thread_pointer - CONTROL_BLOCK_BYTES &&
	       start < reach->thread_pointer + CONTROL_BLOCK_BYTES;
}

/* Adds a piece around `address`, clipped to its area. It is read later. */
static void add_piece(struct reach *reach, uint64_t address, uint64_t before, uint64_t behind)
{
	struct reached *reached = reach->reached;
	const struct area *area = areas_find(reach->areas, address);
	uint64_t start, end;

	if (!area || !is_comparable(reach, area) || reached->count == REACHED_PIECES)
		return;
	start = address - area->start > before ? address - before : area->start;
	end = area->end - address > behind ? address + behind : area->end;
	start = (start + WORD - 1) / WORD * WORD;
	end = end / WORD * WORD;
	if (start >= end || is_near_control_block(reach, start, end) ||
	    end - start > REACHED_BYTES - reached->used_bytes)
		return;
	reached->pieces[reached->count++] = (struct reached_piece){
		.address = start,
		.bytes = (uint32_t)(end - start),
		.offset = reached->used_bytes,
	};
	reached->used_bytes += (uint32_t)(end - start);
}

/* Reads the pieces from index `first` on. A piece that cannot be read gets 0 bytes. */
static void read_pieces(struct reach *reach, size_t first)
{
	struct reached *reached = reach->reached;
	struct iovec remote[REACHED_PIECES];

	while (first < reached->count) {
		struct iovec local = { .iov_base = reached->bytes + reached->pieces[first].offset };
		size_t count = reached->count - first;
		size_t got;
		ssize_t result;

		for (size_t i = 0; i < count; i++) {
			const struct reached_piece *piece = &reached->pieces[first + i];

			remote[i] =
				(struct iovec){ (void *)(uintptr_t)piece->address, piece->bytes };
			local.iov_len += piece->bytes;
		}
		result = process_vm_readv(reach->tid, &local, 1, remote, count, 0);
		got = result > 0 ? (size_t)result : 0;
		while (first < reached->count && got >= reached->pieces[first].bytes)
			got -= reached->pieces[first++].bytes;
		if (first < reached->count)
			reached->pieces[first++].bytes = 0;
	}
}

/* Marks the line of the address. False if it was marked before. */
static bool mark(struct reach *reach, uint64_t address)
{
	uint64_t line = address / POINTED_BYTES;
	uint64_t bit = (line ^ line / SEEN_BITS) % SEEN_BITS;
	bool is_new = !(reach->seen[bit / 8] >> bit % 8 & 1);

	reach->seen[bit / 8] |= (uint8_t)(1U << bit % 8);
	return is_new;
}

static void follow_pointers(struct reach *reach, const struct reached_piece *piece, uint32_t bytes)
{
	const struct areas *areas = reach->areas;

	for (uint32_t at = 0; at < bytes && at < piece->bytes; at += WORD) {
		uint64_t value;

		memcpy(&value, reach->reached->bytes + piece->offset + at, sizeof(value));
		if (value >= areas->at[0].start && value < areas->at[areas->count - 1].end &&
		    mark(reach, value))
			add_piece(reach, value, 0, POINTED_BYTES);
	}
}

/* Interpreters keep the frames of a program's functions in an array: those of its callers lie before the
 * one that a register points to. Without them, moments of a recursive function are alike. */
static void add_callers(struct reach *reach, const uint64_t general[16])
{
	for (unsigned i = 0; i < GENERAL; i++)
		if (i != STACK_POINTER)
			add_piece(reach, general[i], CALLERS_BYTES, 0);
}

void reached_read(struct reached *reached, pid_t tid, const struct areas *areas,
		  const uint64_t general[16], uint64_t thread_pointer, bool is_alone)
{
	uint64_t stack = general[STACK_POINTER];
	struct reach reach = {
		.reached = reached,
		.tid = tid,
		.areas = areas,
		.only = is_alone ? NULL : areas_find(areas, stack),
		.thread_pointer = thread_pointer,
	};
	size_t direct;

	reached->count = 0;
	reached->used_bytes = 0;
	if (!areas->count || (!is_alone && !reach.only))
		return;
	add_piece(&reach, stack, 0, REACHED_STACK_BYTES);
	for (unsigned i = 0; i < GENERAL; i++)
		if (i != STACK_POINTER && mark(&reach, general[i]))
			add_piece(&reach, general[i], BEFORE_POINTER_BYTES, BEHIND_POINTER_BYTES);
	read_pieces(&reach, 0);
	direct = reached->count;
	add_callers(&reach, general);
	for (size_t i = 0; i < direct; i++)
		follow_pointers(&reach, &reached->pieces[i], FOLLOWED_BYTES);
	read_pieces(&reach, direct);
}
