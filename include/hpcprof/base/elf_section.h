/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds sections of ELF files by name. Callers must link with libelf. */
#ifndef HPCPROF_BASE_ELF_SECTION_H
#define HPCPROF_BASE_ELF_SECTION_H

#include <gelf.h>

/* Finds the first section of this name and its header; NULL if there is none, or if its contents
 * are not in the file, as in files with separate debugging information. */
Elf_Scn *hp_elf_section(Elf *elf, const char *name, GElf_Shdr *header);

#endif
