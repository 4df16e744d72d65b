/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distinguishes different procedures that have the same name. */
#ifndef COMPARE_NAMESAKES_H
#define COMPARE_NAMESAKES_H

#include "sides.h"

/*
 * Distinguishes static functions with the same name in several sources of an image: their keys and
 * names get the source file. Without line information, each is paired with the one of the other
 * side whose code is most similar, or, if both images have the same number, by their order.
 */
struct hp_error *namesakes_tell_apart(struct sides *sides);

#endif
