/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data that the procedures of one image share: the parts of each procedure, and which
 * procedures return when called.
 */
#ifndef HPCPROF_CFG_PRIVATE_IMAGE_H
#define HPCPROF_CFG_PRIVATE_IMAGE_H

#include <hpcprof/base/vector.h>
#include <hpcprof/cfg/cfg.h>

enum returns { RETURNS_UNKNOWN, RETURNS_ASKED, RETURNS_YES, RETURNS_NO };

struct hp_cfg_image {
	struct hp_image *image;
	const struct hp_isa *isa;
	const struct hp_procedure *const *procedures; /* sorted by address */
	size_t count;
	const struct hp_procedure **by_owner; /* sorted by owner, then by address */
	const struct hp_procedure *
		*by_name; /* those with symbols, sorted by linkage name; made at first use */
	size_t named_count;
	uint8_t *returns;	     /* enum returns, one per part of a procedure */
	struct hp_known_jump *jumps; /* sorted by `from` */
	size_t jump_count;
	unsigned depth;	      /* nesting of questions whether procedures return */
	struct read_log *log; /* of entries of tables; NULL: not wanted */
};

/* Entries of jump tables and pointers to code that were read while code was followed. */
struct read_log {
	HP_VECTOR(struct hp_excerpt_text) reads;
};

/* The part that contains the address, or NULL. */
const struct hp_procedure *image_part_at(const struct hp_cfg_image *image, uint64_t address,
					 size_t *index);

/* The known jumps from this address. */
void image_jumps_from(const struct hp_cfg_image *image, uint64_t from,
		      const struct hp_known_jump **jumps, size_t *count);

/* All parts of `owner`, including itself, by address. */
void image_parts_of(const struct hp_cfg_image *image, const struct hp_procedure *owner,
		    const struct hp_procedure *const **parts, size_t *count);

/* The image's procedure with this linkage name, or NULL: it is what a call through the dynamic
 * linker most likely reaches. */
const struct hp_procedure *image_named(struct hp_cfg_image *image, const char *name, size_t length);

/* By its name, a call to this procedure never returns, or returns twice. */
bool name_never_returns(const struct hp_procedure *procedure);
bool name_returns_twice(const struct hp_procedure *procedure);

/* Length of its linkage name without "@plt". */
size_t name_length(const struct hp_procedure *procedure);

/* A procedure of this name never returns. */
bool name_is_of_end(const char *name, size_t length);

/* The name of what a call or jump through a slot of the global offset table reaches, or NULL. */
const char *import_of(const struct hp_cfg_image *image, const struct hp_flow *flow);
bool import_never_returns(struct hp_cfg_image *image, const struct hp_flow *flow);
bool import_returns_twice(const struct hp_cfg_image *image, const struct hp_flow *flow);

#endif
