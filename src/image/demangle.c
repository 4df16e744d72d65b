/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * The output is limited to this size, as a name of some hundred bytes that refers to itself
 * repeatedly may stand for gigabytes; names of nested templates take some ten thousand bytes. The
 * library cannot be told to stop, but it keeps all data on its stack, so longjmp may leave it.
 */
enum { LONGEST_BYTES = 64 << 10 };

struct written {
	char *text;
	size_t size;
	jmp_buf too_long;
};

static void take(const char *text, size_t size, void *context)
{
	struct written *written = context;

	if (size >= LONGEST_BYTES - written->size)
		longjmp(written->too_long, 1);
	memcpy(written->text + written->size, text, size);
	written->size += size;
}

/* Rust's legacy scheme looks like C++ with a hash as last component, so Rust is tried first. */
static bool write_name(struct written *written, const char *linkage)
{
	if (setjmp(written->too_long)) // NOLINT(cert-err52-cpp)
		return false;
	if (rust_demangle_callback(linkage, DMGL_NO_OPTS, take, written))
		return true;
	written->size = 0;
	return linkage[1] == 'Z' &&
	       cplus_demangle_v3_callback(linkage, DMGL_PARAMS | DMGL_ANSI, take, written);
}

const char *demangle(struct hp_arena *arena, const char *linkage)
{
	_cleanup_free_ char *text = NULL;
	struct written written = { 0 };
	const char *copy;

	if (linkage[0] != '_' || (linkage[1] != 'Z' && linkage[1] != 'R'))
		return linkage;
	text = malloc(LONGEST_BYTES);
	written.text = text;
	if (!text || !write_name(&written, linkage))
		return linkage;
	text[written.size] = '\0';
	copy = hp_arena_strdup(arena, text);
	return copy ? copy : linkage;
}
