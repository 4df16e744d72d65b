/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses event lists from left to right, with one function per rule of the grammar. */
#include "config.h"
#include "draft.h"
#include "sets.h"
#include "suggest.h"
#include "text.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_LIST_BYTES = 65536, MOST_EVENTS = 4096 };

struct parser {
	const struct hp_machine *machine;
	const char *text;
	const char *at;
	struct hp_drafts drafts;
	int groups; /* number of the next group */
};

/* Adds to an error where in the list it is, unless the list has nothing else. */
static struct hp_error *locate(const struct parser *parser, const char *where,
			       struct hp_error *error)
{
	char *message;

	/* If memory is short, the position does not matter. */
	if (!error || error->errno_value == ENOMEM)
		return error;
	if (where == parser->text && !strpbrk(parser->text, ",{}"))
		return error;
	if (asprintf(&message, "%s (at character %zu of '%s')", error->message,
		     (size_t)(where - parser->text) + 1,
		     hp_pmu_show_string(parser->text).text) >= 0) {
		free(error->message);
		error->message = message;
	}
	return error;
}

/* `[:]letters` after a '/' or '}', up to the end of the item. */
static struct hp_error *parse_modifiers(struct parser *parser, struct hp_modifiers *modifiers)
{
	const char *from = parser->at;
	size_t length;

	if (*from == ':')
		from++;
	length = strcspn(from, ",}");
	parser->at = from + length;
	if (!length && from[-1] != ':')
		return NULL;
	if (!hp_modifiers_parse(from, length, modifiers))
		return locate(parser, from, hp_modifiers_refuse(from, length));
	return NULL;
}

static bool has_fields(const struct hp_event_terms *terms)
{
	for (size_t i = 0; i < terms->count; i++)
		if (!hp_is_own_term(&terms->at[i]))
			return true;
	return false;
}

/* period, freq and name apply to any event; the others were used by the PMU. */
static struct hp_error *apply_terms(struct parser *parser, const struct hp_event_terms *terms,
				    bool pmu, size_t first)
{
	for (size_t i = 0; i < terms->count; i++) {
		const struct hp_event_term *term = &terms->at[i];
		bool own = hp_is_own_term(term);

		if (!own && !pmu)
			return hp_error_advise(
				hp_error_create(HP_ERROR_USAGE, "unknown term '%s'",
						hp_pmu_show_string(term->name).text),
				"after an event's name: period=, freq=, share= and name=; fields "
				"of "
				"a PMU go with its name, as in cpu/event=0x3c,umask=0x1/");
		for (size_t j = first; own && j < parser->drafts.count; j++) {
			struct hp_error *error = hp_draft_apply_term(term, &parser->drafts.at[j]);

			if (error)
				return error;
		}
	}
	return NULL;
}

/* Parses "/terms/"; the cursor is on the first slash. */
static struct hp_error *parse_terms(struct parser *parser, struct hp_event_terms *terms)
{
	const char *from = parser->at + 1;
	const char *to = from;
	char quote = 0;
	struct hp_error *error;

	for (; *to && (quote || *to != '/'); to++) {
		if (quote && *to == quote)
			quote = 0;
		else if (!quote && (*to == '\'' || *to == '"'))
			quote = *to;
	}
	if (!*to)
		return locate(parser, parser->at,
			      hp_error_create(HP_ERROR_USAGE, "a '/' that is not closed"));
	error = hp_event_terms_parse(from, (size_t)(to - from), terms);
	parser->at = to + 1;
	return locate(parser, from, error);
}

static struct hp_error *unknown_event(const struct parser *parser, const char *name,
				      struct hp_error *error)
{
	const char *colon = strrchr(name, ':');
	struct hp_modifiers modifiers = { 0 };
	bool modified = colon && hp_modifiers_parse(colon + 1, strlen(colon + 1), &modifiers);
	_cleanup_free_ char *bare = strndup(name, modified ? (size_t)(colon - name) : strlen(name));
	_cleanup_free_ char *close = bare ? hp_suggest_events(parser->machine, bare) : NULL;

	error->class = HP_ERROR_USAGE;
	if (close)
		return hp_error_advise(error, "did you mean %s? hpcprof events lists all events",
				       close);
	return hp_error_advise(error, "hpcprof events lists all events");
}

static struct hp_error *unknown_pmu(const struct parser *parser, const char *name)
{
	_cleanup_(hp_names_scope) struct hp_names pmus = { 0 };
	struct hp_error *error = hp_sysfs_pmus(parser->machine, &pmus);
	char list[400] = "";
	size_t used = 0;

	if (error)
		return error;
	for (size_t i = 0; i < pmus.count && used < sizeof(list) - 80; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.60s", i ? ", " : "",
					 pmus.at[i]);
	error = hp_error_create(HP_ERROR_USAGE, "there is no PMU '%s' here",
				hp_pmu_show_string(name).text);
	return hp_error_advise(error, "this machine's PMUs: %s; hpcprof events lists their events",
			       list[0] ? list : "none");
}

/* "name:mods": the part behind the last colon may be modifiers, or belong to the name
 * (group:tracepoint, pmu::EVENT:UMASK). The shorter reading is tried first. */
static struct hp_error *resolve_word(struct parser *parser, const char *word, size_t first)
{
	const char *colon = strrchr(word, ':');
	struct hp_modifiers modifiers = { 0 };
	_cleanup_free_ char *head = strndup(word, colon ? (size_t)(colon - word) : 0);
	struct hp_error *error;
	struct hp_error *whole;
	bool letters;

	if (!head)
		return hp_error_create_no_memory();
	if (!colon)
		return hp_resolve(parser->machine, word, false, &parser->drafts);
	letters = hp_modifiers_parse(colon + 1, strlen(colon + 1), &modifiers);
	/* `a:b` with no letters is hardly `a` with modifiers: only say so if `a` needs no search.
	 */
	error = hp_resolve(parser->machine, head, !letters, &parser->drafts);
	if (!error && !letters)
		return hp_modifiers_refuse(colon + 1, strlen(colon + 1));
	if (!error) {
		for (size_t i = first; i < parser->drafts.count; i++)
			hp_modifiers_add(&parser->drafts.at[i].modifiers, &modifiers);
		return NULL;
	}
	whole = hp_resolve(parser->machine, word, false, &parser->drafts);
	/* The error is about the name, without its modifiers. */
	if (whole && letters) {
		hp_error_destroy(whole);
		return error;
	}
	hp_error_destroy(error);
	return whole;
}

/* `mem:ADDRESS[/length][:rwx][:mods]`, `/terms/` allowed behind. */
static struct hp_error *parse_breakpoint(struct parser *parser)
{
	const char *from = parser->at + strlen("mem:");
	size_t length = strcspn(from, "/:,{}");
	_cleanup_free_ char *number = strndup(from, length);
	uint64_t address;
	uint64_t bytes = 0;
	uint32_t access = 0;

	if (!number)
		return hp_error_create_no_memory();
	if (!hp_parse_u64(number, &address))
		return hp_error_create(HP_ERROR_USAGE, "'%s' is not an address for a breakpoint",
				       hp_pmu_show_string(number).text);
	from += length;
	if (*from == '/' && isdigit((unsigned char)from[1])) {
		for (from++; isdigit((unsigned char)*from); from++)
			bytes = bytes < 1000 ? bytes * 10 + (uint64_t)(*from - '0') : bytes;
		if (!bytes)
			return hp_error_create(HP_ERROR_USAGE, "a breakpoint watches 1 to 8 bytes");
	}
	if (*from == ':' && from[1] && strchr("rwx", from[1])) {
		for (from++; *from && strchr("rwx", *from); from++)
			access |= *from == 'r'	 ? HW_BREAKPOINT_R
				  : *from == 'w' ? HW_BREAKPOINT_W
						 : HW_BREAKPOINT_X;
	}
	if (*from && !strchr(":/,}", *from))
		return hp_error_create(HP_ERROR_USAGE,
				       "'%c' in a breakpoint: access is r, w, rw or x",
				       isprint((unsigned char)*from) ? *from : '?');
	parser->at = from;
	return hp_resolve_breakpoint(address, bytes, access, &parser->drafts);
}

static struct hp_error *parse_word(struct parser *parser, struct hp_event_terms *terms, bool *pmu)
{
	size_t first = parser->drafts.count;
	size_t length = strcspn(parser->at, ",/{}");
	_cleanup_free_ char *word = strndup(parser->at, length);
	const char *start = parser->at;
	struct hp_error *error;

	if (!word)
		return hp_error_create_no_memory();
	if (!length)
		return locate(parser, start,
			      hp_error_create(HP_ERROR_USAGE, "an event's name is missing"));
	parser->at += length;
	if (*parser->at == '/') {
		error = parse_terms(parser, terms);
		if (error)
			return error;
		*pmu = hp_sysfs_has_pmu(parser->machine, word);
	}
	if (*pmu)
		error = hp_resolve_pmu(parser->machine, word, terms, &parser->drafts);
	else
		error = resolve_word(parser, word, first);
	if (!error || error->class != HP_ERROR_NOT_FOUND)
		return locate(parser, start, error);
	if (!has_fields(terms))
		return locate(parser, start, unknown_event(parser, word, error));
	hp_error_destroy(error);
	return locate(parser, start, unknown_pmu(parser, word));
}

static struct hp_error *unknown_set(const struct parser *parser, const char *name, size_t length)
{
	char list[200] = "";
	size_t used = 0;

	for (size_t i = 0; i < hp_event_set_count && used < sizeof(list) - 40; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s@%.30s",
					 i ? ", " : "", hp_event_sets[i].name);
	return locate(
		parser, name - 1,
		hp_error_advise(hp_error_create(HP_ERROR_USAGE, "there is no set of events '@%s'",
						hp_pmu_show(name, length).text),
				"the sets are: %s", list));
}

/* `@name`. Events of it that are not available are reported one by one: see finish(). */
static struct hp_error *parse_set(struct parser *parser)
{
	const char *name = parser->at + 1;
	size_t length = strcspn(name, ":,/{}");
	const struct hp_event_set *set = hp_event_set_find(name, length);
	const char *at;

	if (!set)
		return unknown_set(parser, name, length);
	for (at = set->events; *at; at += strspn(at, " ")) {
		size_t first = parser->drafts.count;
		size_t word_length = strcspn(at, " ");
		_cleanup_free_ char *word = strndup(at, word_length);
		struct hp_error *error =
			word ? hp_resolve(parser->machine, word, true, &parser->drafts)
			     : hp_error_create_no_memory();

		if (error)
			return error;
		for (size_t i = first; i < parser->drafts.count; i++)
			parser->drafts.at[i].event.set = set->name;
		at += word_length;
	}
	parser->at = name + length;
	return NULL;
}

static struct hp_error *parse_event(struct parser *parser, int group)
{
	_cleanup_(hp_event_terms_scope) struct hp_event_terms terms = { 0 };
	size_t first = parser->drafts.count;
	const char *start = parser->at;
	struct hp_modifiers modifiers = { 0 };
	struct hp_error *error;
	bool pmu = false;

	if (!strncmp(start, "mem:", 4)) {
		error = locate(parser, start, parse_breakpoint(parser));
		if (!error && *parser->at == '/')
			error = parse_terms(parser, &terms);
	} else if (*start == '@' && group < 0) {
		error = parse_set(parser);
		if (!error && *parser->at == '/')
			error = parse_terms(parser, &terms);
	} else {
		error = parse_word(parser, &terms, &pmu);
	}
	if (!error)
		error = locate(parser, start, apply_terms(parser, &terms, pmu, first));
	if (!error)
		error = parse_modifiers(parser, &modifiers);
	if (error)
		return error;
	for (size_t i = first; i < parser->drafts.count; i++) {
		struct hp_event *event = &parser->drafts.at[i].event;

		hp_modifiers_add(&parser->drafts.at[i].modifiers, &modifiers);
		event->group = group;
		/* One name, several PMUs: a group cannot span them, so each gets its own. */
		if (group >= 0 && event->type != PERF_TYPE_TRACEPOINT)
			event->group += (int)(i - first);
		if (event->group >= parser->groups)
			parser->groups = event->group + 1;
	}
	if (parser->drafts.count > MOST_EVENTS)
		return hp_error_create(HP_ERROR_USAGE, "more than %d events", MOST_EVENTS);
	return NULL;
}

static struct hp_error *parse_group(struct parser *parser)
{
	const char *start = parser->at;
	size_t first = parser->drafts.count;
	struct hp_modifiers modifiers = { 0 };
	int group = parser->groups;
	struct hp_error *error;

	do {
		parser->at++;
		if (*parser->at == '{')
			return locate(parser, parser->at,
				      hp_error_create(HP_ERROR_USAGE, "a group inside a group"));
		error = parse_event(parser, group);
		if (error)
			return error;
	} while (*parser->at == ',');
	if (*parser->at != '}')
		return locate(parser, start,
			      hp_error_create(HP_ERROR_USAGE, "a '{' that is not closed"));
	parser->at++;
	error = parse_modifiers(parser, &modifiers);
	for (size_t i = first; i < parser->drafts.count; i++)
		hp_modifiers_add(&parser->drafts.at[i].modifiers, &modifiers);
	return error;
}

static struct hp_error *parse_list(struct parser *parser)
{
	while (true) {
		struct hp_error *error = *parser->at == '{' ? parse_group(parser)
							    : parse_event(parser, -1);

		if (error)
			return error;
		if (!*parser->at)
			return NULL;
		if (*parser->at != ',')
			return locate(parser, parser->at,
				      hp_error_create(HP_ERROR_USAGE, "'%s' is not expected here",
						      hp_pmu_show(parser->at, 1).text));
		parser->at++;
	}
}

static bool is_listed(const struct hp_event_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->events[i].name, name))
			return true;
	return false;
}

static struct hp_error *append(struct parser *parser, struct hp_event_list *list)
{
	size_t count = parser->drafts.count;
	struct hp_event *events = reallocarray(list->events, list->count + count, sizeof(*events));

	if (!events)
		return hp_error_create_no_memory();
	list->events = events;
	for (size_t i = 0; i < count; i++) {
		struct hp_event *event = &parser->drafts.at[i].event;

		/* Sets overlap with each other, and with named events. */
		if (event->set && is_listed(list, event->name))
			hp_event_clear(event);
		else
			events[list->count++] = *event;
	}
	parser->drafts.count = 0; /* the list owns them now */
	return NULL;
}

static int next_group(const struct hp_event_list *list)
{
	int next = 0;

	for (size_t i = 0; i < list->count; i++)
		next = list->events[i].group >= next ? list->events[i].group + 1 : next;
	return next;
}

struct hp_error *hp_event_parse(const char *text, const struct hp_machine *machine,
				struct hp_event_list *list)
{
	struct parser parser = {
		.machine = machine,
		.text = text,
		.at = text,
		.groups = next_group(list),
	};
	struct hp_error *error;

	if (strlen(text) > LONGEST_LIST_BYTES)
		return hp_error_create(HP_ERROR_USAGE, "an event list of more than %d bytes",
				       LONGEST_LIST_BYTES);
	error = parse_list(&parser);
	for (size_t i = 0; !error && i < parser.drafts.count; i++) {
		error = hp_draft_finish(machine, &parser.drafts.at[i]);
#ifndef HAVE_STRUCT_PERF_EVENT_ATTR_CONFIG3
		if (!error && parser.drafts.at[i].event.config3)
			error = hp_error_create(HP_ERROR_USAGE,
						"'%s' needs config3, which this build's kernel "
						"headers (before 6.3) do not have",
						parser.drafts.at[i].event.name);
#endif
	}
	if (!error)
		error = append(&parser, list);
	hp_drafts_clear(&parser.drafts);
	return error;
}
