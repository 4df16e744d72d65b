/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/machine.h>

#include "cpu.h"
#include "try.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum {
	CAP_SYS_ADMIN_BIT = 21,
	CAP_PERFMON_BIT = 38,
	DEFAULT_PARANOID = 2,
	DEFAULT_MLOCK_KB = 516,
	DEFAULT_SAMPLE_RATE = 100000,
	NO_PERF = -2,
};

/* The first user namespace has this inode in every kernel since 3.8; capabilities in any other do
 * not count for perf. */
#define FIRST_USER_NAMESPACE_INODE 0xeffffffdu

static int64_t read_number(const char *root, const char *path, int64_t otherwise, bool *absent)
{
	_cleanup_free_ char *full = NULL;
	struct hp_error *error;
	int64_t value = otherwise;

	if (asprintf(&full, "%s%s", root, path) < 0)
		return otherwise;
	error = hp_file_read_number(full, &value);
	if (absent)
		*absent = error && error->errno_value == ENOENT;
	hp_error_destroy(error);
	return error ? otherwise : value;
}

/* The value of the first line "key : value" in the beginning of a long file (cpuinfo has a block
 * per CPU). malloc'ed; NULL: none. */
static char *read_key(const char *root, const char *path, const char *key)
{
	_cleanup_free_ char *full = NULL;
	char head[4096];
	_cleanup_close_ int fd = -1;
	ssize_t size;
	char *line;
	char *rest = head;

	if (asprintf(&full, "%s%s", root, path) < 0)
		return NULL;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);
	if (size < 0)
		return NULL;
	head[size] = 0;
	while ((line = strsep(&rest, "\n"))) {
		size_t length = strlen(key);
		size_t blanks = 0;

		if (strncmp(line, key, length) != 0)
			continue;
		blanks = strspn(line + length, " \t");
		if (line[length + blanks] == ':')
			return strdup(line + length + blanks + 1 +
				      strspn(line + length + blanks + 1, " \t"));
	}
	return NULL;
}

/* Arm's cpuinfo has numbers instead of a name. */
static char *arm_model(const char *root)
{
	static const struct {
		const char *part;
		const char *name;
	} parts[] = {
		{ "0xd03", "Cortex-A53" },  { "0xd07", "Cortex-A57" },	{ "0xd08", "Cortex-A72" },
		{ "0xd0b", "Cortex-A76" },  { "0xd0c", "Neoverse N1" }, { "0xd40", "Neoverse V1" },
		{ "0xd49", "Neoverse N2" }, { "0xd4f", "Neoverse V2" }, { "0xd84", "Neoverse V3" },
		{ "0xd8e", "Neoverse N3" },
	};
	_cleanup_free_ char *implementer = read_key(root, "/proc/cpuinfo", "CPU implementer");
	_cleanup_free_ char *part = read_key(root, "/proc/cpuinfo", "CPU part");
	char *model;

	if (!implementer || !part)
		return NULL;
	for (size_t i = 0; !strcmp(implementer, "0x41") && i < HP_ARRAY_COUNT(parts); i++)
		if (!strcmp(part, parts[i].part))
			return strdup(parts[i].name);
	return asprintf(&model, "Arm implementer %s part %s", implementer, part) < 0 ? NULL : model;
}

static char *cpu_model(const char *root)
{
	char *model = read_key(root, "/proc/cpuinfo", "model name");

	if (!model)
		model = arm_model(root);
	if (!model)
		model = read_key(root, "/proc/cpuinfo", "uarch");
	return model ? model : strdup("unknown");
}

static bool is_privileged(const char *root)
{
	_cleanup_free_ char *mask = read_key(root, "/proc/self/status", "CapEff");
	_cleanup_free_ char *path = NULL;
	struct stat status;
	uint64_t bits;

	if (!mask || asprintf(&path, "%s/proc/self/ns/user", root) < 0)
		return false;
	bits = strtoull(mask, NULL, 16);
	if (stat(path, &status) == 0 && status.st_ino != FIRST_USER_NAMESPACE_INODE)
		return false;
	return bits >> CAP_SYS_ADMIN_BIT & 1 || bits >> CAP_PERFMON_BIT & 1;
}

static struct hp_error *describe(struct hp_machine *machine)
{
	struct utsname names;

	if (uname(&names) < 0)
		return hp_error_create_errno(errno, "asking for the machine's name");
	machine->host = strdup(names.nodename);
	machine->architecture = strdup(names.machine);
	machine->cpu_model = cpu_model(machine->root);
	if (asprintf(&machine->kernel, "%s %s", names.release, names.version) < 0)
		machine->kernel = NULL;
	if (!machine->host || !machine->architecture || !machine->cpu_model || !machine->kernel)
		return hp_error_create_no_memory();
	return hp_cpu_find(machine->root, &machine->cpu);
}

/*
 * The x86 drivers refuse levels that the processor does not have. Arm's never look at precise_ip
 * (6.1, armv8_pmuv3: level 3 opens, and samples as ever); the other architectures have no such
 * levels either.
 */
static bool ignores_precise(const char *architecture)
{
	size_t length = strlen(architecture);

	return strcmp(architecture, "x86_64") != 0 &&
	       !(length == 4 && architecture[0] == 'i' && strcmp(architecture + 2, "86") == 0);
}

static void read_limits(struct hp_machine *machine)
{
	const char *root = machine->root;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool absent = false;

	machine->cpus = cpus > 0 ? (uint32_t)cpus : 1;
	machine->paranoid = (int)read_number(root, "/proc/sys/kernel/perf_event_paranoid",
					     DEFAULT_PARANOID, &absent);
	machine->mlock_kb =
		read_number(root, "/proc/sys/kernel/perf_event_mlock_kb", DEFAULT_MLOCK_KB, NULL);
	machine->max_sample_rate = read_number(root, "/proc/sys/kernel/perf_event_max_sample_rate",
					       DEFAULT_SAMPLE_RATE, NULL);
	machine->privileged = is_privileged(root);
	/* A missing file tells that the kernel has no perf; but /proc may be hidden from us. */
	if (absent) {
		struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE };

		if (hp_try_open(attr, 0, -1) == ENOSYS)
			machine->paranoid = NO_PERF;
	}
}

static struct perf_event_attr clock_attr(bool user_only)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = user_only,
		.exclude_hv = user_only,
	};
}

static void try_opens(struct hp_machine *machine)
{
	struct perf_event_attr cycles = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};

	machine->user_only = hp_try_open(clock_attr(false), 0, -1) != 0;
	machine->samples = !machine->user_only || hp_try_open(clock_attr(true), 0, -1) == 0;
	machine->system_wide = hp_try_open(clock_attr(machine->user_only), -1, 0) == 0;
	cycles.exclude_kernel = machine->user_only;
	cycles.exclude_hv = machine->user_only;
	cycles.sample_period = 1000003;
	machine->cycles_errno = hp_try_open(cycles, 0, -1);
	machine->has_cycles = machine->cycles_errno == 0;
	for (uint8_t precise = 3; machine->has_cycles && !machine->ignores_precise && precise > 0;
	     precise--) {
		cycles.precise_ip = precise & 3u;
		if (hp_try_open(cycles, 0, -1) == 0) {
			machine->precise_cycles = precise;
			break;
		}
	}
}

struct hp_error *hp_machine_create_at(const char *root, struct hp_machine **machine)
{
	struct hp_machine *made = calloc(1, sizeof(*made));
	struct hp_error *error;

	if (!made)
		return hp_error_create_no_memory();
	made->root = strdup(root);
	error = made->root ? describe(made) : hp_error_create_no_memory();
	if (error) {
		hp_machine_destroy(made);
		return error;
	}
	read_limits(made);
	made->ignores_precise = ignores_precise(made->architecture);
	try_opens(made);
	*machine = made;
	return NULL;
}

struct hp_error *hp_machine_create(struct hp_machine **machine)
{
	return hp_machine_create_at("", machine);
}

void hp_machine_destroy(struct hp_machine *machine)
{
	if (!machine)
		return;
	free(machine->root);
	free(machine->host);
	free(machine->cpu_model);
	hp_cpu_clear(&machine->cpu);
	free(machine->architecture);
	free(machine->kernel);
	free(machine);
}
