/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that a copy executes. It is read once from /proc/PID/mem and kept from window to
 * window. A translation is right only while the original bytes are unchanged, so they are checked.
 * If a page has changed, its owner is told to discard the translations of it, and the page is read
 * again.
 *
 *	- When a window begins, every page that was read is read again and compared.
 *	- Within a window, code changes only by system calls that change mappings, which hpcprof sees
 *	  (shadow_text_changed), or by writing. A page that the program may write, as a JIT compiler
 *	  does, is read-only in its copy from when code is read from it: a write faults, and makes it
 *	  writable (shadow_text_open) until code is read from it again. Others stay writable: some
 *	  programs have data and code in one area. Shared code that can be written to is not
 *	  replayed.
 *
 * A processor executes modified code at once; a copy executes it only after the next branch. That
 * is sufficient, because compilers do not modify code that is being executed.
 */
#ifndef SHADOW_TRANSLATE_TEXT_H
#define SHADOW_TRANSLATE_TEXT_H

#include "../copy/areas.h"

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shadow_text;

/* The page at this address is not code any more, or other code. */
typedef void shadow_text_dropped(void *context, uint64_t page);
/* Protects pages of the copy (PROT_*). False: impossible. */
typedef bool shadow_text_protect(void *context, uint64_t address, uint64_t bytes, int protection);

struct hp_error *shadow_text_create(shadow_text_dropped *dropped, void *context,
				    struct shadow_text **text);
void shadow_text_destroy(struct shadow_text *text);

/* Begins a window of this process, whose memory is read from `memory_fd`. `areas`: the program's
 * current ones, valid while the window lasts. `own`: the process's own areas, which are read again
 * when it has made new ones; or NULL. `*changed`: most of what was read before has changed, so
 * everything is forgotten. */
struct hp_error *shadow_text_begin(struct shadow_text *text, pid_t pid, int memory_fd,
				   const struct areas *areas, struct areas *own, bool *changed);
/*
 * Finds the code that was read in a process that may be laid out differently: the same part of the
 * same file or of the vdso. Calls `found` for each page with its former address and the distance it
 * has moved up; if not `is_there`, it does not exist. `found` returns whether the page is still
 * usable.
 */
void shadow_text_find(struct shadow_text *text, const struct areas *areas,
		      bool (*found)(void *context, uint64_t from, uint64_t by, bool is_there),
		      void *context);
/* Whether the page at this former address is still usable. */
bool shadow_text_stays(const struct shadow_text *text, uint64_t address);
/* Moves usable pages to where they were found, and forgets the others. False: out of memory, and
 * everything must be forgotten. */
bool shadow_text_move(struct shadow_text *text);
/* Forgets all pages, because the translations were dropped. */
void shadow_text_forget(struct shadow_text *text);

enum shadow_text_state {
	SHADOW_TEXT_READ,
	SHADOW_TEXT_UNREADABLE, /* there is no code at `address` */
	SHADOW_TEXT_WRITABLE,	/* code that can change without being noticed */
	SHADOW_TEXT_FULL,	/* too much code, or out of memory */
};

/* Reads up to `size` bytes at `address`, fewer at the end of code. `*got` > 0 for
 * SHADOW_TEXT_READ. */
enum shadow_text_state shadow_text_read(struct shadow_text *text, uint64_t address, uint8_t *bytes,
					size_t size, size_t *got);

/* Called when this range was mapped, unmapped, protected or emptied. */
void shadow_text_changed(struct shadow_text *text, uint64_t address, uint64_t bytes);
/* Sets the function that protects pages of this window's copy, and protects those that were read
 * before; NULL (initially): pages cannot be protected. */
void shadow_text_protect_by(struct shadow_text *text, shadow_text_protect *protect, void *context);
/* The copy is about to write to this address, which is protected. True: it may write now, since
 * this is code that the program may write. */
bool shadow_text_open(struct shadow_text *text, uint64_t address);

#endif
