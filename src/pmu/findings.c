/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds the list of findings, to which each function of an examination adds. */
#include "examine.h"

#include <hpcprof/base/text.h>
#include <hpcprof/base/vector.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void hp_findings_clear(struct hp_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->at[i].topic);
		free(findings->at[i].says);
		free(findings->at[i].lift);
		free(findings->at[i].without);
	}
	free(findings->at);
	*findings = (struct hp_findings){ 0 };
}

static bool copy(char **made, const char *text)
{
	*made = text ? strdup(text) : NULL;
	return !text || *made;
}

static bool add_list(struct hp_findings *findings, enum hp_finding_state state, const char *topic,
		     const char *lift, const char *without, const char *format, va_list arguments)
{
	struct hp_finding *finding;

	if (!hp_vector_push(findings, (struct hp_finding){ .state = state }))
		return false;
	finding = &findings->at[findings->count - 1];
	finding->says = hp_text_format_list(format, arguments);
	return copy(&finding->topic, topic) && copy(&finding->lift, lift) &&
	       copy(&finding->without, without) && finding->says;
}

bool hp_findings_add(struct hp_findings *findings, enum hp_finding_state state, const char *topic,
		     const char *lift, const char *without, const char *format, ...)
{
	va_list arguments;
	bool room;

	va_start(arguments, format);
	room = add_list(findings, state, topic, lift, without, format, arguments);
	va_end(arguments);
	return room;
}

void hp_examination_add(struct hp_examination *examination, enum hp_finding_state state,
			const char *topic, const char *lift, const char *without,
			const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!add_list(examination->findings, state, topic, lift, without, format, arguments))
		examination->no_memory = true;
	va_end(arguments);
}
