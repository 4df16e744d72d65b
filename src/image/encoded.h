/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and pointers as unwind data and exception tables encode them (LSB core, section "DWARF
 * Extensions"). A read past the end fails and moves nothing.
 */
#ifndef HPCPROF_IMAGE_ENCODED_H
#define HPCPROF_IMAGE_ENCODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENCODING_FORMAT = 0x0f, ENCODING_BASE = 0x70 };

struct encoded_form {
	bool is_64;
	bool big_endian;
};

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

bool encoded_fixed(struct encoded_form form, struct cursor *cursor, size_t size, bool is_signed,
		   uint64_t *value);
bool encoded_leb128(struct cursor *cursor, bool is_signed, uint64_t *value);

/* A pointer's number, before any base is added. */
bool encoded_pointer(struct encoded_form form, struct cursor *cursor, uint8_t encoding,
		     uint64_t *value);

#endif
