/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "returns.h"

#include <stdlib.h>

/* Marks an entry that no call was pushed to since the reset. */
#define NO_CALL UINT64_MAX

bool uarch_returns_create(struct uarch_returns *returns, const struct hp_uarch_predictor *sizes)
{
	*returns = (struct uarch_returns){ .count = sizes->return_entries };
	returns->stack = calloc(returns->count, sizeof(*returns->stack));
	if (!returns->stack)
		return false;
	uarch_returns_reset(returns);
	return true;
}

void uarch_returns_destroy(struct uarch_returns *returns)
{
	free(returns->stack);
	returns->stack = NULL;
}

void uarch_returns_reset(struct uarch_returns *returns)
{
	for (uint32_t i = 0; i < returns->count; i++)
		returns->stack[i] = NO_CALL;
	returns->top = 0;
}

void uarch_returns_call(struct uarch_returns *returns, uint64_t next)
{
	returns->top = returns->top + 1 == returns->count ? 0 : returns->top + 1;
	returns->stack[returns->top] = next;
}

/* A popped entry stays in the ring, so a core without a return address to predict uses what is
 * there. */
bool uarch_returns_follow(struct uarch_returns *returns, uint64_t target, bool *is_cold)
{
	uint64_t predicted = returns->stack[returns->top];

	returns->top = returns->top == 0 ? returns->count - 1 : returns->top - 1;
	*is_cold = predicted == NO_CALL;
	return predicted == target;
}
