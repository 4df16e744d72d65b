/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an event list's entry in addition to its name: modifiers after a colon, and the
 * terms between slashes that any event may have (period=, freq=, share=, name=).
 */
#ifndef HPCPROF_PMU_DRAFT_H
#define HPCPROF_PMU_DRAFT_H

#include "resolve.h"

/* Adds the modifiers in the text; false if it is not a list of modifiers. */
bool hp_modifiers_parse(const char *text, size_t length, struct hp_modifiers *modifiers);
/* The error for text that hp_modifiers_parse() does not accept. */
struct hp_error *hp_modifiers_refuse(const char *text, size_t length);
void hp_modifiers_add(struct hp_modifiers *to, const struct hp_modifiers *from);

bool hp_is_own_term(const struct hp_event_term *term);
/* Applies one term to one event. A wrong value is a USAGE error. */
struct hp_error *hp_draft_apply_term(const struct hp_event_term *term, struct hp_draft *draft);

/* Puts modifiers into the event and its name. If the user may only see user mode, u is added, and
 * events of the kernel are refused; in a set they are kept, marked as absent. */
struct hp_error *hp_draft_finish(const struct hp_machine *machine, struct hp_draft *draft);

#endif
