/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AArch64 for text.c: instructions are words of 4 bytes, little-endian whatever the data are. */
#ifndef HPCPROF_ISA_AARCH64_TEXT_H
#define HPCPROF_ISA_AARCH64_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Like hp_isa_length, except that any word has a length. */
size_t aarch64_length(size_t size);
/* Like hp_isa_target. */
bool aarch64_target(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *target);
/* Like hp_isa_text. If the text does not fit into `text`, the instruction does not decode. */
size_t aarch64_text(const uint8_t *bytes, size_t size, uint64_t address, char *text,
		    size_t text_bytes);

#endif
