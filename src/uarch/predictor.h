/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The branch predictor: directions (tage.h and loop.h, or hybrid.h), targets (indirect.h,
 * returns.h). */
#ifndef HPCPROF_SRC_UARCH_PREDICTOR_H
#define HPCPROF_SRC_UARCH_PREDICTOR_H

#include "history.h"
#include "hybrid.h"
#include "indirect.h"
#include "loop.h"
#include "returns.h"
#include "sets.h"
#include "tage.h"

#include <hpcprof/uarch/path.h>

struct uarch_predictor {
	struct uarch_history history;
	struct uarch_tage tage;
	struct uarch_loops loops;
	struct uarch_hybrid hybrid;
	bool is_hybrid;
	struct uarch_indirect indirect;
	struct uarch_returns returns;
	struct uarch_sets early, targets; /* of branches that are taken; there may be none */
	uint64_t predicted; /* predicted target of the last indirect branch or return */
	/* The state that a path beside the real one changes, as it was when that path began. */
	struct uarch_strayed {
		struct uarch_history history;
		uint64_t hybrid_history;
		uint64_t returns[RETURNS_MOST];
		uint32_t top;
	} strayed;
};

bool uarch_predictor_create(struct uarch_predictor *predictor,
			    const struct hp_uarch_predictor *sizes);
void uarch_predictor_destroy(struct uarch_predictor *predictor);
void uarch_predictor_reset(struct uarch_predictor *predictor);

/* Follows a branch, and returns its events, like hp_uarch_branch. */
unsigned uarch_predictor_follow(struct uarch_predictor *predictor, uint64_t ip, uint64_t next,
				enum hp_uarch_branch_kind kind, bool taken, uint64_t target);

/* Begins a path that was predicted but not taken, as in hpcprof/uarch/path.h. */
void uarch_predictor_stray(struct uarch_predictor *predictor);
uint64_t uarch_predictor_guess(struct uarch_predictor *predictor, uint64_t ip, uint64_t next,
			       enum hp_uarch_branch_kind kind, uint64_t target);
void uarch_predictor_rejoin(struct uarch_predictor *predictor);

#endif
