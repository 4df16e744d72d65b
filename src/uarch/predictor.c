/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "predictor.h"

#include <string.h>

bool uarch_predictor_create(struct uarch_predictor *predictor,
			    const struct hp_uarch_predictor *sizes)
{
	uarch_history_create(&predictor->history, sizes);
	predictor->is_hybrid = sizes->is_hybrid;
	if (sizes->is_hybrid && !uarch_hybrid_create(&predictor->hybrid, sizes))
		return false;
	return uarch_tage_create(&predictor->tage, sizes) &&
	       uarch_loops_create(&predictor->loops, sizes) &&
	       uarch_indirect_create(&predictor->indirect, sizes) &&
	       uarch_returns_create(&predictor->returns, sizes) &&
	       uarch_sets_create(&predictor->early, &sizes->early) &&
	       uarch_sets_create(&predictor->targets, &sizes->targets);
}

void uarch_predictor_destroy(struct uarch_predictor *predictor)
{
	uarch_tage_destroy(&predictor->tage);
	uarch_loops_destroy(&predictor->loops);
	uarch_hybrid_destroy(&predictor->hybrid);
	uarch_indirect_destroy(&predictor->indirect);
	uarch_returns_destroy(&predictor->returns);
	uarch_sets_destroy(&predictor->early);
	uarch_sets_destroy(&predictor->targets);
}

void uarch_predictor_reset(struct uarch_predictor *predictor)
{
	uarch_history_reset(&predictor->history);
	uarch_tage_reset(&predictor->tage);
	uarch_loops_reset(&predictor->loops);
	uarch_hybrid_reset(&predictor->hybrid);
	uarch_indirect_reset(&predictor->indirect);
	uarch_returns_reset(&predictor->returns);
	uarch_sets_reset(&predictor->early);
	uarch_sets_reset(&predictor->targets);
}

/* Returns the event of a prediction. `late` is the event of a correct one, if the faster predictor
 * gave another direction. */
static unsigned event_of(bool is_right, bool is_cold, unsigned late)
{
	if (is_right)
		return late;
	return is_cold ? HP_UARCH_BRANCH_UNKNOWN : HP_UARCH_MISPREDICTED;
}

static unsigned follow_hybrid(struct uarch_predictor *predictor, uint64_t ip, bool taken)
{
	bool is_taken = uarch_hybrid_predict(&predictor->hybrid, ip);
	bool is_cold;

	uarch_hybrid_learn(&predictor->hybrid, taken, &is_cold);
	return event_of(is_taken == taken, is_cold, 0);
}

static unsigned follow_direction(struct uarch_predictor *predictor, uint64_t ip, bool taken)
{
	bool by_history = uarch_tage_predict(&predictor->tage, &predictor->history, ip);
	bool is_taken = uarch_loops_predict(&predictor->loops, ip, by_history);
	unsigned late = predictor->tage.soon_says != is_taken ? HP_UARCH_BRANCH_LATE : 0;
	unsigned event = event_of(is_taken == taken, uarch_tage_is_cold(&predictor->tage), late);

	uarch_tage_learn(&predictor->tage, taken);
	uarch_loops_learn(&predictor->loops, taken, by_history);
	return event;
}

static unsigned follow_target(struct uarch_predictor *predictor, uint64_t ip, uint64_t target)
{
	bool is_cold, is_late;
	bool is_right = uarch_indirect_follow(&predictor->indirect, &predictor->history, ip, target,
					      &is_cold, &is_late);

	predictor->predicted = predictor->indirect.predicted;
	return event_of(is_right, is_cold, is_late ? HP_UARCH_TARGET_LATE : 0);
}

/* Whether only a slower table knows where a branch goes that is taken, or none. Not modelled: a core may predict
 * a conditional branch that none knows as not taken, and then lose it. */
static unsigned find_target(struct uarch_predictor *predictor, uint64_t ip)
{
	uint32_t hash = uarch_hash(ip);
	bool is_late = predictor->early.all &&
		       uarch_sets_use(&predictor->early, hash) == UARCH_MISS;
	bool is_absent = predictor->targets.all &&
			 uarch_sets_use(&predictor->targets, hash) == UARCH_MISS;

	return is_absent ? HP_UARCH_TARGET_MISS : is_late ? HP_UARCH_TARGET_LATE : 0;
}

unsigned uarch_predictor_follow(struct uarch_predictor *predictor, uint64_t ip, uint64_t next,
				enum hp_uarch_branch_kind kind, bool taken, uint64_t target)
{
	unsigned event = 0, found;
	bool is_cold;
	bool is_right;

	switch (kind) {
	case HP_UARCH_CONDITIONAL:
		event = predictor->is_hybrid ? follow_hybrid(predictor, ip, taken)
					     : follow_direction(predictor, ip, taken);
		break;
	case HP_UARCH_JUMP:
	case HP_UARCH_CALL:
		break;
	case HP_UARCH_JUMP_INDIRECT:
	case HP_UARCH_CALL_INDIRECT:
		event = follow_target(predictor, ip, target);
		break;
	case HP_UARCH_RETURN:
		predictor->predicted = uarch_returns_top(&predictor->returns);
		is_right = uarch_returns_follow(&predictor->returns, target, &is_cold);
		event = event_of(is_right, is_cold, 0);
		break;
	}
	/* A call of the next instruction only reads its own address. */
	if (kind == HP_UARCH_CALL_INDIRECT || (kind == HP_UARCH_CALL && target != next))
		uarch_returns_call(&predictor->returns, next);
	if (!taken)
		return event;
	uarch_history_add(&predictor->history, ip, target);
	found = find_target(predictor, ip);
	return event & (HP_UARCH_MISPREDICTED | HP_UARCH_BRANCH_UNKNOWN) ? event : event | found;
}

/* --- what is predicted and not taken ----------------------------------------------------------- */

void uarch_predictor_stray(struct uarch_predictor *predictor)
{
	struct uarch_strayed *strayed = &predictor->strayed;

	strayed->history = predictor->history;
	strayed->hybrid_history = predictor->hybrid.history;
	memcpy(strayed->returns, predictor->returns.stack,
	       predictor->returns.count * sizeof(*strayed->returns));
	strayed->top = predictor->returns.top;
}

static bool guess_direction(struct uarch_predictor *predictor, uint64_t ip)
{
	bool is_taken = predictor->is_hybrid
				? uarch_hybrid_predict(&predictor->hybrid, ip)
				: uarch_tage_predict(&predictor->tage, &predictor->history, ip);

	predictor->hybrid.history = predictor->hybrid.history << 1 | is_taken;
	return is_taken;
}

uint64_t uarch_predictor_guess(struct uarch_predictor *predictor, uint64_t ip, uint64_t next,
			       enum hp_uarch_branch_kind kind, uint64_t target)
{
	uint64_t guess = target;
	bool is_taken = true;
	bool is_cold;

	switch (kind) {
	case HP_UARCH_CONDITIONAL:
		is_taken = guess_direction(predictor, ip);
		guess = is_taken ? target : next;
		break;
	case HP_UARCH_JUMP:
	case HP_UARCH_CALL:
		break;
	case HP_UARCH_JUMP_INDIRECT:
	case HP_UARCH_CALL_INDIRECT:
		guess = uarch_indirect_guess(&predictor->indirect, &predictor->history, ip);
		break;
	case HP_UARCH_RETURN:
		guess = uarch_returns_top(&predictor->returns);
		(void)uarch_returns_follow(&predictor->returns, guess, &is_cold);
		break;
	}
	if (kind == HP_UARCH_CALL_INDIRECT || (kind == HP_UARCH_CALL && target != next))
		uarch_returns_call(&predictor->returns, next);
	if (is_taken)
		uarch_history_add(&predictor->history, ip, guess);
	return guess;
}

void uarch_predictor_rejoin(struct uarch_predictor *predictor)
{
	const struct uarch_strayed *strayed = &predictor->strayed;

	predictor->history = strayed->history;
	predictor->hybrid.history = strayed->hybrid_history;
	memcpy(predictor->returns.stack, strayed->returns,
	       predictor->returns.count * sizeof(*strayed->returns));
	predictor->returns.top = strayed->top;
}
