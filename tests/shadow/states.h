/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random states of a puppet, and what makes two of them different. */
#ifndef HPCPROF_TESTS_SHADOW_STATES_H
#define HPCPROF_TESTS_SHADOW_STATES_H

#include "puppet.h"

#include <hpcprof/base/number.h>

/* Registers by number, as instructions have them. */
unsigned long long *state_register(struct puppet_state *state, unsigned number);

/* Everything random but what a program needs: rsp, and (see forms.S) pointers and a small count. */
void state_randomise(struct puppet_state *state, const struct puppet *puppet,
		     struct hp_random *random);

/* NULL: none. Otherwise what differs first, as a sentence that is valid until the next call. */
const char *state_difference(const struct puppet_state *left, const struct puppet_state *right);

#endif
