/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vdso: code that the kernel maps into every process and that no file contains. It is the same
 * in all processes of one word size, so its bytes are read from hpcprof's own memory.
 */
#ifndef COLLECT_IMAGES_VDSO_H
#define COLLECT_IMAGES_VDSO_H

#include <hpcprof/model/image_id.h>

/* The bytes of our vdso; NULL if there is none. Static lifetime. */
const void *vdso_bytes(size_t *size);
/* Its identity; kind NONE if there is no vdso. */
struct hp_identity vdso_identity(void);

#endif
