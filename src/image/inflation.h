/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the compressed parts of an ELF file grow to in memory. libelf and libdw unpack them whole as
 * soon as they are asked for symbols or lines, whatever size the file names: so they are asked only
 * where it stays within a ceiling in proportion to what is stored.
 */
#ifndef HPCPROF_IMAGE_INFLATION_H
#define HPCPROF_IMAGE_INFLATION_H

#include <gelf.h>
#include <stdbool.h>

/* Of all compressed sections together. */
bool inflation_of_sections_is_bounded(Elf *elf);
/* Of .gnu_debugdata, and of the compressed sections in it; true when there is none. Unpacks it. */
bool inflation_of_debugdata_is_bounded(Elf *elf);

#endif
