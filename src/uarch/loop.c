/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loop.h"

#include <stdlib.h>
#include <string.h>

bool uarch_loops_create(struct uarch_loops *loops, const struct hp_uarch_predictor *sizes)
{
	*loops = (struct uarch_loops){ .exists = sizes->loop_entries > 0 };
	if (!loops->exists)
		return true;
	loops->mask = sizes->loop_entries - 1;
	loops->loops = calloc(sizes->loop_entries, sizeof(*loops->loops));
	return loops->loops != NULL;
}

void uarch_loops_destroy(struct uarch_loops *loops)
{
	free(loops->loops);
	loops->loops = NULL;
}

void uarch_loops_reset(struct uarch_loops *loops)
{
	if (loops->exists)
		memset(loops->loops, 0, ((size_t)loops->mask + 1) * sizeof(*loops->loops));
	loops->trust = 0;
}

static bool is_sure(const struct uarch_loop *loop)
{
	return loop->confidence >= LOOP_CONFIDENCE;
}

bool uarch_loops_predict(struct uarch_loops *loops, uint64_t ip, bool other_says)
{
	struct uarch_loop *loop;

	if (!loops->exists)
		return other_says;
	loops->tag = uarch_hash(ip) | 1;
	loop = loops->place = &loops->loops[loops->tag >> 5 & loops->mask];
	loops->found = loop->tag == loops->tag ? loop : NULL;
	if (!loops->found || !is_sure(loop))
		return other_says;
	loops->is_taken = loop->stays != (loop->current + 1 == loop->length);
	return loops->trust >= 0 ? loops->is_taken : other_says;
}

/* Ends a round. If its length differs from the previous one's, the length is not constant (yet). */
static void end_round(struct uarch_loop *loop)
{
	uint16_t length = (uint16_t)(loop->current + 1);

	if (length != loop->length)
		loop->confidence = 0;
	else if (loop->confidence < LOOP_CONFIDENCE)
		loop->confidence++;
	loop->length = length;
	loop->current = 0;
}

static void follow(struct uarch_loops *loops, struct uarch_loop *loop, bool taken, bool other_said)
{
	if (is_sure(loop) && loops->is_taken != other_said) {
		bool is_right = loops->is_taken == taken;

		if (is_right && loops->trust < 63)
			loops->trust++;
		else if (!is_right && loops->trust > -64)
			loops->trust--;
		if (is_right && loop->age < LOOP_AGE)
			loop->age++;
	}
	if (taken != loop->stays) {
		end_round(loop);
		return;
	}
	if (loop->current < LOOP_LONGEST)
		loop->current++;
	else
		loop->confidence = 0; /* the count does not reach the exit */
}

void uarch_loops_learn(struct uarch_loops *loops, bool taken, bool other_said)
{
	if (!loops->exists)
		return;
	if (loops->found) {
		follow(loops, loops->found, taken, other_said);
	} else if (taken != other_said) {
		/* A branch that others mispredict may be the exit of a loop. */
		if (loops->place->age > 0)
			loops->place->age--;
		else
			*loops->place = (struct uarch_loop){ .tag = loops->tag,
							     .age = LOOP_AGE,
							     .stays = !taken };
	}
}
