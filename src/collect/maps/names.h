/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings as small numbers: command names. Number 0 is "", which also stands for every name past
 * the bound, so that a program that renames itself for ever cannot fill our memory. */
#ifndef COLLECT_MAPS_NAMES_H
#define COLLECT_MAPS_NAMES_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name;

struct names {
	struct name *by_text; /* hash */
	char **text;	      /* by number */
	size_t count;
	size_t capacity;
};

bool names_create(struct names *names);
void names_clear(struct names *names);
/* 0 when memory is short or the bound is reached. */
uint32_t names_number(struct names *names, const char *text);

#endif
