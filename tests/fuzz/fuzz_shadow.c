/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What shadow windows read that the kernel writes: 'a' and a memory map, 'f' and the text of a
 * descriptor, 'r' and a record of a ring. */
#include "fuzz.h"

#include "../../src/shadow/areas.h"
#include "../../src/shadow/descriptors.h"
#include "../../src/shadow/matching.h"

#include <stdlib.h>
#include <string.h>

static void check(bool claim)
{
	if (!claim)
		abort();
}

static void parse_areas(char *text)
{
	struct areas areas = { 0 };

	if (areas_parse(&areas, text)) {
		for (size_t i = 0; i < areas.count; i++) {
			const struct area *area = &areas.at[i];

			check(area->start < area->end);
			check(!i || area[-1].end <= area->start);
			check(areas_find(&areas, area->start) == area);
			check(areas_find(&areas, area->end - 1) == area);
		}
	}
	areas_clear(&areas);
}

static void parse_info(const char *text)
{
	uint64_t position;
	uint64_t inode = 0;
	int flags = 0;

	if (descriptor_parse_info(text, &position, &flags, &inode))
		check(flags >= 0);
}

static void parse_record(const uint8_t *bytes, size_t size)
{
	struct matching matching;

	matching_init(&matching);
	matching_take(&matching, bytes, size);
	for (size_t i = 0; i < matching.count; i++)
		check(matching.samples[i].stack_bytes <= MATCH_STACK_BYTES);
	matching_clear(&matching);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);

	if (text && size) {
		memcpy(text, bytes + 1, size - 1);
		text[size - 1] = 0;
		if (bytes[0] == 'a')
			parse_areas(text);
		else if (bytes[0] == 'f')
			parse_info(text);
		else if (bytes[0] == 'r')
			parse_record(bytes + 1, size - 1);
	}
	free(text);
	return 0;
}
