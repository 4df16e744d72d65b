/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check_page.h"

#include <hpcprof/base/cleanup.h>

#include <stdio.h>

struct hp_error *check_page_write(const struct output_file *page,
				  const struct hp_comparison *comparison,
				  const struct hp_comparison_options *options)
{
	_cleanup_free_ char *text = NULL;
	struct hp_error *error;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return hp_error_create_no_memory();
	error = hp_comparison_write(comparison, HP_COMPARISON_HTML, options, out);
	if (fclose(out) != 0 && !error)
		error = hp_error_create_no_memory();
	return error ? error : output_file_write(page, text, size);
}
