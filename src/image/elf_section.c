/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may be asked of any ELF file, opened as one or not. */
#include "elf_file.h"

#include <string.h>
#include <unistd.h>

/* libdwfl unpacks what looks like a compressed kernel and takes archives apart; neither is ever
 * mapped as a program, so only plain ELF may pass. */
bool elf_file_is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

Elf_Scn *elf_file_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, header))
			continue;
		found = elf_strptr(elf, names, header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}
