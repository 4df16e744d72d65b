/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "draft.h"

#include "text.h"

#include <hpcprof/base/number.h>

#include <stdio.h>
#include <string.h>

enum { LARGEST_SHARE = 1000 };

/* --- modifiers -------------------------------------------------------------------------------- */

bool hp_modifiers_parse(const char *text, size_t length, struct hp_modifiers *modifiers)
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

struct hp_error *hp_modifiers_refuse(const char *text, size_t length)
{
	return hp_error_advise(hp_error_create(HP_ERROR_USAGE, "'%s' is not a list of modifiers",
					       hp_pmu_show(text, length).text),
			       "modifiers are u (user), k (kernel), h (hypervisor), p, pp, ppp "
			       "(precise) and P (as precise as the machine can)");
}

void hp_modifiers_add(struct hp_modifiers *to, const struct hp_modifiers *from)
{
	to->user |= from->user;
	to->kernel |= from->kernel;
	to->hypervisor |= from->hypervisor;
	to->best_precise |= from->best_precise;
	to->precise = from->precise > to->precise ? from->precise : to->precise;
}

/* --- terms that are ours, not a PMU's --------------------------------------------------------- */

struct hp_error *hp_draft_apply_term(const struct hp_event_term *term, struct hp_draft *draft)
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
			return hp_error_create(HP_ERROR_USAGE,
					       "freq=%s: samples per second, above 0",
					       hp_pmu_show_string(term->value).text);
	}
	if (draft->event.period && draft->event.frequency_hz > 0)
		return hp_error_create(HP_ERROR_USAGE, "period and freq exclude each other");
	return NULL;
}

bool hp_is_own_term(const struct hp_event_term *term)
{
	return !strcmp(term->name, "name") || !strcmp(term->name, "period") ||
	       !strcmp(term->name, "freq") || !strcmp(term->name, "share");
}

/* --- the event -------------------------------------------------------------------------------- */

static struct hp_error *kernel_refused(const char *name, const char *why)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_NOT_PERMITTED,
				"'%s' %s, which is not visible to this user",
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
		"leave out p (the kernel accepts it here, but samples without precision), or use "
		"the modifier P (as precise as the machine can)");
}

/* One unavailable event does not make the set fail. */
static struct hp_error *refuse(struct hp_draft *draft, struct hp_error *error)
{
	if (!draft->event.set || error->class != HP_ERROR_NOT_PERMITTED)
		return error;
	draft->event.absent = hp_steal(error->message);
	error->message = NULL;
	hp_error_destroy(error);
	return NULL;
}

/* Puts modifiers into the event and its name. */
struct hp_error *hp_draft_finish(const struct hp_machine *machine, struct hp_draft *draft)
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
	/* A user-given name stays, unless a substitution must be shown. */
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
