/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds sections of ELF files by name. Callers must link with libelf. */
#ifndef HPCPROF_BASE_ELF_SECTION_H
#define HPCPROF_BASE_ELF_SECTION_H

#include <gelf.h>

/* The first section of this name, and its header; NULL when there is none, or one whose contents
 * are not in the file, as in files of debugging information. */
Elf_Scn *hp_elf_section(Elf *elf, const char *name, GElf_Shdr *header);

#endif
