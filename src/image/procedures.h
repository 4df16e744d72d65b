/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The procedures of one image: a sorted list of all known code, without overlaps.
 *
 * Where symbols overlap, code belongs to the symbol that begins last before it and includes it. A
 * second entry in the middle of a procedure splits that procedure into parts; its first part owns
 * the others. Of several names at one address one is kept, by these rules in turn: function before
 * label; with a size before without; global or weak before local; fewer leading underscores
 * (people write read, not __read); unversioned, default version, old version; global before weak;
 * longer extent; longer name.
 *
 * Names are made on request, because most names of a large library are never needed.
 */
#ifndef HPCPROF_IMAGE_PROCEDURES_H
#define HPCPROF_IMAGE_PROCEDURES_H

#include "extent.h"

#include <hpcprof/image/image.h>

struct procedures;

struct procedures_input {
	struct elf_file *file;		  /* NULL without one */
	const struct hp_excerpt *excerpt; /* an excerpt of the missing file, or NULL */
	const symbols *kept;		  /* names that came with the profile, any order */
	const char *image_name; /* unnamed code is named after it; must outlive the result */
	bool plain_names; /* names are used as they are: a JIT compiler does not mangle them */
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
/* Whether some of them come from unwind data. */
bool procedures_from_unwind(const struct procedures *procedures);

#endif
