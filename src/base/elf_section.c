/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/elf_section.h>

#include <string.h>

Elf_Scn *hp_elf_section(Elf *elf, const char *name, GElf_Shdr *header)
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
			return header->sh_type == SHT_NOBITS ? NULL : section;
	}
	return NULL;
}
