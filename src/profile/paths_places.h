/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of call paths and the procedures that contain them, each listed once. Memory is the
 * profiles' arena.
 */
#ifndef PROFILE_PATHS_PLACES_H
#define PROFILE_PATHS_PLACES_H

#include <hpcprof/base/hash.h>
#include <hpcprof/profile/paths.h>

/* Keys are compared as bytes, so clear them before filling them in. */
struct place_key {
	const struct hp_loaded_part *part;
	uint64_t offset;
	const char *made_up; /* a name, if there is no part */
	uint32_t is_exact;
};

struct path_place_entry {
	UT_hash_handle hh;
	struct place_key key;
	uint32_t place;
};

struct called_key {
	const struct hp_loaded_image *image;
	const char *name;
	uint64_t address;
	uint64_t inlined;
};

struct called_entry {
	UT_hash_handle hh;
	struct called_key key;
	struct hp_called called;
};

/* The number of a place, new or known. `part` is that of the key, but may be changed. */
struct hp_error *paths_place_at(struct hp_call_paths *paths, const struct place_key *key,
				struct hp_loaded_part *part, uint32_t *place);
/* The procedure, new or known. */
struct hp_error *paths_called_at(struct hp_call_paths *paths, const struct called_key *key,
				 struct hp_called **called);
/* An entry with a name that is no place in code. */
struct hp_error *paths_made_up_place(struct hp_call_paths *paths, const char *name,
				     uint32_t *place);

#endif
