/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include "../tuning.h"

#include <sys/mman.h>
#include <sys/syscall.h>

enum {
	PAGE_BYTES = 4096,
	MOST_ERRNO = 4095,
};

static int64_t run(struct shadow_calls *calls, const struct call *call)
{
	return sandbox_call(calls->sandbox, call->number, call->a[0], call->a[1], call->a[2],
			    call->a[3], call->a[4], call->a[5]);
}

/* Other bits change more than the named memory. */
static bool is_known(uint64_t protection)
{
	return !(protection & ~(uint64_t)(PROT_READ | PROT_WRITE | PROT_EXEC));
}

static uint64_t page_up(uint64_t address)
{
	return (address + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

/* Whether the range may be changed: code in it must have been created by the program. */
static bool may_change(const struct shadow_calls *calls, uint64_t start, uint64_t bytes)
{
	return start + bytes >= start &&
	       areas_are_made(calls->areas, start, start + bytes, PROT_EXEC) &&
	       !sandbox_is_ours(calls->sandbox, start, bytes);
}

/* Notes memory that becomes code, or ceases to be code. */
static bool note_code(struct shadow_calls *calls, const struct call *call, uint64_t start,
		      uint64_t bytes, uint64_t protection)
{
	return call->result < 0 ||
	       !((protection & PROT_EXEC) || call_is_sacred(calls, start, bytes)) ||
	       areas_set(calls->areas, start, page_up(start + bytes), (int)protection);
}

/* Maps a file: as anonymous memory that is filled, because a copy cannot open anything. */
static bool map_file(struct shadow_calls *calls, struct call *call, struct descriptor *descriptor)
{
	uint64_t flags = (call->a[3] & ~(uint64_t)MAP_TYPE) | MAP_PRIVATE | MAP_ANONYMOUS;

	/* What the copy has written is not in the file. */
	if (descriptor->is_written ||
	    written_is_changed(&calls->descriptors->written, descriptor->device,
			       descriptor->inode) ||
	    !descriptor_may_be_read(descriptor) || call->a[1] > MAPPED_LIMIT_BYTES)
		return false;
	call->result = sandbox_call(calls->sandbox, SYS_mmap, call->a[0], call->a[1], call->a[2],
				    flags, UINT64_MAX, 0);
	if (call->result < 0)
		return call->result >= -MOST_ERRNO;
	return read_file(calls, descriptor, (uint64_t)call->result, call->a[1], call->a[5]) >= 0;
}

static bool map_anonymous(struct shadow_calls *calls, struct call *call)
{
	call->result = sandbox_call(calls->sandbox, SYS_mmap, call->a[0], call->a[1],
				    (uint64_t)area_protection_in_copy((int)call->a[2]), call->a[3],
				    UINT64_MAX, 0);
	return note_code(calls, call, (uint64_t)call->result, call->a[1], call->a[2]);
}

bool answer_mmap(struct shadow_calls *calls, struct call *call)
{
	struct descriptor *descriptor;
	uint64_t flags = call->a[3];

	if (!is_known(call->a[2]) || (flags & MAP_HUGETLB) ||
	    ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) &&
	     !may_change(calls, call->a[0], call->a[1])))
		return false;
	if ((flags & MAP_ANONYMOUS) && (flags & MAP_TYPE) == MAP_PRIVATE)
		return map_anonymous(calls, call);
	if ((call->a[2] & PROT_EXEC) || call_is_sacred(calls, call->a[0], call->a[1]))
		return false;
	if (flags & MAP_ANONYMOUS)
		return call_done(call, run(calls, call));
	descriptor = descriptors_find(calls->descriptors, call->a[4]);
	return descriptor && map_file(calls, call, descriptor);
}

/* The kernel's break of the copy is elsewhere, so the heap is changed by mapping. */
bool answer_brk(struct shadow_calls *calls, struct call *call)
{
	uint64_t end = calls->heap_end;
	uint64_t wanted = page_up(call->a[0]);
	int64_t got = 0;

	if (!end || wanted < calls->heap.start || wanted < call->a[0])
		return false;
	if (wanted > end) {
		got = sandbox_call(
			calls->sandbox, SYS_mmap, end, wanted - end, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, UINT64_MAX, 0);
		if (got != (int64_t)end)
			return false;
	} else if (wanted < end) {
		if (call_is_sacred(calls, wanted, end - wanted))
			return false;
		got = sandbox_call(calls->sandbox, SYS_munmap, wanted, end - wanted, 0, 0, 0, 0);
		if (got)
			return false;
	}
	calls->heap_end = wanted;
	return call_done(call, (int64_t)call->a[0]);
}

bool answer_mremap(struct shadow_calls *calls, struct call *call)
{
	bool is_placed = call->a[3] & MREMAP_FIXED;
	/* A size of 0 does not move shared memory, but creates a second view of it. */
	uint64_t bytes = call->a[1] ? call->a[1] : call->a[2];

	/* Lent memory and other memory are separate mappings, which cannot be moved in one call. */
	return !call_is_sacred(calls, call->a[0], bytes) &&
	       !areas_are_lent(calls->areas, call->a[0], call->a[0] + bytes) &&
	       !(is_placed && call_is_sacred(calls, call->a[4], call->a[2])) &&
	       call_done(call, run(calls, call));
}

static bool discard(struct shadow_calls *calls, uint64_t start, uint64_t end)
{
	return start == end || sandbox_call(calls->sandbox, SYS_madvise, start, end - start,
					    MADV_DONTNEED, 0, 0, 0) == 0;
}

static bool map_anew(struct shadow_calls *calls, uint64_t start, uint64_t end, int protection)
{
	return sandbox_call(calls->sandbox, SYS_mmap, start, end - start,
			    (uint64_t)area_protection_in_copy(protection),
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, UINT64_MAX,
			    0) == (int64_t)start;
}

/* After MADV_DONTNEED the kernel would zero anonymous memory, but show lent memory's buffer again,
 * so that is mapped anew. */
static bool discard_lent(struct shadow_calls *calls, uint64_t at, uint64_t end)
{
	for (size_t i = 0; i < calls->areas->count && at < end; i++) {
		const struct area *area = &calls->areas->at[i];
		uint64_t from = area->start > at ? area->start : at;
		uint64_t to = area->end < end ? area->end : end;

		if (!area->is_lent || from >= to)
			continue;
		if (!discard(calls, at, from) || !map_anew(calls, from, to, area->protection))
			return false;
		at = to;
	}
	return discard(calls, at, end);
}

/* Freed memory may keep its contents. */
static bool free_memory(struct shadow_calls *calls, struct call *call)
{
	if (!may_change(calls, call->a[0], call->a[1]))
		return false;
	if (!areas_are_lent(calls->areas, call->a[0], call->a[0] + call->a[1]))
		return call_done(call, run(calls, call));
	return (call->a[2] == MADV_FREE ||
		discard_lent(calls, call->a[0], call->a[0] + page_up(call->a[1]))) &&
	       call_done(call, 0);
}

/* Advice that changes contents is followed; other advice only affects time. */
bool answer_madvise(struct shadow_calls *calls, struct call *call)
{
	switch (call->a[2]) {
	case MADV_DONTNEED:
	case MADV_FREE:
		return free_memory(calls, call);
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
	case MADV_WILLNEED:
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
	case MADV_DONTFORK:
	case MADV_DOFORK:
	case MADV_DONTDUMP:
	case MADV_DODUMP:
	case MADV_COLD:
		return call_done(call, 0);
	default:
		return false;
	}
}

bool answer_mprotect(struct shadow_calls *calls, struct call *call)
{
	uint64_t protection = call->a[2];

	if (!is_known(protection) || !may_change(calls, call->a[0], call->a[1]) ||
	    ((protection & PROT_EXEC) &&
	     !areas_are_made(calls->areas, call->a[0], call->a[0] + call->a[1], 0)))
		return false;
	call->result = sandbox_call(calls->sandbox, SYS_mprotect, call->a[0], call->a[1],
				    (uint64_t)area_protection_in_copy((int)protection), 0, 0, 0);
	return note_code(calls, call, call->a[0], call->a[1], protection);
}

bool answer_munmap(struct shadow_calls *calls, struct call *call)
{
	if (!may_change(calls, call->a[0], call->a[1]))
		return false;
	call->result = run(calls, call);
	return note_code(calls, call, call->a[0], call->a[1], PROT_NONE);
}
