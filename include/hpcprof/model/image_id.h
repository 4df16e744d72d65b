/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which image (program, library, piece of the kernel, generated code) a sample fell into.
 *
 * Two images are the same when kind, identity and path are the same. The identity decides whether
 * a file found later is still the one that ran; the path is where it was.
 */
#ifndef HPCPROF_MODEL_IMAGE_ID_H
#define HPCPROF_MODEL_IMAGE_ID_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hp_image_kind {
	HP_IMAGE_FILE = 1,    /* a mapped file: program, library; also deleted files and memfds.
				 Offsets are file offsets. */
	HP_IMAGE_VDSO = 2,    /* "[vdso]"; offsets from its first byte. Its bytes are kept in the
				 epoch, its symbols too */
	HP_IMAGE_KERNEL = 3,  /* "[kernel]"; offsets from _text */
	HP_IMAGE_MODULE = 4,  /* "[NAME]"; offsets from the module's text */
	HP_IMAGE_JIT = 5,     /* "[jit COMMAND]": code described by a perf-PID.map. A name's extent
				 starts at a hash of the name (39 bits of XXH3-64, times 2^24), so
				 that processes, epochs and machines add up */
	HP_IMAGE_ANON = 6,    /* "[anon COMMAND]": executable memory without a file; offsets are
				 run-time addresses */
	HP_IMAGE_UNKNOWN = 7, /* "[unknown]": no known mapping; offsets are run-time addresses */
};

/* The kind of `identity`. */
enum hp_identity_kind {
	HP_IDENTITY_NONE = 0,	  /* unknown: the file could not be read in time */
	HP_IDENTITY_BUILD_ID = 1, /* NT_GNU_BUILD_ID, 1 to 20 bytes */
	HP_IDENTITY_CONTENT = 2,  /* XXH3-128 of the executable segments, 16 bytes */
};

enum { HP_IDENTITY_MAX_BYTES = 20 };

struct hp_identity {
	uint8_t kind; /* enum hp_identity_kind */
	uint8_t size; /* 0 for NONE */
	uint8_t bytes[HP_IDENTITY_MAX_BYTES];
};

struct hp_image_id {
	enum hp_image_kind kind;
	struct hp_identity identity;
	bool deleted; /* no longer at its path when it was mapped (or a memfd) */
	char *path;   /* owned; absolute for FILE, a [name] for the rest. At most PATH_MAX bytes */
};

bool hp_identity_equal(const struct hp_identity *a, const struct hp_identity *b);
/* Lower-case hexadecimal, "" for NONE. `text` takes 2 * HP_IDENTITY_MAX_BYTES + 1 bytes. */
void hp_identity_format(const struct hp_identity *identity, char *text);

struct hp_error *hp_image_id_copy(const struct hp_image_id *from, struct hp_image_id *to);
void hp_image_id_clear(struct hp_image_id *id);
/* A total order over kind, path, identity: 0 exactly when they are the same image. */
int hp_image_id_compare(const struct hp_image_id *a, const struct hp_image_id *b);

#endif
