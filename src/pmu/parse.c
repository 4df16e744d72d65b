/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grammar of event lists: from left to right, one function a rule. */
#include "resolve.h"

#include "config.h"
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

enum { LONGEST_LIST_BYTES = 65536, MOST_EVENTS = 4096, LARGEST_SHARE = 1000 };

struct parser {
	const struct hp_machine *machine;
	const char *text;
	const char *at;
	struct hp_drafts drafts;
	int groups; /* number of the next group */
};

/* Says where in the list something is wrong, unless the list is just that. */
static struct hp_error *locate(const struct parser *parser, const char *where,
			       struct hp_error *error)
{
	char *message;

	/* Out of memory is nowhere in the text (and its message is not ours to change). */
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

static bool parse_modifier_letters(const char *text, size_t length, struct hp_modifiers *modifiers)
{
	for (size_t i = 0; i < length; i++) {
		switch (text[i]) {
		case 'u':
			modifiers->user = true;
			break;
		case 'k':
			modifiers->kernel = true;
			break;
		case 'h':
			modifiers->hypervisor = true;
			break;
		case 'p':
			modifiers->precise++;
			break;
		case 'P':
			modifiers->best_precise = true;
			break;
		default:
			return false;
		}
	}
	return length > 0 && modifiers->precise <= 3;
}

static struct hp_error *bad_modifiers(const char *text, size_t length)
{
	return hp_error_advise(hp_error_create(HP_ERROR_USAGE, "'%s' is no list of modifiers",
					       hp_pmu_show(text, length).text),
			       "modifiers are u (user), k (kernel), h (hypervisor), p, pp, ppp "
			       "(precise) and P (as precise as the machine can)");
}

static void add_modifiers(struct hp_modifiers *to, const struct hp_modifiers *from)
{
	to->user |= from->user;
	to->kernel |= from->kernel;
	to->hypervisor |= from->hypervisor;
	to->best_precise |= from->best_precise;
	to->precise = from->precise > to->precise ? from->precise : to->precise;
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
	if (!parse_modifier_letters(from, length, modifiers))
		return locate(parser, from, bad_modifiers(from, length));
	return NULL;
}

static struct hp_error *apply_own_term(const struct hp_event_term *term, struct hp_draft *draft)
{
	if (!term->value)
		return hp_error_create(HP_ERROR_USAGE, "'%s' needs a value (%s=…)", term->name,
				       term->name);
	if (!strcmp(term->name, "name")) {
		char *name = strdup(term->value);

		if (!name)
			return hp_error_create_no_memory();
		free(draft->event.name);
		draft->event.name = name;
		draft->named = true;
	} else if (!strcmp(term->name, "period")) {
		if (!hp_parse_u64(term->value, &draft->event.period) || !draft->event.period)
			return hp_error_create(HP_ERROR_USAGE, "period=%s: a number above 0",
					       hp_pmu_show_string(term->value).text);
	} else if (!strcmp(term->name, "share")) {
		uint64_t share;

		if (!hp_parse_u64(term->value, &share) || !share || share > LARGEST_SHARE)
			return hp_error_create(HP_ERROR_USAGE, "share=%s: a number from 1 to %d",
					       hp_pmu_show_string(term->value).text, LARGEST_SHARE);
		draft->event.share = (uint32_t)share;
	} else {
		if (!hp_parse_double(term->value, &draft->event.frequency_hz) ||
		    draft->event.frequency_hz <= 0)
			return hp_error_create(HP_ERROR_USAGE, "freq=%s: samples a second, above 0",
					       hp_pmu_show_string(term->value).text);
	}
	if (draft->event.period && draft->event.frequency_hz > 0)
		return hp_error_create(HP_ERROR_USAGE, "period and freq exclude each other");
	return NULL;
}

static bool is_own_term(const struct hp_event_term *term)
{
	return !strcmp(term->name, "name") || !strcmp(term->name, "period") ||
	       !strcmp(term->name, "freq") || !strcmp(term->name, "share");
}

static bool has_fields(const struct hp_event_terms *terms)
{
	for (size_t i = 0; i < terms->count; i++)
		if (!is_own_term(&terms->at[i]))
			return true;
	return false;
}

/* period, freq and name go with any event; the rest was the PMU's. */
static struct hp_error *apply_terms(struct parser *parser, const struct hp_event_terms *terms,
				    bool pmu, size_t first)
{
	for (size_t i = 0; i < terms->count; i++) {
		const struct hp_event_term *term = &terms->at[i];
		bool own = is_own_term(term);

		if (!own && !pmu)
			return hp_error_advise(
				hp_error_create(HP_ERROR_USAGE, "unknown term '%s'",
						hp_pmu_show_string(term->name).text),
				"after an event's name: period=, freq=, share= and name=; fields "
				"of "
				"a PMU go with its name, as in cpu/event=0x3c,umask=0x1/");
		for (size_t j = first; own && j < parser->drafts.count; j++) {
			struct hp_error *error = apply_own_term(term, &parser->drafts.at[j]);

			if (error)
				return error;
		}
	}
	return NULL;
}

/* Takes "/terms/" apart; the cursor stands on the first slash. */
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
	bool modified = colon && parse_modifier_letters(colon + 1, strlen(colon + 1), &modifiers);
	_cleanup_free_ char *bare = strndup(name, modified ? (size_t)(colon - name) : strlen(name));
	_cleanup_free_ char *close = bare ? hp_suggest_events(parser->machine, bare) : NULL;

	error->class = HP_ERROR_USAGE;
	if (close)
		return hp_error_advise(error, "did you mean %s? hpcprof events lists what there is",
				       close);
	return hp_error_advise(error, "hpcprof events lists what there is");
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
	letters = parse_modifier_letters(colon + 1, strlen(colon + 1), &modifiers);
	/* `a:b` with no letters is hardly `a` with modifiers: only say so if `a` needs no search.
	 */
	error = hp_resolve(parser->machine, head, !letters, &parser->drafts);
	if (!error && !letters)
		return bad_modifiers(colon + 1, strlen(colon + 1));
	if (!error) {
		for (size_t i = first; i < parser->drafts.count; i++)
			add_modifiers(&parser->drafts.at[i].modifiers, &modifiers);
		return NULL;
	}
	whole = hp_resolve(parser->machine, word, false, &parser->drafts);
	/* Complain about the name, not about the name with its modifiers. */
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
		return hp_error_create(HP_ERROR_USAGE, "'%s' is no address for a breakpoint",
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

/* `@name`; what of it cannot be had is said of each event, see finish(). */
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

		add_modifiers(&parser->drafts.at[i].modifiers, &modifiers);
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
		add_modifiers(&parser->drafts.at[i].modifiers, &modifiers);
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

static struct hp_error *kernel_refused(const char *name, const char *why)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_NOT_PERMITTED,
				"'%s' %s, which this user may not look into",
				hp_pmu_show_string(name).text, why),
		"run: sudo sysctl kernel.perf_event_paranoid=1, or hpcprof as root; user-mode "
		"events (cpu-clock:u, page-faults:u) work without it");
}

static struct hp_error *precise_refused(const char *name)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_SYSTEM,
				"'%s' asks for precise samples, which this machine does not have",
				hp_pmu_show_string(name).text),
		"leave p out (the kernel would take it here and sample as imprecisely as ever), or "
		"use the modifier P (as precise as the machine can)");
}

/* One event that is out of reach does not spoil the set. */
static struct hp_error *refuse(struct hp_draft *draft, struct hp_error *error)
{
	if (!draft->event.set || error->class != HP_ERROR_NOT_PERMITTED)
		return error;
	draft->event.absent = hp_steal(error->message);
	error->message = NULL;
	hp_error_destroy(error);
	return NULL;
}

/* Modifiers into the event and its name. */
static struct hp_error *finish(const struct hp_machine *machine, struct hp_draft *draft)
{
	struct hp_modifiers *modifiers = &draft->modifiers;
	struct hp_event *event = &draft->event;
	bool typed = modifiers->user || modifiers->kernel || modifiers->hypervisor;
	bool added = machine->user_only && !typed;
	char letters[9] = "";
	char *name;

	if (machine->user_only && (modifiers->kernel || modifiers->hypervisor))
		return refuse(draft,
			      kernel_refused(event->name,
					     modifiers->kernel ? "asks for the kernel (:k)"
							       : "asks for the hypervisor (:h)"));
	if (added && draft->in_kernel)
		return refuse(draft, kernel_refused(event->name, "happens inside the kernel"));
	if (machine->ignores_precise && modifiers->precise)
		return precise_refused(event->name);
	modifiers->user |= added;
	if (typed || added) {
		event->exclude_user = !modifiers->user;
		event->exclude_kernel = !modifiers->kernel;
		event->exclude_hypervisor = !modifiers->hypervisor;
	}
	event->best_precise = modifiers->best_precise;
	event->precise = (uint8_t)(modifiers->best_precise ? 3 : modifiers->precise);
	if (machine->ignores_precise)
		event->precise = 0;
	snprintf(letters, sizeof(letters), "%s%s%s%.*s%s", modifiers->user ? "u" : "",
		 modifiers->kernel ? "k" : "", modifiers->hypervisor ? "h" : "",
		 (int)(modifiers->best_precise ? 0 : modifiers->precise), "ppp",
		 modifiers->best_precise ? "P" : "");
	/* A name of one's own stays as it is, unless there is something to own up to. */
	if (draft->named)
		snprintf(letters, sizeof(letters), "%s", added ? "u" : "");
	if (!letters[0])
		return NULL;
	if (asprintf(&name, "%s%s%s", event->name,
		     event->name[strlen(event->name) - 1] == '/' ? "" : ":", letters) < 0)
		return hp_error_create_no_memory();
	free(event->name);
	event->name = name;
	return NULL;
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

		/* Sets overlap, with each other and with what was named. */
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
		error = finish(machine, &parser.drafts.at[i]);
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
