/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who a mapped file is. Used while recording, so it is cheap: a build-id is found through the
 * program headers alone; only without one are the executable segments hashed. The bytes are
 * hostile: nothing in the file is trusted for a size or an offset.
 */
#ifndef HPCPROF_IMAGE_IDENTITY_H
#define HPCPROF_IMAGE_IDENTITY_H

#include <hpcprof/model/image_id.h>

/* Of all note segments or sections of a file, as far as they are read; real ones hold some hundred. */
enum { HP_IDENTITY_NOTES_MOST_BYTES = 1 << 20 };

/* Build-id if there is one, else XXH3-128 over the bytes of the executable PT_LOAD segments, in
 * file order; of a file that is no ELF, over the whole file (at most 1 GiB, else NONE). Reads with
 * pread only; takes any ELF class and byte order. */
struct hp_error *hp_identity_of_fd(int fd, struct hp_identity *identity);

/* The same for an ELF image in memory (the vdso). */
struct hp_error *hp_identity_of_bytes(const void *bytes, size_t size, struct hp_identity *identity);

/* NT_GNU_BUILD_ID out of raw note bytes (/sys/kernel/notes,
 * /sys/module/M/notes/.note.gnu.build-id); kind NONE when there is none. */
void hp_identity_of_notes(const void *bytes, size_t size, struct hp_identity *identity);

#endif
