/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event strings as somebody types them. The machine is made up and has no files, so that the same
 * input always does the same. What is accepted must be whole, what is refused must leave nothing,
 * and where kernel samples are not to be had nothing may ask for them.
 */
#include "fuzz.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

#include <stdlib.h>
#include <string.h>

static void check(const struct hp_event_list *list, size_t from)
{
	for (size_t i = from; i < list->count; i++) {
		const struct hp_event *event = &list->events[i];
		struct perf_event_attr attr = { 0 };
		struct hp_event_info info;

		if (!event->name || !event->name[0] || event->precise > 3)
			abort();
		hp_event_to_attr(event, &attr);
		if (attr.type != event->type)
			abort();
		if (!hp_event_describe(event, &info))
			hp_event_info_clear(&info);
	}
}

static void parse(const char *text, bool user_only)
{
	static char nowhere[] = "/nonexistent";
	static char unknown[] = "unknown";
	const struct hp_machine machine = {
		.root = nowhere,
		.host = unknown,
		.cpu_model = unknown,
		.architecture = unknown,
		.kernel = unknown,
		.cpus = 1,
		.user_only = user_only,
	};
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };
	struct hp_error *error = hp_event_parse(text, &machine, &list);

	if (error) {
		if (!error->message || list.count)
			abort();
		hp_error_destroy(error);
	} else if (!list.count) {
		abort();
	}
	check(&list, 0);
	for (size_t i = 0; user_only && i < list.count; i++)
		if (!list.events[i].exclude_kernel)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = strndup((const char *)bytes, size);

	if (!text)
		return 0;
	parse(text, false);
	parse(text, true);
	free(text);
	return 0;
}
