/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "terms.h"

#include "text.h"

#include <hpcprof/base/vector.h>

#include <string.h>

void hp_event_terms_clear(struct hp_event_terms *terms)
{
	for (size_t i = 0; i < terms->count; i++) {
		free(terms->at[i].name);
		free(terms->at[i].value);
	}
	hp_vector_free(terms);
}

static struct hp_error *push(struct hp_event_terms *terms, const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	size_t name_length = equals ? (size_t)(equals - text) : length;
	_cleanup_free_ char *name = strndup(text, name_length);
	_cleanup_free_ char *value = NULL;

	if (!name_length)
		return hp_error_create(HP_ERROR_USAGE, "a term without a name in '%s'",
				       hp_pmu_show(text, length).text);
	if (equals) {
		const char *from = equals + 1;
		size_t left = length - name_length - 1;

		if (left >= 2 && (*from == '\'' || *from == '"') && from[left - 1] == *from) {
			from++;
			left -= 2;
		}
		if (!left)
			return hp_error_create(HP_ERROR_USAGE, "term '%s' has an empty value",
					       hp_pmu_show(text, name_length).text);
		value = strndup(from, left);
	}
	if (!name || (equals && !value) ||
	    !hp_vector_push(terms, (struct hp_event_term){ .name = name, .value = value }))
		return hp_error_create_no_memory();
	name = NULL;
	value = NULL;
	return NULL;
}

struct hp_error *hp_event_terms_parse(const char *text, size_t length, struct hp_event_terms *terms)
{
	const char *end = text + length;

	while (text < end) {
		const char *comma = text;
		char quote = 0;
		struct hp_error *error;

		for (; comma < end && (quote || *comma != ','); comma++) {
			if (quote && *comma == quote)
				quote = 0;
			else if (!quote && (*comma == '\'' || *comma == '"'))
				quote = *comma;
		}
		error = push(terms, text, (size_t)(comma - text));
		if (error)
			return error;
		if (comma + 1 == end)
			return hp_error_create(HP_ERROR_USAGE, "a comma with no term after it");
		text = comma + (comma < end);
	}
	return NULL;
}
