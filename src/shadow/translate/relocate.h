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
 * Adapts translations to a process with these areas, in which the same code is at other addresses.
 * If it is not, or it is not worthwhile, nothing changes. The code's contents are compared later
 * (shadow_text_begin), and the caller checks that there is room for the zones. False: everything
 * must be forgotten.
 */
bool code_relocate(struct code_cache *cache, struct shadow_text *text, const struct areas *areas);

#endif
