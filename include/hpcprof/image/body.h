/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the fingerprints of procedures' code (hpcprof/model/body.h) from an image. */
#ifndef HPCPROF_IMAGE_BODY_H
#define HPCPROF_IMAGE_BODY_H

#include <hpcprof/image/image.h>
#include <hpcprof/model/body.h>

/* The body of the given part of a procedure. `body->instructions` is 0 if its code cannot be read
 * or is implausibly large. */
void hp_image_body(struct hp_image *image, const struct hp_procedure *part, struct hp_body *body);

#endif
