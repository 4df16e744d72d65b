/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command names as small numbers. Number 0 is the empty name; it also stands for all names beyond
 * the limit, so that a program that renames itself without end cannot fill memory.
 */
#ifndef COLLECT_MAPS_NAMES_H
#define COLLECT_MAPS_NAMES_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name;

struct names {
	struct name *by_text; /* hash table */
	char **text;	      /* by number */
	size_t count;
	size_t capacity;
};

bool names_create(struct names *names);
void names_clear(struct names *names);
/* The number of a text, new or known; 0: out of memory, or the limit is reached. */
uint32_t names_number(struct names *names, const char *text);

#endif
