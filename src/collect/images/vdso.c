/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vdso.h"

#include "../tuning.h"

#include <hpcprof/image/identity.h>

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

const void *vdso_bytes(size_t *size)
{
	/* An address, though a number. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	const unsigned char *vdso = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) header;

	if (!vdso)
		return NULL;
	/* The vdso ends with its section headers. */
	memcpy(&header, vdso, sizeof(header));
	*size = header.e_shoff + (size_t)header.e_shentsize * header.e_shnum;
	return *size && *size <= VDSO_LIMIT_BYTES ? vdso : NULL;
}

struct hp_identity vdso_identity(void)
{
	struct hp_identity identity = { 0 };
	size_t size;
	const void *bytes = vdso_bytes(&size);

	if (bytes)
		hp_error_destroy(hp_identity_of_bytes(bytes, size, &identity));
	return identity;
}
