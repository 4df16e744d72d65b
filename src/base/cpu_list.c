/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/cpu_list.h>

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <string.h>

enum { CPU_LIMIT = 1 << 16 };

/* Marks the CPUs of one range "a-b", or of one number "a". */
static bool mark_range(char *range, unsigned char *wanted)
{
	char *last_text = strchr(range, '-');
	uint64_t first;
	uint64_t last;

	if (last_text)
		*last_text++ = 0;
	if (!hp_parse_u64(range, &first) || !hp_parse_u64(last_text ? last_text : range, &last) ||
	    first > last || last >= CPU_LIMIT)
		return false;
	memset(wanted + first, 1, last - first + 1);
	return true;
}

struct hp_error *hp_cpu_list_parse(const char *text, int **cpus, size_t *count)
{
	_cleanup_free_ unsigned char *wanted = calloc(CPU_LIMIT, 1);
	_cleanup_free_ char *list = text ? strdup(text) : NULL;
	char *rest;
	char *range;

	if (!text) {
		struct hp_error *error = hp_file_read_text("/sys/devices/system/cpu/online", &list);

		if (error)
			return error;
	}
	*cpus = calloc(CPU_LIMIT, sizeof(**cpus));
	*count = 0;
	if (!wanted || !list || !*cpus) {
		free(*cpus);
		return hp_error_create_no_memory();
	}
	rest = list;
	while ((range = strsep(&rest, ","))) {
		if (!mark_range(range, wanted)) {
			free(*cpus);
			return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
							       "'%s' is not a list of CPUs",
							       text ? text : list),
					       "write it like 0-3,6");
		}
	}
	for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
		if (wanted[cpu])
			(*cpus)[(*count)++] = cpu;
	}
	return NULL;
}
