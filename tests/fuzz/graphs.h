/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The graphs of an image that somebody else made: of its first procedures, and of the one that any
 * bytes become (see ../program.h). */
#ifndef HPCPROF_TESTS_FUZZ_GRAPHS_H
#define HPCPROF_TESTS_FUZZ_GRAPHS_H

#include "../program.h"

#include <hpcprof/cfg/cfg.h>

struct fuzz_visitor {
	/* The arena is this graph's: emptied before the next. */
	void (*visit)(struct hp_image *image, const struct hp_cfg *cfg, struct hp_arena *arena,
		      void *context);
	void *context;
};

static inline void fuzz_visit(struct hp_image *image, struct hp_cfg_image *shared,
			      const struct hp_procedure *procedure, struct hp_arena *arena,
			      const struct fuzz_visitor *visitor)
{
	struct hp_cfg *cfg;
	struct hp_error *error;

	hp_arena_reset(arena);
	error = hp_cfg_create(shared, procedure, arena, &cfg);
	if (!error)
		visitor->visit(image, cfg, arena, visitor->context);
	hp_error_destroy(error);
}

static inline void fuzz_graphs(struct hp_image *image, size_t most_procedures,
			       const struct fuzz_visitor *visitor)
{
	const struct hp_procedure *const *procedures;
	struct hp_cfg_image *shared;
	struct hp_arena *arena = hp_arena_create();
	struct hp_error *error = hp_cfg_image_create(image, &shared);
	size_t count;

	if (error || !arena) {
		hp_error_destroy(error);
		hp_arena_destroy(arena);
		return;
	}
	hp_image_procedures(image, &procedures, &count);
	for (size_t i = 0; i < count && i < most_procedures; i++)
		fuzz_visit(image, shared, procedures[i], arena, visitor);
	fuzz_visit(image, shared,
		   hp_image_procedure_at(image, (hp_link_address){ FUZZ_CODE_ADDRESS }), arena,
		   visitor);
	hp_cfg_image_destroy(shared);
	hp_arena_destroy(arena);
}

#endif
