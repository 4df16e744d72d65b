/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The procedures of one image: a sorted, non-overlapping cover of what is known of its code.
 *
 * Where symbols meet, code belongs to the one that begins last before it and still holds it: a
 * second entry in the middle of a procedure cuts that procedure in parts, and its later parts are
 * owned by its first. Names at the same address are aliases; one is kept, by this order: functions
 * before labels; sized before unsized; global or weak before local; fewer leading underscores
 * (people write read, not __read); unversioned, default version, old version; global before weak;
 * longer extent; longer name.
 *
 * Names are made when a procedure is handed out: most of a big library is never asked for.
 */
#ifndef HPCPROF_IMAGE_PROCEDURES_H
#define HPCPROF_IMAGE_PROCEDURES_H

#include "extent.h"

#include <hpcprof/image/image.h>

struct procedures;

struct procedures_input {
	struct elf_file *file;		  /* NULL without one */
	const struct hp_excerpt *excerpt; /* of it, then; or NULL */
	const symbols *kept;		  /* names that came with the profile, any order */
	const char *image_name; /* what unnamed code is called after; must outlive it all */
	bool plain_names;	/* not mangled, no suffixes: a JIT compiler's own words */
};

struct hp_error *procedures_create(const struct procedures_input *input,
				   struct procedures **procedures);
void procedures_destroy(struct procedures *procedures);
HP_DEFINE_CLEANUP(struct procedures, procedures_destroy);

const struct hp_procedure *procedures_at(struct procedures *procedures, uint64_t address);
void procedures_list(struct procedures *procedures, bool with_names,
		     const struct hp_procedure *const **list, size_t *count);
bool procedures_have_namesake(struct procedures *procedures, uint64_t address);
void procedures_join(struct procedures *procedures, const struct hp_joint *joints, size_t count);
enum symbol_origin procedures_origin(const struct procedures *procedures);
/* Some of them come from unwind data. */
bool procedures_from_unwind(const struct procedures *procedures);

#endif
