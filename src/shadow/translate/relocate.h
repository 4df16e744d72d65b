/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same program in another process. Address-space randomisation moves images, not what is in them.
 * Translated code names what it belongs to relative to itself, or by constants that are known; so a
 * zone goes where the images near it went. Images mostly keep their distances: what does not go with
 * most of its zone is translated anew.
 */
#ifndef SHADOW_TRANSLATE_RELOCATE_H
#define SHADOW_TRANSLATE_RELOCATE_H

#include "code_cache.h"
#include "text.h"

/*
 * Moves what has been read and translated to where a process of these areas has the same code, if that
 * is elsewhere and worth it; else nothing is changed. What is really there is compared afterwards
 * (shadow_text_begin), and whether there is room for the zones is up to the caller. False: everything
 * is to be forgotten.
 */
bool code_relocate(struct code_cache *cache, struct shadow_text *text, const struct areas *areas);

#endif
