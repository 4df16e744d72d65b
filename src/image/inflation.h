/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits the memory that the compressed sections of an ELF file take. libelf and libdw decompress
 * them completely when symbols or lines are requested, whatever size the file states. So they are
 * asked only if that size is within a limit proportional to the stored size.
 */
#ifndef HPCPROF_IMAGE_INFLATION_H
#define HPCPROF_IMAGE_INFLATION_H

#include <gelf.h>
#include <stdbool.h>

/* Whether all compressed sections together are within the limit. */
bool inflation_of_sections_is_bounded(Elf *elf);
/* Whether .gnu_debugdata and the compressed sections in it are within the limit; true without
 * .gnu_debugdata. Decompresses it. */
bool inflation_of_debugdata_is_bounded(Elf *elf);

#endif
