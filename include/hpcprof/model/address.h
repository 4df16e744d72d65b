/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three kinds of address, as three types that do not convert by accident:
 *
 *	run-time	where an instruction was in a process's memory
 *	image offset	where it is in its file (for FILE images: the file offset), the profile's key
 *	link-time	the virtual address in the ELF file, what `objdump -d` prints
 */
#ifndef HPCPROF_MODEL_ADDRESS_H
#define HPCPROF_MODEL_ADDRESS_H

#include <stdint.h>

typedef struct {
	uint64_t value;
} hp_runtime_address;

typedef struct {
	uint64_t value;
} hp_image_offset;

typedef struct {
	uint64_t value;
} hp_link_address;

#endif
