/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/isa/text.h>

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* No instruction's text is longer. */
enum { TEXT_BYTES = 256 };

uint64_t hp_isa_text_hash(const char *text, bool has_target)
{
	char kept[TEXT_BYTES];
	size_t length = 0;
	bool relative = false;

	for (const char *at = text; *at && length < sizeof(kept); at++) {
		if (has_target && *at == ' ')
			break;
		/* The text contains the operand's address. */
		if (strncmp(at, "[rip", 4) == 0 || strncmp(at, "[0x", 3) == 0)
			relative = true;
		else if (*at == ']')
			relative = false;
		if (!relative)
			kept[length++] = *at;
	}
	return XXH3_64bits(kept, length);
}

uint64_t hp_isa_text_shape(const char *text)
{
	char kept[TEXT_BYTES];
	size_t length = strcspn(text, " ");

	if (length > sizeof(kept))
		length = sizeof(kept);
	memcpy(kept, text, length);
	for (const char *at = text + length; *at && length < sizeof(kept); at++)
		if (*at == '[' || *at == ',')
			kept[length++] = *at;
	return XXH3_64bits(kept, length);
}

bool hp_isa_text_is_padding(const char *text)
{
	const char *space = strrchr(text, ' ');

	/* With prefixes in front, with operands behind it. */
	return strncmp(text, "nop", 3) == 0 || (space && strcmp(space, " nop") == 0) ||
	       strstr(text, " nop ") || strcmp(text, "xchg ax, ax") == 0 ||
	       strcmp(text, "int3") == 0;
}
