/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples in the kernel: the image (the kernel or a module), and the symbol's name, which is only
 * known until the next boot (/proc/kallsyms changes with KASLR). Offsets are relative to _text, or
 * to the start of the module's text, so that epochs of one kernel build add up over boots.
 * Everything is read at the first kernel sample, or before. Without permission (kptr_restrict)
 * samples keep their raw addresses.
 */
#ifndef COLLECT_IMAGES_KERNEL_H
#define COLLECT_IMAGES_KERNEL_H

#include "kept.h"

struct kernel_symbol {
	uint64_t address;
	uint32_t name;	 /* index of its first byte in `names` */
	uint32_t module; /* index; 0: the kernel itself */
};

struct kernel_module {
	char *name; /* "" for the kernel itself */
	uint64_t base;
	struct image *image; /* a reference, once it has samples */
};

struct kernel {
	struct images *images; /* borrowed */
	struct kept *kept;     /* borrowed */
	/* samples come from another boot or machine, so no names are known */
	bool is_elsewhere;
	bool loaded;
	char *names; /* of the symbols, each ended by 0 */
	size_t name_bytes, name_capacity;
	struct kernel_symbol *symbols;
	size_t count, capacity;
	struct kernel_module *modules;
	size_t module_count, module_capacity;
};

/* Reads the symbols now, which the first kernel address would need; it takes a superuser some 50
 * ms, once. */
void kernel_prepare(struct kernel *kernel);
void kernel_clear(struct kernel *kernel);

/* Like jit_resolve, for an address in the upper half. */
bool kernel_resolve(struct kernel *kernel, uint64_t address, struct image **image,
		    uint64_t *offset);

#endif
