/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "pfm.h"

#include <hpcprof/base/library.h>

#include <perfmon/pfmlib_perf_event.h>

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 256 };

static struct {
	typeof(&pfm_initialize) initialize;
	typeof(&pfm_get_pmu_info) get_pmu_info;
	typeof(&pfm_get_os_event_encoding) get_os_event_encoding;
	typeof(&pfm_get_event_info) get_event_info;
	typeof(&pfm_get_event_attr_info) get_event_attr_info;
	typeof(&pfm_get_event_next) get_event_next;
	typeof(&pfm_strerror) strerror;
} pfm;

static void load_pfm(void)
{
	pfm.initialize = HP_LIBRARY_FUNCTION(PFM_LIBRARY, pfm_initialize);
	pfm.get_pmu_info = HP_LIBRARY_FUNCTION(PFM_LIBRARY, pfm_get_pmu_info);
	pfm.get_os_event_encoding = HP_LIBRARY_FUNCTION(PFM_LIBRARY, pfm_get_os_event_encoding);
	pfm.get_event_info = HP_LIBRARY_FUNCTION(PFM_LIBRARY, pfm_get_event_info);
	pfm.get_event_attr_info = HP_LIBRARY_FUNCTION(PFM_LIBRARY, pfm_get_event_attr_info);
	pfm.get_event_next = HP_LIBRARY_FUNCTION(PFM_LIBRARY, pfm_get_event_next);
	pfm.strerror = HP_LIBRARY_FUNCTION(PFM_LIBRARY, pfm_strerror);
}

static bool is_loaded(void)
{
	static pthread_once_t loaded = PTHREAD_ONCE_INIT;

	pthread_once(&loaded, load_pfm);
	return pfm.initialize && pfm.get_pmu_info && pfm.get_os_event_encoding &&
	       pfm.get_event_info && pfm.get_event_attr_info && pfm.get_event_next && pfm.strerror;
}

/* Returns whether libpfm4 could know the name. Other names do not reach its parser. */
static bool could_be_a_name(const char *name)
{
	size_t length = strlen(name);

	if (!length || length > LONGEST_NAME)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_:.-=+", name[i]))
			return false;
	return true;
}

static bool next_pmu(pfm_pmu_t *pmu, pfm_pmu_info_t *info)
{
	while (*pmu < PFM_PMU_MAX) {
		pfm_pmu_t at = (*pmu)++;

		memset(info, 0, sizeof(*info));
		info->size = sizeof(*info);
		if (pfm.get_pmu_info(at, info) == PFM_SUCCESS)
			return true;
	}
	return false;
}

static bool names_absent_pmu(const char *name)
{
	const char *colons = strstr(name, "::");
	pfm_pmu_t pmu = PFM_PMU_NONE;
	pfm_pmu_info_t info;

	if (!colons)
		return false;
	while (next_pmu(&pmu, &info)) {
		size_t length = (size_t)(colons - name);

		if (!info.is_present && strlen(info.name) == length &&
		    !strncmp(info.name, name, length))
			return true;
	}
	return false;
}

enum hp_pfm_result hp_pfm_encode(const char *name, struct hp_pfm_encoding *encoding,
				 const char **says)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t argument = { .attr = &attr, .size = sizeof(argument) };
	pfm_err_t result;

	if (!could_be_a_name(name))
		return HP_PFM_UNKNOWN;
	if (!is_loaded())
		return HP_PFM_NO_LIBRARY;
	if (pfm.initialize() != PFM_SUCCESS)
		return HP_PFM_UNKNOWN;
	memset(&attr, 0, sizeof(attr));
	result = pfm.get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH, PFM_OS_PERF_EVENT,
					   &argument);
	if (result == PFM_SUCCESS) {
		*encoding = (struct hp_pfm_encoding){
			.type = attr.type,
			.config = attr.config,
			.config1 = attr.config1,
			.config2 = attr.config2,
			.user = !attr.exclude_user,
			.kernel = !attr.exclude_kernel,
			.hypervisor = !attr.exclude_hv,
		};
		return HP_PFM_OK;
	}
	if (result == PFM_ERR_NOTFOUND || result == PFM_ERR_INVAL || result == PFM_ERR_NOTSUPP)
		return names_absent_pmu(name) ? HP_PFM_ABSENT_PMU : HP_PFM_UNKNOWN;
	*says = pfm.strerror(result);
	return HP_PFM_MALFORMED;
}

struct listing {
	bool (*each)(const char *pmu, bool core, const char *event, const char *description,
		     void *context);
	void *context;
	const pfm_pmu_info_t *pmu;
};

/* A name is listed when it can be asked for. libpfm4's tables also hold events that say nothing
 * without a unit mask and name no default one (4.13: half of an Intel core's events and 30 of
 * Zen 4's), and uncore units that the kernel has no driver for. */
static bool can_be_asked_for(const struct listing *listing, const char *event)
{
	char name[LONGEST_NAME + 1];
	struct hp_pfm_encoding encoding;
	const char *says;
	int length = snprintf(name, sizeof(name), "%s::%s", listing->pmu->name, event);

	return length > 0 && (size_t)length < sizeof(name) &&
	       hp_pfm_encode(name, &encoding, &says) == HP_PFM_OK;
}

/* Adds "EVENT: description" and "EVENT:MASK: description"; the first alone does not distinguish
 * masks. */
static bool list_unit_mask(const struct listing *listing, const pfm_event_info_t *event,
			   const pfm_event_attr_info_t *mask)
{
	const char *of_event = event->desc ? event->desc : "";
	const char *of_mask = mask->desc ? mask->desc : "";
	char name[LONGEST_NAME + 1];
	char description[1024];

	if (snprintf(name, sizeof(name), "%s:%s", event->name, mask->name) >= (int)sizeof(name) ||
	    !can_be_asked_for(listing, name))
		return true;
	snprintf(description, sizeof(description), "%s%s%s", of_event,
		 of_event[0] && of_mask[0] ? ": " : "", of_mask);
	return listing->each(listing->pmu->name, listing->pmu->type == PFM_PMU_TYPE_CORE, name,
			     description, listing->context);
}

static bool list_event(const struct listing *listing, int index)
{
	pfm_event_info_t event = { .size = sizeof(event) };

	if (pfm.get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
		return true;
	if (can_be_asked_for(listing, event.name) &&
	    !listing->each(listing->pmu->name, listing->pmu->type == PFM_PMU_TYPE_CORE, event.name,
			   event.desc ? event.desc : "", listing->context))
		return false;
	for (int i = 0; i < event.nattrs; i++) {
		pfm_event_attr_info_t attribute = { .size = sizeof(attribute) };

		if (pfm.get_event_attr_info(index, i, PFM_OS_PERF_EVENT, &attribute) ==
			    PFM_SUCCESS &&
		    attribute.type == PFM_ATTR_UMASK &&
		    !list_unit_mask(listing, &event, &attribute))
			return false;
	}
	return true;
}

bool hp_pfm_enumerate(bool (*each)(const char *pmu, bool core, const char *event,
				   const char *description, void *context),
		      void *context)
{
	pfm_pmu_t pmu = PFM_PMU_NONE;
	pfm_pmu_info_t info;
	struct listing listing = { .each = each, .context = context, .pmu = &info };

	if (!is_loaded())
		return false;
	if (pfm.initialize() != PFM_SUCCESS)
		return true;
	while (next_pmu(&pmu, &info)) {
		if (!info.is_present || info.pmu == PFM_PMU_PERF_EVENT ||
		    info.pmu == PFM_PMU_PERF_EVENT_RAW)
			continue;
		for (int i = info.first_event; i != -1; i = pfm.get_event_next(i))
			if (!list_event(&listing, i))
				return true;
	}
	return true;
}
