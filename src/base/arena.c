/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/arena.h>

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_BLOCK_BYTES = 4096, LARGEST_BLOCK_BYTES = 1 << 20 };

struct block {
	struct block *next;
	size_t size;
	size_t used;
	alignas(ALIGNMENT) unsigned char bytes[];
};

struct hp_arena {
	struct block *current; /* newest first */
	size_t next_block_bytes;
};

struct hp_arena *hp_arena_create(void)
{
	struct hp_arena *arena = calloc(1, sizeof(*arena));

	if (arena)
		arena->next_block_bytes = FIRST_BLOCK_BYTES;
	return arena;
}

static void free_blocks(struct block *block)
{
	while (block) {
		struct block *next = block->next;

		free(block);
		block = next;
	}
}

void hp_arena_destroy(struct hp_arena *arena)
{
	if (!arena)
		return;
	free_blocks(arena->current);
	free(arena);
}

void hp_arena_reset(struct hp_arena *arena)
{
	/* Blocks double in size, so the newest one has at least half of all memory. */
	if (!arena->current)
		return;
	free_blocks(arena->current->next);
	arena->current->next = NULL;
	arena->current->used = 0;
}

static struct block *add_block(struct hp_arena *arena, size_t at_least)
{
	size_t size = arena->next_block_bytes;
	struct block *block;

	if (size < at_least)
		size = at_least;
	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->next = arena->current;
	block->size = size;
	block->used = 0;
	arena->current = block;
	if (arena->next_block_bytes < LARGEST_BLOCK_BYTES)
		arena->next_block_bytes *= 2;
	return block;
}

void *hp_arena_alloc(struct hp_arena *arena, size_t bytes)
{
	struct block *block = arena->current;
	void *memory;

	if (bytes > SIZE_MAX - ALIGNMENT)
		return NULL;
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!block || block->size - block->used < bytes)
		block = add_block(arena, bytes);
	if (!block)
		return NULL;
	memory = block->bytes + block->used;
	block->used += bytes;
	return memset(memory, 0, bytes);
}

void *hp_arena_array(struct hp_arena *arena, size_t count, size_t element_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, element_bytes, &bytes))
		return NULL;
	return hp_arena_alloc(arena, bytes);
}

char *hp_arena_strndup(struct hp_arena *arena, const char *text, size_t length)
{
	char *copy = length < SIZE_MAX ? hp_arena_alloc(arena, length + 1) : NULL;

	return copy ? memcpy(copy, text, length) : NULL;
}

char *hp_arena_strdup(struct hp_arena *arena, const char *text)
{
	return hp_arena_strndup(arena, text, strlen(text));
}
