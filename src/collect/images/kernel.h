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
	uint32_t name;	 /* where it begins in `names` */
	uint32_t module; /* index, 0: the kernel itself */
};

struct kernel_module {
	char *name; /* "" for the kernel itself */
	uint64_t base;
	struct image *image; /* a reference, once it was hit */
};

struct kernel {
	struct images *images; /* borrowed */
	struct kept *kept;     /* borrowed */
	bool is_elsewhere;     /* of another boot or machine: it has no names here */
	bool loaded;
	char *names; /* of the symbols alone */
	struct kernel_symbol *symbols;
	size_t count, capacity;
	struct kernel_module *modules;
	size_t module_count, module_capacity;
};

/* Reads what the first address in it needs, once: some 50 ms for a superuser. */
void kernel_prepare(struct kernel *kernel);
void kernel_clear(struct kernel *kernel);

/* As jit_resolve, for an address in the upper half. */
bool kernel_resolve(struct kernel *kernel, uint64_t address, struct image **image,
		    uint64_t *offset);

#endif
