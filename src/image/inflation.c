/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inflation.h"

#include "elf_file.h"

#include <hpcprof/base/elf_section.h>

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

/* The largest ratio of decompression. Debugging information of gcc and clang decompresses to 2 to 5
 * times its size, symbols to 4 to 8 times, very regular tables to some 20 times. */
static const uint64_t TIMES = 32;
/* Always allowed: some small files are all zeros. */
static const uint64_t FREE_BYTES = 16 << 20;
/* The decoder's memory: files made by `xz -9` need 65 MiB. */
static const uint64_t LZMA_BYTES = 128 << 20;

static uint64_t ceiling_of(uint64_t stored)
{
	return FREE_BYTES + TIMES * stored;
}

/* The format before SHF_COMPRESSED: section ".zdebug_*" contains "ZLIB", the size in 8 bytes, big-
 * endian, then a stream. */
static uint64_t old_size(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	size_t names;
	const char *name = elf_getshdrstrndx(elf, &names) == 0
				   ? elf_strptr(elf, names, header->sh_name)
				   : NULL;
	const Elf_Data *data;
	uint64_t size = 0;

	if (!name || strncmp(name, ".zdebug", strlen(".zdebug")) != 0)
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4) != 0)
		return 0;
	for (int i = 4; i < 12; i++)
		size = size << 8 | ((const uint8_t *)data->d_buf)[i];
	return size;
}

static uint64_t unpacked_size(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Chdr compressed;

	if (!(header->sh_flags & SHF_COMPRESSED))
		return old_size(elf, section, header);
	return gelf_getchdr(section, &compressed) ? compressed.ch_size : 0;
}

bool inflation_of_sections_is_bounded(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t unpacked = 0;
	uint64_t stored = 0;
	size_t file_bytes = 0;

	elf_rawfile(elf, &file_bytes);
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		uint64_t grows_to;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		grows_to = unpacked_size(elf, section, &header);
		if (!grows_to)
			continue;
		/* Sections may overlap. */
		stored += header.sh_size;
		if (stored > file_bytes || header.sh_size > file_bytes)
			stored = file_bytes;
		if (grows_to > ceiling_of(file_bytes) - unpacked)
			return false;
		unpacked += grows_to;
	}
	return unpacked <= ceiling_of(stored);
}

static bool is_bounded(const void *bytes, size_t size)
{
	size_t limit = ceiling_of(size);
	_cleanup_free_ uint8_t *unpacked = malloc(limit);
	uint64_t memory = LZMA_BYTES;
	size_t taken = 0;
	size_t got = 0;
	bool bounded;
	Elf *elf;

	if (!unpacked || lzma_stream_buffer_decode(&memory, 0, NULL, bytes, &taken, size, unpacked,
						   &got, limit) != LZMA_OK)
		return false;
	elf = elf_memory((char *)unpacked, got);
	bounded = !elf || inflation_of_sections_is_bounded(elf);
	elf_end(elf);
	return bounded;
}

bool inflation_of_debugdata_is_bounded(Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *section = hp_elf_section(elf, ".gnu_debugdata", &header);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return !data || !data->d_buf || is_bounded(data->d_buf, data->d_size);
}
