/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of debugging information beside a program's: where they may be, and which is the program's.
 * libdwfl's own search opens whatever has the name, a FIFO and a device too, unpacks what is
 * compressed and maps what somebody else may cut short, so it is left the question to debuginfod
 * only.
 */
#ifndef HPCPROF_IMAGE_DEBUG_FILE_H
#define HPCPROF_IMAGE_DEBUG_FILE_H

#include "elf_file.h"

/* Callbacks of libdwfl; the module's user data is the struct elf_file. */
int debug_file_find(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
		    const char *path, const char *link, GElf_Word crc, char **found);
int debug_file_find_none(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
			 const char *path, const char *link, GElf_Word crc, char **found);

/* dwz's common file, which `dwarf` names by build-id and by path; it closes with the elf_file.
 * False when there is one and it was not found: libdw would then look for it by its path. */
bool debug_file_open_alternate(struct elf_file *file, Dwarf *dwarf);

/* Whether the files may be opened where libdw looks for the unit that this one is the skeleton
 * of. */
bool debug_file_may_open_split(struct elf_file *file, Dwarf_Die *skeleton);

#endif
