/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which format a comparison is written in. */
#include "comparison.h"

#include <hpcprof/base/number.h>

#include <string.h>

bool hp_comparison_format_parse(const char *text, enum hp_comparison_format *format)
{
	static const char *const names[] = {
		[HP_COMPARISON_TEXT] = "text",	   [HP_COMPARISON_JSON] = "json",
		[HP_COMPARISON_JUNIT] = "junit",   [HP_COMPARISON_SARIF] = "sarif",
		[HP_COMPARISON_GITHUB] = "github", [HP_COMPARISON_MARKDOWN] = "markdown",
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*format = (enum hp_comparison_format)i;
			return true;
		}
	}
	return false;
}

struct hp_error *hp_comparison_write(const struct hp_comparison *comparison,
				     enum hp_comparison_format format,
				     const struct hp_comparison_options *options, FILE *out)
{
	const struct comparison_writer writer = { comparison, options, out };

	switch (format) {
	case HP_COMPARISON_TEXT:
		return comparison_write_text(&writer);
	case HP_COMPARISON_JSON:
		return comparison_write_json(&writer);
	case HP_COMPARISON_JUNIT:
		return comparison_write_junit(&writer);
	case HP_COMPARISON_SARIF:
		return comparison_write_sarif(&writer);
	case HP_COMPARISON_GITHUB:
		return comparison_write_github(&writer);
	case HP_COMPARISON_MARKDOWN:
		return comparison_write_markdown(&writer);
	case HP_COMPARISON_DIFFERENCES:
		return comparison_write_differences(&writer);
	case HP_COMPARISON_DIFFERENCES_JSON:
		return comparison_write_differences_json(&writer);
	case HP_COMPARISON_HTML:
		return comparison_write_html(&writer);
	}
	return NULL;
}
