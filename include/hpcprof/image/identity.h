/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a mapped file. It is computed while recording, so it must be cheap: a build-id is
 * found through the program headers only, and the executable segments are hashed only without one.
 * The bytes are hostile: no size or offset in the file is trusted.
 */
#ifndef HPCPROF_IMAGE_IDENTITY_H
#define HPCPROF_IMAGE_IDENTITY_H

#include <hpcprof/model/image_id.h>

/* Limit on the bytes of all note segments or sections of a file; real ones have some hundred. */
enum { HP_IDENTITY_NOTES_MOST_BYTES = 1 << 20 };

/* The build-id if there is one, else XXH3-128 over the bytes of the executable PT_LOAD segments, in
 * file order; for a file that is not ELF, over the whole file (at most 1 GiB, else NONE). Reads
 * with pread only; accepts any ELF class and byte order. */
struct hp_error *hp_identity_of_fd(int fd, struct hp_identity *identity);

/* The same for an ELF image in memory (the vdso). */
struct hp_error *hp_identity_of_bytes(const void *bytes, size_t size, struct hp_identity *identity);

/* NT_GNU_BUILD_ID out of raw note bytes (/sys/kernel/notes,
 * /sys/module/M/notes/.note.gnu.build-id); kind NONE when there is none. */
void hp_identity_of_notes(const void *bytes, size_t size, struct hp_identity *identity);

#endif
