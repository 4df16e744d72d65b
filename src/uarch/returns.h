/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predicts the targets of returns with a stack of calls. */
#ifndef HPCPROF_SRC_UARCH_RETURNS_H
#define HPCPROF_SRC_UARCH_RETURNS_H

#include <hpcprof/uarch/geometry.h>

struct uarch_returns {
	uint64_t *stack; /* a ring: deeper calls overwrite the oldest */
	uint32_t count, top;
};

bool uarch_returns_create(struct uarch_returns *returns, const struct hp_uarch_predictor *sizes);
void uarch_returns_destroy(struct uarch_returns *returns);
void uarch_returns_reset(struct uarch_returns *returns);

void uarch_returns_call(struct uarch_returns *returns, uint64_t next);
/* `*is_cold`: the call was made before the models began. */
bool uarch_returns_follow(struct uarch_returns *returns, uint64_t target, bool *is_cold);

/* The predicted target of the next return. */
static inline uint64_t uarch_returns_top(const struct uarch_returns *returns)
{
	return returns->stack[returns->top];
}

#endif
