/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distinguishes different procedures that have the same name. */
#ifndef COMPARE_NAMESAKES_H
#define COMPARE_NAMESAKES_H

#include "sides.h"

/*
 * Static functions of one name in several sources of an image are told apart: their keys and names
 * get the file that they are from. Without line information each is paired with the other side's
 * whose code is most alike, or else, where both images have as many, by their order.
 */
struct hp_error *namesakes_tell_apart(struct sides *sides);

#endif
