/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads numbers and pointers as unwind data and exception tables encode them (LSB core, section
 * "DWARF Extensions"). A read fails if the data ends before the value does, or if a LEB128 number
 * does not end within 10 bytes.
 */
#ifndef HPCPROF_BASE_ENCODED_H
#define HPCPROF_BASE_ENCODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_ENCODING_FORMAT = 0x0f, HP_ENCODING_BASE = 0x70 };

struct hp_encoded_form {
	bool is_64;
	bool big_endian;
};

struct hp_cursor {
	const uint8_t *at;
	const uint8_t *end;
};

bool hp_encoded_fixed(struct hp_encoded_form form, struct hp_cursor *cursor, size_t size,
		      bool is_signed, uint64_t *value);
bool hp_encoded_leb128(struct hp_cursor *cursor, bool is_signed, uint64_t *value);

/* A pointer's number, before any base is added. */
bool hp_encoded_pointer(struct hp_encoded_form form, struct hp_cursor *cursor, uint8_t encoding,
			uint64_t *value);

#endif
