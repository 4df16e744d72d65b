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
	AREA_MEMORY, /* anonymous memory, possibly named by the program */
	AREA_HEAP,   /* the memory that brk() extends */
	AREA_STACK,
	AREA_FILE,
	AREA_UNNAMED, /* of a file without a path: memfd, shared anonymous memory, System V */
	AREA_VDSO,
	AREA_VVAR,   /* the vdso's data, which no other process can read */
	AREA_DEVICE, /* of a device: never read or copied */
	AREA_VSYSCALL,
};

struct area {
	uint64_t start, end;
	uint64_t file_offset;
	uint64_t device; /* of the file: (major << 32) | minor */
	uint64_t inode;
	const char *path;   /* points into the text of its struct areas; "" if there is none */
	uint8_t protection; /* PROT_* */
	uint8_t kind;	    /* enum area_kind */
	bool is_shared;
	bool is_lent;	/* the copy maps parts of it from a buffer: see rebuild.h */
	bool is_secret; /* must not be copied: see secrets.h, since the maps file does not tell */
};

struct areas {
	struct area *at; /* sorted by address, without overlaps */
	size_t count, capacity;
	char *text;
	size_t text_capacity;
};

/* Parses the text of a maps file. The text is changed, and must live as long as the areas. False
 * when a line cannot be parsed, areas are not in order, or memory is short. */
bool areas_parse(struct areas *areas, char *text);
/* Reads the areas of a process or thread. Memory of the previous call is reused. */
struct hp_error *areas_read(struct areas *areas, pid_t pid);
void areas_clear(struct areas *areas);

/* Whether the area contains code that the program may write, as JIT compilers do. A copy continues
 * to execute translations of the old code unless it is protected (translate/text.h). */
static inline bool area_is_writable_code(const struct area *area)
{
	const int both = PROT_WRITE | PROT_EXEC;

	return (area->protection & both) == both;
}

/* What a copy needs of a protection: it executes translations of its code, made from what it reads. */
static inline int area_protection_in_copy(int protection)
{
	return protection & PROT_EXEC ? PROT_READ | (protection & PROT_WRITE) : protection;
}

/* Whether all areas within [start, end) that have this protection (0: any) are private memory of
 * the program's own. */
bool areas_are_made(const struct areas *areas, uint64_t start, uint64_t end, int protection);
/* Sets [start, end) to private memory of the program's own with this protection (0: none, so no use
 * to it). False: there would be too many areas. */
bool areas_set(struct areas *areas, uint64_t start, uint64_t end, int protection);

/* Whether a lent area lies partly within [start, end). */
bool areas_are_lent(const struct areas *areas, uint64_t start, uint64_t end);

/* The area that contains `address`, or NULL. */
const struct area *areas_find(const struct areas *areas, uint64_t address);

#endif
