/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bodies of an image's procedures. */
#ifndef HPCPROF_IMAGE_BODY_H
#define HPCPROF_IMAGE_BODY_H

#include <hpcprof/image/image.h>
#include <hpcprof/model/body.h>

/* Of the part of the procedure that is handed in. `body->instructions` is 0 where there is no code to
 * read, or more of it than anybody writes. */
void hp_image_body(struct hp_image *image, const struct hp_procedure *part, struct hp_body *body);

#endif
