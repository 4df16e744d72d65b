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
	const struct hp_procedure *const *procedures; /* by address */
	size_t count;
	const struct hp_procedure **by_owner; /* by owner, then address */
	const struct hp_procedure *
		*by_name; /* with symbols, by linkage name; made when asked for */
	size_t named_count;
	uint8_t *returns;	     /* enum returns, one a procedure part */
	struct hp_known_jump *jumps; /* by `from` */
	size_t jump_count;
	unsigned depth;	      /* of questions about returning */
	struct read_log *log; /* of entries of tables; NULL: nobody wants it */
};

/* Entries of jump tables, and pointers to code, that were read while code was followed. */
struct read_log {
	HP_VECTOR(struct hp_excerpt_text) reads;
};

/* The part that holds the address, or NULL. */
const struct hp_procedure *image_part_at(const struct hp_cfg_image *image, uint64_t address,
					 size_t *index);

/* The known jumps from the address. */
void image_jumps_from(const struct hp_cfg_image *image, uint64_t from,
		      const struct hp_known_jump **jumps, size_t *count);

/* The parts that `owner` owns, itself among them, by address. */
void image_parts_of(const struct hp_cfg_image *image, const struct hp_procedure *owner,
		    const struct hp_procedure *const **parts, size_t *count);

/* The procedure that the image itself has under this linkage name, or NULL: what a call that the
 * dynamic linker resolves most likely reaches. */
const struct hp_procedure *image_named(struct hp_cfg_image *image, const char *name, size_t length);

/* A call to this address never comes back, or comes back twice, by the name of what it calls. */
bool name_never_returns(const struct hp_procedure *procedure);
bool name_returns_twice(const struct hp_procedure *procedure);

/* Length of its linkage name without the "@plt" of what is called there. */
size_t name_length(const struct hp_procedure *procedure);

/* A procedure of this name never comes back. */
bool name_is_of_end(const char *name, size_t length);

/* What a call or jump through a slot of the global offset table reaches, or NULL. */
const char *import_of(const struct hp_cfg_image *image, const struct hp_flow *flow);
bool import_never_returns(struct hp_cfg_image *image, const struct hp_flow *flow);
bool import_returns_twice(const struct hp_cfg_image *image, const struct hp_flow *flow);

#endif
