/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether a file is ELF, before libelf opens it. */
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
