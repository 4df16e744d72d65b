/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/wrapped.h>

#include <string.h>

/* What comes out of a stream of 20 columns; freed at the end of the test. */
static const char *wrapped(const char *text, enum hp_wrapped_lines lines)
{
	static char *out;
	size_t size;
	FILE *to, *stream;

	free(out);
	to = open_memstream(&out, &size);
	stream = hp_wrapped_open(to, 20, lines);
	ck_assert_ptr_nonnull(stream);
	/* However it arrives. */
	for (size_t i = 0; text[i]; i++) {
		fputc(text[i], stream);
		if (i % 7 == 0)
			fflush(stream);
	}
	ck_assert_int_eq(fclose(stream), 0);
	fclose(to);
	return out;
}

TEST(lines_are_broken_between_words_at_the_width)
{
	static const struct {
		enum hp_wrapped_lines lines;
		const char *text;
		const char *expected;
	} cases[] = {
		{ HP_WRAP_ALL, "", "" },
		{ HP_WRAP_ALL, "twenty columns wide.\n", "twenty columns wide.\n" },
		{ HP_WRAP_ALL, "hpcprof: 12 samples of lua\nand more\n",
		  "hpcprof: 12 samples\n  of lua\nand more\n" },
		{ HP_WRAP_ALL, "no end of the line is no reason",
		  "no end of the line\n  is no reason" },
		{ HP_WRAP_ALL, "a:\n\n  xxxxxxxxxxxxxxxxxxxxxxxxx y\n",
		  "a:\n\n  xxxxxxxxxxxxxxxxxxxxxxxxx\n  y\n" },
		{ HP_WRAP_COMMENTS, "a row of a table that is wide\n",
		  "a row of a table that is wide\n" },
		{ HP_WRAP_COMMENTS, "# not shown: 9 rows, 31 samples\n",
		  "# not shown: 9 rows,\n#  31 samples\n" },
		{ HP_WRAP_COMMENTS, "# a    word and others that\n#      follow\n",
		  "# a    word and\n#      others that\n#      follow\n" },
		{ HP_WRAP_COMMENTS, "  # not ruled out: ports\n",
		  "  # not ruled out:\n  #  ports\n" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++)
		ck_assert_str_eq(wrapped(cases[i].text, cases[i].lines), cases[i].expected);
}

TEST(a_stream_fails_where_the_one_below_does)
{
	FILE *full = fopen("/dev/full", "w");
	FILE *stream;

	if (!full)
		return;
	setvbuf(full, NULL, _IONBF, 0);
	stream = hp_wrapped_open(full, 20, HP_WRAP_ALL);
	fputs("a line\n", stream);
	ck_assert_int_eq(fclose(stream), EOF);
	fclose(full);
}

HP_TEST_MAIN("base/wrapped")
