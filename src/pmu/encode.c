/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encodes the terms of a PMU's event as configuration bits. */
#include "sysfs.h"

#include "names.h"
#include "text.h"

#include <hpcprof/base/number.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What is being put together, and which PMU's words are spoken. */
struct encoder {
	const struct hp_machine *machine;
	const char *pmu;
	struct hp_event *event;
	const struct hp_event_terms *given; /* the user's */
};

/* One file of format/: "config:0-7,32-35" or "config2:3". */
struct field {
	unsigned word; /* config, config1 … config3 */
	uint64_t bits;
};

static bool parse_bit(const char **text, unsigned *bit)
{
	unsigned value = 0;

	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++) {
		value = value * 10 + (unsigned)(**text - '0');
		if (value > 63)
			return false;
	}
	*bit = value;
	return true;
}

static bool parse_field(const char *text, struct field *field)
{
	*field = (struct field){ 0 };
	if (strncmp(text, "config", 6) != 0)
		return false;
	text += 6;
	if (*text >= '1' && *text <= '3')
		field->word = (unsigned)(*text++ - '0');
	if (*text != ':')
		return false;
	do {
		unsigned first;
		unsigned last;

		text++;
		if (!parse_bit(&text, &first))
			return false;
		last = first;
		if (*text == '-') {
			text++;
			if (!parse_bit(&text, &last) || last < first)
				return false;
		}
		for (unsigned bit = first; bit <= last; bit++)
			field->bits |= 1ull << bit;
	} while (*text == ',');
	return !*text;
}

static uint64_t *word_of(struct hp_event *event, unsigned word)
{
	switch (word) {
	case 1:
		return &event->config1;
	case 2:
		return &event->config2;
	case 3:
		return &event->config3;
	default:
		return &event->config;
	}
}

/* Spreads the value over the field's bits, lowest first; false when it has more bits than these. */
static bool deposit(const struct field *field, uint64_t value, uint64_t *word)
{
	uint64_t spread = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(field->bits & 1ull << bit))
			continue;
		spread |= (value & 1) << bit;
		value >>= 1;
	}
	if (value)
		return false;
	*word = (*word & ~field->bits) | spread;
	return true;
}

static bool is_field(const struct encoder *encoder, const char *name, struct field *field)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *file = NULL;
	struct hp_error *error;

	if (asprintf(&file, "format/%s", name) < 0)
		return false;
	error = hp_sysfs_read(encoder->machine, encoder->pmu, file, &text);
	hp_error_destroy(error);
	return !error && parse_field(text, field);
}

static struct hp_error *unknown_term(const struct encoder *encoder, const char *name)
{
	_cleanup_(hp_names_scope) struct hp_names fields = { 0 };
	struct hp_error *error = hp_sysfs_list(encoder->machine, encoder->pmu, "format", &fields);
	char list[400] = "";
	size_t used = 0;

	if (error)
		return error;
	for (size_t i = 0; i < fields.count && used < sizeof(list) - 80; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%.60s ", fields.at[i]);
	error = hp_error_create(HP_ERROR_USAGE, "PMU %s has no event and no field '%s'",
				encoder->pmu, hp_pmu_show_string(name).text);
	return hp_error_advise(error,
			       "its fields are: %sconfig config1 config2 config3; its events: "
			       "hpcprof events '%s/*'; besides these, period=, freq=, share= "
			       "and name= may be given",
			       list, encoder->pmu);
}

static bool is_given(const struct encoder *encoder, const char *name)
{
	for (size_t i = 0; i < encoder->given->count; i++) {
		const struct hp_event_term *term = &encoder->given->at[i];

		if (!strcmp(term->name, name) && term->value && strcmp(term->value, "?") != 0)
			return true;
	}
	return false;
}

static struct hp_error *set_field(struct encoder *encoder, const struct hp_event_term *term)
{
	struct field field;
	uint64_t value = 1;

	if (!strcmp(term->name, "config"))
		field = (struct field){ .word = 0, .bits = UINT64_MAX };
	else if (!strncmp(term->name, "config", 6) && term->name[6] >= '1' &&
		 term->name[6] <= '3' && !term->name[7])
		field = (struct field){ .word = (unsigned)(term->name[6] - '0'),
					.bits = UINT64_MAX };
	else if (!is_field(encoder, term->name, &field))
		return unknown_term(encoder, term->name);
	/* "domain=?" in the kernel's description: left to the user. */
	if (term->value && !strcmp(term->value, "?"))
		return is_given(encoder, term->name)
			       ? NULL
			       : hp_error_create(HP_ERROR_USAGE, "this event needs %s=VALUE",
						 term->name);
	if (term->value && !hp_parse_u64(term->value, &value))
		return hp_error_create(HP_ERROR_USAGE,
				       "'%s' is not a number (decimal or 0x…) for the field '%s'",
				       hp_pmu_show_string(term->value).text, term->name);
	if (!deposit(&field, value, word_of(encoder->event, field.word)))
		return hp_error_create(
			HP_ERROR_USAGE, "%#llx does not fit the field '%s', which has %d bit%s",
			(unsigned long long)value, term->name, __builtin_popcountll(field.bits),
			__builtin_popcountll(field.bits) == 1 ? "" : "s");
	return NULL;
}

/* PMUs spell it cpu-cycles (x86) or cpu_cycles (Arm); these units matter to who adds up. */
static enum hp_unit unit_of_name(const char *name)
{
	static const struct {
		const char *name;
		enum hp_unit unit;
	} units[] = {
		{ "cycles", HP_UNIT_CYCLES },
		{ "cpu-cycles", HP_UNIT_CYCLES },
		{ "cpu_cycles", HP_UNIT_CYCLES },
		{ "instructions", HP_UNIT_INSTRUCTIONS },
		{ "inst_retired", HP_UNIT_INSTRUCTIONS },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(units); i++)
		if (!strcasecmp(name, units[i].name))
			return units[i].unit;
	return HP_UNIT_EVENTS;
}

static struct hp_error *apply_file(struct encoder *encoder, const char *name)
{
	_cleanup_(hp_event_terms_scope) struct hp_event_terms terms = { 0 };
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *file = NULL;
	struct hp_error *error;

	if (asprintf(&file, "events/%s", name) < 0)
		return hp_error_create_no_memory();
	error = hp_sysfs_read(encoder->machine, encoder->pmu, file, &text);
	if (!error)
		error = hp_event_terms_parse(text, strlen(text), &terms);
	for (size_t i = 0; !error && i < terms.count; i++)
		error = set_field(encoder, &terms.at[i]);
	encoder->event->unit = unit_of_name(name);
	return hp_error_wrap(error, "the kernel's description of %s/%s/", encoder->pmu, name);
}

/* A generic name inside `pmu/…/`. Where several PMUs share the cores (each lists its own in
 * `cpus`), the kernel takes the PMU's type in the upper half of config (Linux 5.13); the plain
 * `cpu` needs none, and no other PMU has generic events. */
static bool apply_generic(struct encoder *encoder, const char *name)
{
	const struct hp_event_name *generic = hp_event_name_find(name);
	struct hp_event *event = encoder->event;
	_cleanup_free_ char *cpus = NULL;
	uint64_t pmu_type = 0;
	uint64_t config;

	hp_error_destroy(hp_sysfs_read(encoder->machine, encoder->pmu, "cpus", &cpus));
	if (cpus)
		pmu_type = event->type;
	else if (strcmp(encoder->pmu, "cpu") != 0)
		return false;
	if (generic && generic->type == PERF_TYPE_HARDWARE) {
		config = generic->config;
		event->type = PERF_TYPE_HARDWARE;
		event->unit = generic->unit;
	} else if (!generic && hp_event_cache_find(name, &config)) {
		event->type = PERF_TYPE_HW_CACHE;
	} else {
		return false;
	}
	event->config = config | pmu_type << PERF_PMU_TYPE_SHIFT;
	return true;
}

static bool is_raw(const char *name, uint64_t *config)
{
	char text[19];

	if (name[0] != 'r' || strlen(name) > 17)
		return false;
	snprintf(text, sizeof(text), "0x%s", name + 1);
	return hp_parse_u64(text, config);
}

/* A term without a value: an event of the PMU, a field to be set to 1, or a generic name. */
static struct hp_error *apply_bare(struct encoder *encoder, const struct hp_event_term *term)
{
	struct field field;

	if (hp_sysfs_has_event(encoder->machine, encoder->pmu, term->name))
		return apply_file(encoder, term->name);
	if (is_field(encoder, term->name, &field))
		return NULL;
	if (is_raw(term->name, &encoder->event->config))
		return NULL;
	if (apply_generic(encoder, term->name))
		return NULL;
	return unknown_term(encoder, term->name);
}

static bool is_for_the_caller(const struct hp_event_term *term)
{
	return !strcmp(term->name, "name") || !strcmp(term->name, "period") ||
	       !strcmp(term->name, "freq") || !strcmp(term->name, "share");
}

struct hp_error *hp_sysfs_encode(const struct hp_machine *machine, const char *pmu,
				 const struct hp_event_terms *terms, struct hp_event *event)
{
	struct encoder encoder = { .machine = machine, .pmu = pmu, .event = event, .given = terms };
	struct hp_error *error = hp_sysfs_type(machine, pmu, &event->type);

	/* Named events first, so that a field beside one replaces its value wherever it stands. */
	for (size_t i = 0; !error && i < terms->count; i++)
		if (!terms->at[i].value && !is_for_the_caller(&terms->at[i]))
			error = apply_bare(&encoder, &terms->at[i]);
	for (size_t i = 0; !error && i < terms->count; i++) {
		const struct hp_event_term *term = &terms->at[i];
		struct field field;

		if (is_for_the_caller(term))
			continue;
		if (term->value || (!hp_sysfs_has_event(machine, pmu, term->name) &&
				    is_field(&encoder, term->name, &field)))
			error = set_field(&encoder, term);
	}
	return error;
}
