/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds separate files with a program's debugging information, and checks that they are the
 * program's. libdwfl's own search is used only for debuginfod: it would open any file with the
 * right name, even a FIFO or a device, decompress it without a limit, and map files that others
 * may truncate.
 */
#ifndef HPCPROF_IMAGE_DEBUG_FILE_H
#define HPCPROF_IMAGE_DEBUG_FILE_H

#include "elf_file.h"

/* Callbacks of libdwfl; the module's user data is the struct elf_file. */
int debug_file_find(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
		    const char *path, const char *link, GElf_Word crc, char **found);
int debug_file_find_none(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
			 const char *path, const char *link, GElf_Word crc, char **found);

/* Opens dwz's common file, which `dwarf` names by build-id and by path; it is closed with the
 * elf_file. False if there is one and it was not found: libdw would then search for it by its
 * path. */
bool debug_file_open_alternate(struct elf_file *file, Dwarf *dwarf);

/* The separate file that is open, or NULL. It lives as long as the elf_file. */
const char *debug_file_name(const struct elf_file *file);
/* Whether that is this system's for a build-id, not one of another root directory. */
bool debug_file_is_of_system(const struct elf_file *file);

/* Whether the files may be opened where libdw looks for the split unit of this skeleton. */
bool debug_file_may_open_split(struct elf_file *file, Dwarf_Die *skeleton);

#endif
