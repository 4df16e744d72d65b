/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An arena: many small allocations with one lifetime, freed together. Not thread safe. Allocations
 * are aligned to 16 bytes and zeroed; they are NULL if memory is short.
 */
#ifndef HPCPROF_BASE_ARENA_H
#define HPCPROF_BASE_ARENA_H

#include <hpcprof/base/cleanup.h>

#include <stddef.h>

struct hp_arena;

struct hp_arena *hp_arena_create(void);
void hp_arena_destroy(struct hp_arena *arena);
HP_DEFINE_CLEANUP(struct hp_arena, hp_arena_destroy);

void *hp_arena_alloc(struct hp_arena *arena, size_t bytes);
void *hp_arena_array(struct hp_arena *arena, size_t count, size_t element_bytes);
char *hp_arena_strdup(struct hp_arena *arena, const char *text);
char *hp_arena_strndup(struct hp_arena *arena, const char *text, size_t length);

/* Forgets every allocation but keeps the memory for reuse. */
void hp_arena_reset(struct hp_arena *arena);

#endif
