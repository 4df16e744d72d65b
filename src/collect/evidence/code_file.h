/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file behind an image, for reading single instructions and constants while the target runs.
 *
 * The file is read in pieces and never mapped, because it may shrink. Its headers are not trusted.
 * The latest pieces of all files are kept, because most reads are near the one before.
 */
#ifndef COLLECT_EVIDENCE_CODE_FILE_H
#define COLLECT_EVIDENCE_CODE_FILE_H

#include "../tuning.h"

#include <hpcprof/model/image_id.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_segment {
	uint64_t address; /* link-time */
	uint64_t offset;
	uint64_t bytes;
	bool is_executable;
	bool is_writable;
};

struct code_file {
	int fd; /* -1: the file cannot be read */
	uint16_t machine;
	uint64_t serial; /* distinguishes it from all files ever opened with these pieces */
	struct code_segment segments[CODE_FILE_SEGMENTS];
	size_t segment_count;
};

/* A cached part of a file, at an offset that is a multiple of its size. */
struct code_piece {
	uint64_t serial; /* of the file; 0: unused */
	uint64_t number;
	size_t held; /* bytes; fewer at the end of the file */
	uint8_t bytes[CODE_PIECE_BYTES];
};

struct code_pieces {
	uint64_t last_serial;
	struct code_piece at[CODE_PIECES];
};

/* Opens the image's file as the process sees it, or by its path. `file->fd` stays -1 when the same
 * file cannot be opened, or when it is not a 64-bit ELF file of this machine's byte order. */
void code_file_open(struct code_file *file, struct code_pieces *pieces,
		    const struct hp_image_id *id, uint32_t pid);
void code_file_close(struct code_file *file);

/* The link-time address of an offset in an executable segment. False when it is in none. */
bool code_file_address(const struct code_file *file, uint64_t offset, uint64_t *address);

/* Reads up to `size` bytes at a link-time address in a read-only segment. Returns how many there
 * were. */
size_t code_file_read(const struct code_file *file, struct code_pieces *pieces, uint64_t address,
		      void *into, size_t size);

#endif
