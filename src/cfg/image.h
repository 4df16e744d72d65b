/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the procedures of one image share: the parts each consists of, and which of them come back
 * when called.
 */
#ifndef HPCPROF_CFG_PRIVATE_IMAGE_H
#define HPCPROF_CFG_PRIVATE_IMAGE_H

#include <hpcprof/cfg/cfg.h>

enum returns { RETURNS_UNKNOWN, RETURNS_ASKED, RETURNS_YES, RETURNS_NO };

struct hp_cfg_image {
	struct hp_image *image;
	const struct hp_isa *isa;
	const struct hp_procedure *const *procedures; /* by address */
	size_t count;
	const struct hp_procedure **by_owner; /* by owner, then address */
	uint8_t *returns;		      /* enum returns, one a procedure part */
	unsigned depth;			      /* of questions about returning */
};

/* The part that holds the address, or NULL. */
const struct hp_procedure *image_part_at(const struct hp_cfg_image *image, uint64_t address,
					 size_t *index);

/* The parts that `owner` owns, itself among them, by address. */
void image_parts_of(const struct hp_cfg_image *image, const struct hp_procedure *owner,
		    const struct hp_procedure *const **parts, size_t *count);

/* A call to this address never comes back, or comes back twice, by the name of what it calls. */
bool name_never_returns(const struct hp_procedure *procedure);
bool name_returns_twice(const struct hp_procedure *procedure);

#endif
