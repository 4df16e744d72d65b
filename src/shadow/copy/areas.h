/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists all areas of a process's address space, from /proc/PID/maps. A copy is made from this list.
 */
#ifndef SHADOW_COPY_AREAS_H
#define SHADOW_COPY_AREAS_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>

enum area_kind {
	AREA_MEMORY, /* anonymous, named by the program or not */
	AREA_HEAP,   /* what brk() moves the end of */
	AREA_STACK,
	AREA_FILE,
	AREA_UNNAMED, /* of a file that has no path: memfd, shared anonymous, System V */
	AREA_VDSO,
	AREA_VVAR,   /* the vdso's data, which no other process can read */
	AREA_DEVICE, /* of a driver: never read, never copied */
	AREA_VSYSCALL,
};

struct area {
	uint64_t start, end;
	uint64_t file_offset;
	uint64_t device; /* of the file: (major << 32) | minor */
	uint64_t inode;
	const char *path;   /* in the text of its struct areas; "" without one */
	uint8_t protection; /* PROT_* */
	uint8_t kind;	    /* enum area_kind */
	bool is_shared;
	bool is_lent;	/* parts of it, in a copy: see rebuild.h */
	bool is_secret; /* not to be copied: see secrets.h; nothing in the text tells */
};

struct areas {
	struct area *at; /* by address, not overlapping */
	size_t count, capacity;
	char *text;
	size_t text_capacity;
};

/* Takes the text of a maps file, which is changed and must live as long; false when a line makes no
 * sense, areas are not in order, or there is no memory. */
bool areas_parse(struct areas *areas, char *text);
/* Those of a process or thread; keeps the memory of the last time for this one. */
struct hp_error *areas_read(struct areas *areas, pid_t pid);
void areas_clear(struct areas *areas);

/* Whether there is code in it that the program may write, as a JIT compiler does. A copy cannot: it
 * would run what it was translated from no more. */
static inline bool area_is_writable_code(const struct area *area)
{
	const int both = PROT_WRITE | PROT_EXEC;

	return (area->protection & both) == both;
}

/* Whether the areas between them that have all of this protection (0: any) are private memory of
 * the program's own. */
bool areas_are_made(const struct areas *areas, uint64_t start, uint64_t end, int protection);
/* From now on there is private memory of the program's own, protected like that (0: as good as
 * none). False: there would be too many areas. */
bool areas_set(struct areas *areas, uint64_t start, uint64_t end, int protection);

/* Whether one of them that is lent has a part between these. */
bool areas_are_lent(const struct areas *areas, uint64_t start, uint64_t end);

/* The area that holds `address`; NULL: none. */
const struct area *areas_find(const struct areas *areas, uint64_t address);

#endif
