/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moves translated code to the addresses of the program in another process of it. Address-space
 * randomisation moves whole images. Translated code addresses its own code and data relative to
 * itself, and the program by constants whose places are recorded. A zone of the cache moves by the
 * distance that most images near it have moved; code of images that moved otherwise is translated
 * again.
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
