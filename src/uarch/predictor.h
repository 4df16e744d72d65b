/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The branch predictor: directions (tage.h, loop.h), targets (indirect.h, returns.h). */
#ifndef HPCPROF_SRC_UARCH_PREDICTOR_H
#define HPCPROF_SRC_UARCH_PREDICTOR_H

#include "history.h"
#include "indirect.h"
#include "loop.h"
#include "returns.h"
#include "tage.h"

#include <hpcprof/uarch/path.h>

struct uarch_predictor {
	struct uarch_history history;
	struct uarch_tage tage;
	struct uarch_loops loops;
	struct uarch_indirect indirect;
	struct uarch_returns returns;
};

bool uarch_predictor_create(struct uarch_predictor *predictor,
			    const struct hp_uarch_predictor *sizes);
void uarch_predictor_destroy(struct uarch_predictor *predictor);
void uarch_predictor_reset(struct uarch_predictor *predictor);

/* Follows a branch, and gives its events; as hp_uarch_branch. */
unsigned uarch_predictor_follow(struct uarch_predictor *predictor, uint64_t ip, uint64_t next,
				enum hp_uarch_branch_kind kind, bool taken, uint64_t target);

#endif
