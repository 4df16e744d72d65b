/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "resolve.h"

#include "names.h"
#include "pfm.h"
#include "text.h"
#include "tracefs.h"

#include <hpcprof/base/text.h>
#include <hpcprof/base/vector.h>

#include <linux/hw_breakpoint.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hp_event_clear(struct hp_event *event)
{
	free(event->name);
	free(event->instead_of);
	free(event->reason);
	free(event->advice);
	free(event->absent);
}

void hp_drafts_clear(struct hp_drafts *drafts)
{
	for (size_t i = 0; i < drafts->count; i++)
		hp_event_clear(&drafts->at[i].event);
	hp_vector_free(drafts);
}

static struct hp_error *push(struct hp_drafts *drafts, struct hp_draft draft, const char *format,
			     ...) __attribute__((format(printf, 3, 4)));

static struct hp_error *push(struct hp_drafts *drafts, struct hp_draft draft, const char *format,
			     ...)
{
	va_list arguments;

	va_start(arguments, format);
	draft.event.name = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (!draft.event.name)
		return hp_error_create_no_memory();
	draft.event.group = -1;
	if (!hp_vector_push(drafts, draft)) {
		free(draft.event.name);
		return hp_error_create_no_memory();
	}
	return NULL;
}

/* Parses rNNN: hexadecimal, with any number of digits up to 16. */
static bool is_raw(const char *name, uint64_t *config)
{
	size_t digits = strlen(name) - 1;
	char *end;

	if (name[0] != 'r' || !digits || digits > 16 ||
	    strspn(name + 1, "0123456789abcdefABCDEF") != digits)
		return false;
	*config = strtoull(name + 1, &end, 16);
	return true;
}

/* Where cores differ, a generic name means all kinds: one event for each, which only counts on such
 * cores. */
static struct hp_error *push_generic(const struct hp_machine *machine, struct hp_draft draft,
				     const char *name, struct hp_drafts *drafts)
{
	_cleanup_(hp_names_scope) struct hp_names pmus = { 0 };
	struct hp_error *error = hp_sysfs_core_pmus(machine, &pmus);
	uint64_t config = draft.event.config;

	if (!error && !pmus.count)
		return push(drafts, draft, "%s", name);
	for (size_t i = 0; !error && i < pmus.count; i++) {
		uint32_t type;

		error = hp_sysfs_type(machine, pmus.at[i], &type);
		draft.event.config = config | (uint64_t)type << PERF_PMU_TYPE_SHIFT;
		if (!error)
			error = push(drafts, draft, "%s/%s/", pmus.at[i], name);
	}
	return error;
}

/* Finds generic, software, cache-matrix and raw events. */
static struct hp_error *from_tables(const struct hp_machine *machine, const char *name,
				    struct hp_drafts *drafts)
{
	const struct hp_event_name *known = hp_event_name_find(name);
	struct hp_draft draft = { 0 };

	if (known) {
		draft.event.type = known->type;
		draft.event.config = known->config;
		draft.event.unit = known->unit;
		draft.in_kernel = known->in_kernel;
		return known->type == PERF_TYPE_SOFTWARE
			       ? push(drafts, draft, "%s", known->name)
			       : push_generic(machine, draft, known->name, drafts);
	}
	if (hp_event_cache_find(name, &draft.event.config)) {
		draft.event.type = PERF_TYPE_HW_CACHE;
		return push_generic(machine, draft, name, drafts);
	}
	if (is_raw(name, &draft.event.config)) {
		draft.event.type = PERF_TYPE_RAW;
		return push(drafts, draft, "%s", name);
	}
	return NULL;
}

struct hp_error *hp_resolve_pmu(const struct hp_machine *machine, const char *pmu,
				const struct hp_event_terms *terms, struct hp_drafts *drafts)
{
	struct hp_draft draft = { 0 };
	struct hp_error *error = hp_sysfs_encode(machine, pmu, terms, &draft.event);
	_cleanup_free_ char *list = NULL;
	size_t size = 0;
	FILE *text;

	if (error)
		return error;
	text = open_memstream(&list, &size);
	if (!text)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < terms->count; i++) {
		const struct hp_event_term *term = &terms->at[i];

		/* A rate does not change what is counted. */
		if (!strcmp(term->name, "period") || !strcmp(term->name, "freq") ||
		    !strcmp(term->name, "share") || !strcmp(term->name, "name"))
			continue;
		fprintf(text, "%s%s%s%s", ftell(text) > 0 ? "," : "", term->name,
			term->value ? "=" : "", term->value ? term->value : "");
	}
	if (fclose(text) != 0)
		return hp_error_create_no_memory();
	return push(drafts, draft, "%s/%s/", pmu, list);
}

/* Finds an event file of this name in any PMU. */
static struct hp_error *from_sysfs(const struct hp_machine *machine, const char *name,
				   struct hp_drafts *drafts)
{
	_cleanup_(hp_names_scope) struct hp_names pmus = { 0 };
	struct hp_error *error = hp_sysfs_pmus(machine, &pmus);
	struct hp_event_terms terms = { 0 };
	size_t before = drafts->count;

	for (size_t i = 0; !error && i < pmus.count; i++) {
		if (!hp_sysfs_has_event(machine, pmus.at[i], name))
			continue;
		error = hp_event_terms_parse(name, strlen(name), &terms);
		if (!error)
			error = hp_resolve_pmu(machine, pmus.at[i], &terms, drafts);
		hp_event_terms_clear(&terms);
	}
	/* The short name suffices if only one PMU has it. */
	if (!error && drafts->count == before + 1) {
		char *copy = strdup(name);

		if (!copy)
			return hp_error_create_no_memory();
		free(drafts->at[before].event.name);
		drafts->at[before].event.name = copy;
	}
	return error;
}

static struct hp_error *from_tracefs(const struct hp_machine *machine, const char *name,
				     struct hp_drafts *drafts)
{
	_cleanup_(hp_tracepoints_scope) struct hp_tracepoints found = { 0 };
	struct hp_error *error = hp_tracefs_find(machine, name, &found);

	for (size_t i = 0; !error && i < found.count; i++) {
		struct hp_draft draft = { .in_kernel = true };

		draft.event.type = PERF_TYPE_TRACEPOINT;
		draft.event.config = found.at[i].id;
		error = push(drafts, draft, "%s", found.at[i].name);
	}
	return error;
}

static enum hp_unit unit_of(const struct hp_event *event)
{
	for (size_t i = 0; i < hp_event_name_count; i++)
		if (hp_event_names[i].type == event->type &&
		    hp_event_names[i].config == event->config)
			return hp_event_names[i].unit;
	return HP_UNIT_EVENTS;
}

static struct hp_error *from_pfm(const char *name, struct hp_drafts *drafts)
{
	struct hp_pfm_encoding encoding;
	struct hp_draft draft = { 0 };
	const char *colons = strstr(name, "::");
	const char *event = colons ? colons + 2 : name;
	const char *says = "";

	switch (hp_pfm_encode(name, &encoding, &says)) {
	case HP_PFM_OK:
		break;
	case HP_PFM_ABSENT_PMU:
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
						       "'%s' is an event of another CPU model",
						       hp_pmu_show_string(name).text),
				       "hpcprof events lists the events of this machine");
	case HP_PFM_MALFORMED:
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE, "'%s': libpfm4 says: %s",
						       hp_pmu_show_string(name).text, says),
				       "hpcprof events --all %s lists its unit masks",
				       hp_pmu_show(event, strcspn(event, ":")).text);
	case HP_PFM_NO_LIBRARY:
		return hp_error_advise(
			hp_error_create(HP_ERROR_SYSTEM,
					"'%s' may be one of libpfm4's names, but " PFM_LIBRARY
					" cannot be loaded",
					hp_pmu_show_string(name).text),
			"install libpfm4");
	case HP_PFM_UNKNOWN:
	default:
		return NULL;
	}
	draft.event.type = encoding.type;
	draft.event.config = encoding.config;
	draft.event.config1 = encoding.config1;
	draft.event.config2 = encoding.config2;
	draft.event.unit = unit_of(&draft.event);
	if (!encoding.user || !encoding.kernel) {
		draft.modifiers.user = encoding.user;
		draft.modifiers.kernel = encoding.kernel;
		draft.modifiers.hypervisor = encoding.hypervisor;
	}
	return push(drafts, draft, "%s", name);
}

struct hp_error *hp_resolve(const struct hp_machine *machine, const char *name, bool quick,
			    struct hp_drafts *drafts)
{
	const char *colon = strchr(name, ':');
	struct hp_error *tracepoint_error = NULL;
	size_t before = drafts->count;
	struct hp_error *error = NULL;

	if (!colon)
		error = from_tables(machine, name, drafts);
	if (!error && !colon && drafts->count == before)
		error = from_sysfs(machine, name, drafts);
	if (!error && !quick && drafts->count == before && colon && !strchr(colon + 1, ':')) {
		tracepoint_error = from_tracefs(machine, name, drafts);
		if (tracepoint_error && tracepoint_error->class == HP_ERROR_NOT_FOUND) {
			hp_error_destroy(tracepoint_error);
			tracepoint_error = NULL;
		}
	}
	if (!error && !quick && drafts->count == before)
		error = from_pfm(name, drafts);
	if (!error && drafts->count == before) {
		if (tracepoint_error)
			return tracepoint_error;
		error = hp_error_create(
			HP_ERROR_NOT_FOUND,
			"unknown event '%s': neither the kernel nor libpfm4 knows it",
			hp_pmu_show_string(name).text);
	}
	hp_error_destroy(tracepoint_error);
	return error;
}

struct hp_error *hp_resolve_breakpoint(uint64_t address, uint64_t length, uint32_t access,
				       struct hp_drafts *drafts)
{
	struct hp_draft draft = { 0 };
	char letters[4];
	size_t count = 0;

	if (!access)
		access = HW_BREAKPOINT_RW;
	if (!length)
		length = access & HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	if (length > HW_BREAKPOINT_LEN_8)
		return hp_error_create(HP_ERROR_USAGE,
				       "a breakpoint watches 1 to 8 bytes, not %llu",
				       (unsigned long long)length);
	if (access & HW_BREAKPOINT_X && access & HW_BREAKPOINT_RW)
		return hp_error_create(HP_ERROR_USAGE, "a breakpoint watches either execution (x) "
						       "or accesses (r, w, rw)");
	draft.event.type = PERF_TYPE_BREAKPOINT;
	draft.event.bp_type = access;
	draft.event.config1 = address;
	draft.event.config2 = length;
	if (access & HW_BREAKPOINT_R)
		letters[count++] = 'r';
	if (access & HW_BREAKPOINT_W)
		letters[count++] = 'w';
	if (access & HW_BREAKPOINT_X)
		letters[count++] = 'x';
	letters[count] = 0;
	return push(drafts, draft, "mem:0x%llx/%llu:%s", (unsigned long long)address,
		    (unsigned long long)length, letters);
}
