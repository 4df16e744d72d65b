/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moves translated code to where the program is in another process. Address-space randomisation
 * moves images as wholes. Translated code names its own code and data relative to itself, and
 * addresses of the program by constants that are known. So a zone of the cache moves by the
 * distance that most images near it have moved by; code of images that have moved otherwise is
 * translated anew.
 */
#ifndef SHADOW_TRANSLATE_RELOCATE_H
#define SHADOW_TRANSLATE_RELOCATE_H

#include "code_cache.h"
#include "text.h"

/*
 * Moves what has been read and translated to where a process of these areas has the same code, if
 * that is elsewhere and worth it; else nothing is changed. What is really there is compared
 * afterwards (shadow_text_begin), and whether there is room for the zones is up to the caller.
 * False: everything is to be forgotten.
 */
bool code_relocate(struct code_cache *cache, struct shadow_text *text, const struct areas *areas);

#endif
