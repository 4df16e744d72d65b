/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/open.h>
#include <hpcprof/sample/branches.h>

#include <linux/perf_event.h>
#include <unistd.h>

/* Tries to open the event, disabled, on this process: it is offered if it opens. */
static bool is_offered(const struct hp_event *event, uint64_t kind)
{
	struct perf_event_attr attr = { 0 };
	int fd;

	hp_event_to_attr(event, &attr);
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.precise_ip = 0;
	attr.sample_period = 1000003;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | kind;
	fd = hp_perf_event_open(&attr, 0, -1, -1);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool are_offered(const struct hp_event_list *events, uint64_t kind)
{
	for (size_t i = 0; i < events->count; i++)
		if (events->events[i].type == PERF_TYPE_SOFTWARE ||
		    !is_offered(&events->events[i], kind))
			return false;
	return events->count > 0;
}

bool hp_branches_offered(const struct hp_event_list *events)
{
	return are_offered(events, PERF_SAMPLE_BRANCH_ANY);
}

bool hp_call_branches_offered(const struct hp_event_list *events)
{
	return are_offered(events, PERF_SAMPLE_BRANCH_CALL_STACK);
}
