/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine is taken for, and what is said when it refuses. */
#include "../support.h"
#include "tree.h"

#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *text_or(const char *text)
{
	return text ? text : "(none)";
}

TEST(a_machine_is_described_from_its_files)
{
	static const struct tree_file files[] = {
		{ "/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n"
				   "model name\t: AMD EPYC 9755 128-Core Processor\n\n"
				   "processor\t: 1\nmodel name\t: another\n" },
		{ "/proc/sys/kernel/perf_event_paranoid", "1\n" },
		{ "/proc/sys/kernel/perf_event_mlock_kb", "1024\n" },
		{ "/proc/sys/kernel/perf_event_max_sample_rate", "50000\n" },
		{ "/proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\n" },
		{ NULL, NULL },
	};
	char *root = temporary_directory();
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine;

	tree_add(root, files);
	hp_assert_ok(hp_machine_create_at(root, &machine));
	ck_assert_str_eq(machine->cpu_model, "AMD EPYC 9755 128-Core Processor");
	ck_assert_int_eq(machine->paranoid, 1);
	ck_assert_int_eq(machine->mlock_kb, 1024);
	ck_assert_int_eq(machine->max_sample_rate, 50000);
	/* Bit 38 is CAP_PERFMON. */
	ck_assert(machine->privileged);
	ck_assert_uint_ge(machine->cpus, 1);
	ck_assert_int_eq(machine->has_cycles, machine->cycles_errno == 0);
}

TEST(a_machine_that_tells_nothing_gets_the_kernels_defaults)
{
	char *root = temporary_directory();
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine;

	hp_assert_ok(hp_machine_create_at(root, &machine));
	ck_assert_str_eq(machine->cpu_model, "unknown");
	ck_assert_int_eq(machine->mlock_kb, 516);
	ck_assert_int_eq(machine->max_sample_rate, 100000);
	ck_assert(!machine->privileged);
	ck_assert_ptr_nonnull(machine->host);
	ck_assert_ptr_nonnull(machine->kernel);
}

TEST(arm_cpus_are_named_by_their_part_number)
{
	static const struct tree_file known[] = {
		{ "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n" },
		{ NULL, NULL },
	};
	static const struct tree_file other[] = {
		{ "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x61\nCPU part\t: 0x022\n" },
		{ NULL, NULL },
	};
	char *root = temporary_directory();
	struct hp_machine *machine;

	tree_add(root, known);
	hp_assert_ok(hp_machine_create_at(root, &machine));
	ck_assert_str_eq(machine->cpu_model, "Neoverse N1");
	hp_machine_destroy(machine);
	tree_add(root, other);
	hp_assert_ok(hp_machine_create_at(root, &machine));
	ck_assert_str_eq(machine->cpu_model, "Arm implementer 0x61 part 0x022");
	hp_machine_destroy(machine);
}

static struct hp_machine *machine_of(const struct tree_file *files)
{
	char *root = temporary_directory();
	struct hp_machine *machine;

	tree_add(root, files);
	hp_assert_ok(hp_machine_create_at(root, &machine));
	return machine;
}

TEST(an_x86_cpu_is_known_by_its_numbers_flags_and_instruction_cache)
{
	static const struct tree_file files[] = {
		{ "/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
				   "model\t\t: 173\nmodel name\t: Intel(R) Xeon(R) 6980P\n"
				   "stepping\t: 1\ncpu cores\t: 128\n"
				   "flags\t\t: fpu amx_tile amx_int8\n\n"
				   "processor\t: 1\nvendor_id\t: another\n" },
		{ "/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n" },
		{ "/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n" },
		{ "/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n" },
		{ "/sys/devices/system/cpu/cpu0/cache/index1/level", "1\n" },
		{ "/sys/devices/system/cpu/cpu0/cache/index1/type", "Instruction\n" },
		{ "/sys/devices/system/cpu/cpu0/cache/index1/size", "64K\n" },
		{ NULL, NULL },
	};
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = machine_of(files);

	ck_assert(hp_cpu_is_known(&machine->cpu));
	ck_assert_str_eq(machine->cpu.vendor, "GenuineIntel");
	ck_assert_uint_eq(machine->cpu.family, 6);
	ck_assert_uint_eq(machine->cpu.model, 173);
	ck_assert_uint_eq(machine->cpu.stepping, 1);
	ck_assert(machine->cpu.has_amx);
	ck_assert_uint_eq(machine->cpu.instruction_cache_bytes, 65536);
}

TEST(an_arm_cpu_is_known_by_implementer_and_part)
{
	static const struct tree_file files[] = {
		{ "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n\n"
				   "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"
				   "\nHardware\t: a board\n" },
		{ NULL, NULL },
	};
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = machine_of(files);

	ck_assert_ptr_null(machine->cpu.vendor);
	ck_assert_uint_eq(machine->cpu.implementer, 0x41);
	ck_assert_uint_eq(machine->cpu.part, 0xd40);
	ck_assert_uint_eq(machine->cpu.instruction_cache_bytes, 0);
}

TEST(an_arm_cpu_has_variant_and_revision)
{
	static const struct tree_file files[] = {
		{ "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x1\n"
				   "CPU part\t: 0xd49\nCPU revision\t: 3\n" },
		{ NULL, NULL },
	};
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = machine_of(files);

	ck_assert_uint_eq(machine->cpu.part, 0xd49);
	ck_assert_uint_eq(machine->cpu.stepping, 0x13);
}

TEST(cores_of_several_kinds_are_no_one_cpu)
{
	static const struct tree_file big_and_little[] = {
		{ "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
				   "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n" },
		{ NULL, NULL },
	};
	static const struct tree_file hybrid[] = {
		{ "/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: 151\n" },
		{ "/sys/devices/cpu_core/type", "4\n" },
		{ "/sys/devices/cpu_atom/type", "10\n" },
		{ NULL, NULL },
	};
	struct hp_machine *machine = machine_of(big_and_little);

	ck_assert(!hp_cpu_is_known(&machine->cpu));
	hp_machine_destroy(machine);
	machine = machine_of(hybrid);
	ck_assert(!hp_cpu_is_known(&machine->cpu));
	hp_machine_destroy(machine);
}

TEST(this_machine_answers_and_agrees_with_itself)
{
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine;
	char name[256];

	hp_assert_ok(hp_machine_create(&machine));
	ck_assert_int_eq(gethostname(name, sizeof(name)), 0);
	ck_assert_str_eq(machine->host, name);
	ck_assert_str_eq(machine->root, "");
	/* Whoever may see the whole system may see the kernel, unless paranoid is 0. */
	if (machine->system_wide && machine->paranoid > 1)
		ck_assert(!machine->user_only);
	if (!machine->has_cycles)
		ck_assert_int_eq(machine->precise_cycles, 0);
}

struct refusal {
	int errno_value;
	pid_t pid;
	const char *event;
	int paranoid;
	bool privileged;
	enum hp_error_class class;
	const char *says;
	const char *advises;
};

static void check_refusals(char *root, const struct refusal *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct hp_machine machine = tree_machine(root);
		struct hp_event_list list = { 0 };
		struct hp_error *error;

		hp_assert_ok(hp_event_parse(cases[i].event, &machine, &list));
		machine.paranoid = cases[i].paranoid;
		machine.privileged = cases[i].privileged;
		error = hp_machine_open_error(&machine, &list.events[0], cases[i].pid,
					      cases[i].errno_value);
		ck_assert_ptr_nonnull(error);
		ck_assert_msg(error->class == cases[i].class, "%zu: class %d: %s", i,
			      (int)error->class, error->message);
		ck_assert_int_eq(error->errno_value, cases[i].errno_value);
		ck_assert_msg(strstr(error->message, list.events[0].name) != NULL, "%zu: %s", i,
			      error->message);
		ck_assert_msg(strstr(error->message, cases[i].says) != NULL, "%zu: %s", i,
			      error->message);
		ck_assert_msg(error->advice && strstr(error->advice, cases[i].advises), "%zu: %s",
			      i, text_or(error->advice));
		hp_error_destroy(error);
		hp_event_list_clear(&list);
	}
}

TEST(a_refused_open_says_which_level_refuses_and_how_to_lift_it)
{
	static const struct refusal cases[] = {
		{ EACCES, 0, "cpu-clock:u", 3, false, HP_ERROR_NOT_PERMITTED,
		  "perf_event_paranoid is 3", "sudo sysctl kernel.perf_event_paranoid=2" },
		{ EACCES, 0, "cpu-clock:u", 4, false, HP_ERROR_NOT_PERMITTED,
		  "perf_event_paranoid is 4", "setcap cap_perfmon" },
		{ EACCES, 0, "cpu-clock", 2, false, HP_ERROR_NOT_PERMITTED, "kernel samples",
		  "add :u to the event, or run: sudo sysctl kernel.perf_event_paranoid=1" },
		{ EACCES, -1, "cpu-clock:u", 3, false, HP_ERROR_NOT_PERMITTED, "system-wide",
		  "sudo sysctl kernel.perf_event_paranoid=0" },
		{ EACCES, -1, "cpu-clock:u", 2, false, HP_ERROR_NOT_PERMITTED, "system-wide",
		  "sudo sysctl kernel.perf_event_paranoid=0" },
		{ EACCES, -1, "cpu-clock:u", 1, false, HP_ERROR_NOT_PERMITTED, "system-wide",
		  "hpcprof record -- COMMAND and -p PID" },
		{ EACCES, 1, "cpu-clock:u", 2, false, HP_ERROR_NOT_PERMITTED, "process 1",
		  "under sudo for process 1" },
		{ EACCES, 0, "cpu-clock:u", 2, true, HP_ERROR_NOT_PERMITTED, "security module",
		  "hpcprof doctor" },
		{ EPERM, 0, "mem:0xffffffff81000000:x", 2, false, HP_ERROR_NOT_PERMITTED,
		  "kernel address", "as root" },
	};
	char *root = temporary_directory();

	check_refusals(root, cases, HP_ARRAY_COUNT(cases));
}

TEST(tracepoints_are_refused_with_their_own_level)
{
	static const struct tree_file files[] = {
		{ "/sys/kernel/tracing/events/sched/sched_switch/id", "316\n" },
		{ NULL, NULL },
	};
	static const struct refusal cases[] = {
		{ EACCES, 0, "sched:sched_switch", 1, false, HP_ERROR_NOT_PERMITTED, "tracepoints",
		  "sudo sysctl kernel.perf_event_paranoid=-1" },
		{ ENOENT, 0, "sched:sched_switch", -1, true, HP_ERROR_NOT_FOUND, "does not know it",
		  "hpcprof events" },
	};
	char *root = temporary_directory();

	tree_add(root, files);
	check_refusals(root, cases, HP_ARRAY_COUNT(cases));
}

TEST(containers_are_told_how_to_let_hpcprof_in)
{
	static const struct tree_file files[] = {
		{ "/proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n" },
		{ "/proc/self/uid_map", "         0     100000      65536\n" },
		{ "/.dockerenv", "" },
		{ NULL, NULL },
	};
	static const struct refusal cases[] = {
		{ EPERM, 0, "cpu-clock:u", 2, false, HP_ERROR_NOT_PERMITTED, "seccomp",
		  "--cap-add PERFMON" },
		{ ENOSYS, 0, "cpu-clock:u", 2, false, HP_ERROR_NOT_PERMITTED, "seccomp",
		  "seccomp=unconfined" },
		/* The kernel's own answer: the filter has let it through. */
		{ EACCES, 0, "cpu-clock", 2, false, HP_ERROR_NOT_PERMITTED, "perf_event_paranoid",
		  ":u" },
		{ EACCES, 0, "cpu-clock:u", 2, false, HP_ERROR_NOT_PERMITTED, "user namespace",
		  "on the host" },
	};
	char *root = temporary_directory();

	tree_add(root, files);
	check_refusals(root, cases, HP_ARRAY_COUNT(cases));
}

TEST(other_failures_of_an_open_name_their_cause_and_cure)
{
	static const struct tree_file files[] = {
		{ "/proc/sys/kernel/nmi_watchdog", "1\n" },
		{ NULL, NULL },
	};
	static const struct refusal cases[] = {
		{ ENODEV, 0, "cycles", 2, false, HP_ERROR_NOT_FOUND, "not on this machine",
		  "cpu-clock:u" },
		{ ENOENT, 0, "L1-dcache-stores", 2, false, HP_ERROR_NOT_FOUND, "does not know it",
		  "hpcprof events" },
		{ EOPNOTSUPP, 0, "cycles:upp", 2, false, HP_ERROR_SYSTEM, "that precisely",
		  "modifier P" },
		{ EOPNOTSUPP, 0, "cycles:u", 2, false, HP_ERROR_SYSTEM, "no interrupt",
		  "cpu-clock:u" },
		{ EOPNOTSUPP, 0, "mem:0x1000:w:u", 2, false, HP_ERROR_SYSTEM, "breakpoints",
		  "cpu-clock:u" },
		{ EINVAL, 0, "cycles:uppp", 2, false, HP_ERROR_SYSTEM, "precise level",
		  "modifier P" },
		{ EINVAL, 0, "mem:0x1001/8:w:u", 2, false, HP_ERROR_USAGE, "this address",
		  "multiple" },
		{ EINVAL, 0, "{cycles:u,instructions:u}", 2, false, HP_ERROR_USAGE, "group",
		  "fewer" },
		{ EINVAL, 0, "cycles:u", 2, false, HP_ERROR_USAGE, "these settings",
		  "max_sample_rate" },
		{ EMFILE, 0, "cycles:u", 2, false, HP_ERROR_SYSTEM, "files open", "ulimit -n" },
		{ ENFILE, 0, "cycles:u", 2, false, HP_ERROR_SYSTEM, "whole machine",
		  "sysctl fs.file-max" },
		{ ENOSPC, 0, "mem:0x1000:w:u", 2, false, HP_ERROR_SYSTEM, "breakpoints are in use",
		  "debugger" },
		{ EBUSY, 0, "cycles:u", 2, false, HP_ERROR_SYSTEM, "NMI watchdog",
		  "sysctl kernel.nmi_watchdog=0" },
		{ ESRCH, 4194304, "cycles:u", 2, false, HP_ERROR_NOT_FOUND, "4194304", "pgrep" },
		{ ENOMEM, 0, "cycles:u", 2, false, HP_ERROR_SYSTEM, "memory", "fewer events" },
		{ ENOSYS, 0, "cycles:u", 2, false, HP_ERROR_SYSTEM, "without perf events",
		  "CONFIG_PERF_EVENTS" },
		{ E2BIG, 0, "cycles:u", 2, false, HP_ERROR_SYSTEM, "too old", "newer kernel" },
		{ EIO, 0, "cycles:u", 2, false, HP_ERROR_SYSTEM, "perf_event_open", "doctor" },
	};
	char *root = temporary_directory();

	tree_add(root, files);
	check_refusals(root, cases, HP_ARRAY_COUNT(cases));
}

TEST(an_absent_pmu_is_not_blamed_on_the_event)
{
	char nowhere[] = "/nonexistent";
	struct hp_machine machine = tree_machine(nowhere);
	_cleanup_(hp_event_list_clear) struct hp_event_list list = { 0 };

	machine.has_cycles = false;
	machine.cycles_errno = ENOENT;
	hp_assert_ok(hp_event_parse("instructions:u", &machine, &list));
	hp_assert_says(HP_ERROR_NOT_FOUND, "no hardware PMU", "cpu-clock:u",
		       hp_machine_open_error(&machine, &list.events[0], 0, ENOENT));
}

TEST(a_ring_over_the_budget_gets_the_command_that_makes_room)
{
	char nowhere[] = "/nonexistent";
	struct hp_machine machine = tree_machine(nowhere);
	struct hp_error *error = hp_machine_mmap_error(&machine, 1 << 20, EPERM);

	ck_assert_int_eq(error->class, HP_ERROR_NOT_PERMITTED);
	ck_assert_int_eq(error->errno_value, EPERM);
	hp_assert_contains(error->message, "perf_event_mlock_kb is 516");
	/* 516 KiB as they are, 1024 of the ring, and its control page (of 4 KiB at least). */
	if (sysconf(_SC_PAGESIZE) == 4096)
		hp_assert_contains(error->advice, "kernel.perf_event_mlock_kb=1544,", "ulimit -l",
				   "-m");
	hp_error_destroy(error);

	hp_assert_says(HP_ERROR_SYSTEM, NULL, "power of two",
		       hp_machine_mmap_error(&machine, 5000, EINVAL));
}

/* The finding on a topic, of a machine over the tree; NULL for none. */
static struct hp_finding *finding_on(const struct hp_findings *findings, const char *topic)
{
	for (size_t i = 0; i < findings->count; i++)
		if (!strcmp(findings->at[i].topic, topic))
			return &findings->at[i];
	return NULL;
}

static void check_finding(const struct hp_machine *machine, const char *topic,
			  enum hp_finding_state state, const char *says, const char *lift)
{
	_cleanup_(hp_findings_clear) struct hp_findings findings;
	const struct hp_finding *finding;

	hp_assert_ok(hp_machine_examine(machine, &findings));
	finding = finding_on(&findings, topic);
	ck_assert_msg(finding != NULL, "nothing on %s", topic);
	ck_assert_msg(finding->state == state, "%s: state %d, says %s", topic, (int)finding->state,
		      finding->says);
	ck_assert_msg(strstr(finding->says, says) != NULL, "%s: %s", topic, finding->says);
	if (lift)
		ck_assert_msg(finding->lift && strstr(finding->lift, lift), "%s: %s", topic,
			      text_or(finding->lift));
	else
		ck_assert_ptr_null(finding->lift);
}

TEST(each_paranoid_level_is_explained_with_the_next_step_down)
{
	static const struct {
		int level;
		bool samples; /* some distributions' kernels refuse all at 3; others take it as 2 */
		enum hp_finding_state state;
		const char *lift;
	} cases[] = {
		{ 4, false, HP_FINDING_BLOCKED, "sudo sysctl kernel.perf_event_paranoid=2" },
		{ 3, false, HP_FINDING_BLOCKED, "sudo sysctl kernel.perf_event_paranoid=2" },
		{ 3, true, HP_FINDING_LIMITED, "sudo sysctl kernel.perf_event_paranoid=1" },
		{ 2, true, HP_FINDING_LIMITED, "sudo sysctl kernel.perf_event_paranoid=1" },
		{ 1, true, HP_FINDING_LIMITED, "sudo sysctl kernel.perf_event_paranoid=0" },
		{ 0, true, HP_FINDING_LIMITED, "sudo sysctl kernel.perf_event_paranoid=-1" },
		{ -1, true, HP_FINDING_OK, NULL },
		{ -2, false, HP_FINDING_BLOCKED, "CONFIG_PERF_EVENTS" },
	};
	char *root = temporary_directory();
	struct hp_machine machine = tree_machine(root);

	machine.privileged = false;
	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		machine.paranoid = cases[i].level;
		machine.samples = cases[i].samples;
		check_finding(&machine, "perf_event_paranoid", cases[i].state, "", cases[i].lift);
	}
	machine.privileged = true;
	machine.paranoid = 3;
	check_finding(&machine, "perf_event_paranoid", HP_FINDING_OK, "does not limit", NULL);
}

TEST(the_memory_budget_is_told_in_pages_of_ring)
{
	char *root = temporary_directory();
	struct hp_machine machine = tree_machine(root);

	if (sysconf(_SC_PAGESIZE) == 4096) {
		/* 129 pages: 128 and the control page. */
		check_finding(&machine, "perf_event_mlock_kb", HP_FINDING_OK, "128 pages", NULL);
		/* 128 pages: a ring of 64 is the largest that leaves one. */
		machine.mlock_kb = 512;
		check_finding(&machine, "perf_event_mlock_kb", HP_FINDING_OK, "64 pages", NULL);
		machine.mlock_kb = 64;
		check_finding(&machine, "perf_event_mlock_kb", HP_FINDING_LIMITED, "8 pages",
			      "sudo sysctl kernel.perf_event_mlock_kb=516");
	}
	machine.mlock_kb = 0;
	check_finding(&machine, "perf_event_mlock_kb", HP_FINDING_LIMITED, "0 pages",
		      "sudo sysctl kernel.perf_event_mlock_kb=516");
}

TEST(low_sample_rates_are_findings)
{
	char *root = temporary_directory();
	struct hp_machine machine = tree_machine(root);

	machine.max_sample_rate = 5000;
	check_finding(&machine, "max_sample_rate", HP_FINDING_LIMITED, "5000",
		      "sudo sysctl kernel.perf_event_max_sample_rate=100000");
	machine.max_sample_rate = 500;
	check_finding(&machine, "max_sample_rate", HP_FINDING_BLOCKED, "500",
		      "sudo sysctl kernel.perf_event_max_sample_rate=100000");
}

TEST(what_stands_around_the_process_is_found_in_its_files)
{
	static const struct tree_file closed[] = {
		{ "/proc/self/status", "Name:\tx\nSeccomp:\t2\n" },
		{ "/proc/self/uid_map", "         0       1000          1\n" },
		{ "/proc/self/cgroup", "0::/kubepods/burstable/pod1/x\n" },
		{ "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n" },
		{ "/proc/sys/kernel/yama/ptrace_scope", "1\n" },
		{ "/proc/sys/kernel/kptr_restrict", "2\n" },
		{ "/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _stext\n" },
		{ NULL, NULL },
	};
	static const struct tree_file open[] = {
		{ "/proc/self/status", "Name:\tx\nSeccomp:\t0\n" },
		{ "/proc/self/uid_map", "         0          0 4294967295\n" },
		{ "/proc/self/cgroup", "0::/user.slice\n" },
		{ "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n" },
		{ "/proc/sys/kernel/yama/ptrace_scope", "3\n" },
		{ "/proc/sys/kernel/kptr_restrict", "1\n" },
		{ "/proc/kallsyms", "0000000000000000 A first\nffffffff81000000 T _text\n" },
		{ "/sys/kernel/tracing/events/sched/sched_switch/id", "316\n" },
		{ NULL, NULL },
	};
	char *root = temporary_directory();
	struct hp_machine machine = tree_machine(root);

	tree_add(root, closed);
	check_finding(&machine, "seccomp", HP_FINDING_LIMITED, "filter", "--cap-add PERFMON");
	check_finding(&machine, "container", HP_FINDING_LIMITED, "kubernetes, a user namespace",
		      "on the host");
	check_finding(&machine, "lockdown", HP_FINDING_LIMITED, "confidentiality", "boot without");
	check_finding(&machine, "ptrace_scope", HP_FINDING_LIMITED,
		      "only programs that hpcprof record starts",
		      "sudo sysctl kernel.yama.ptrace_scope=0");
	check_finding(&machine, "kptr_restrict", HP_FINDING_LIMITED,
		      "2:", "sudo sysctl kernel.kptr_restrict=0");
	check_finding(&machine, "tracepoints", HP_FINDING_BLOCKED, "not mounted",
		      "mount -t tracefs");
	tree_add(root, open);
	check_finding(&machine, "seccomp", HP_FINDING_OK, "no system call filter", NULL);
	check_finding(&machine, "container", HP_FINDING_OK, "none", NULL);
	check_finding(&machine, "ptrace_scope", HP_FINDING_LIMITED, "3: for --shadow, nobody",
		      "boot with");
	check_finding(&machine, "lockdown", HP_FINDING_OK, "none", NULL);
	check_finding(&machine, "kptr_restrict", HP_FINDING_OK, "have names", NULL);
	check_finding(&machine, "tracepoints", HP_FINDING_OK, "/sys/kernel/tracing/events", NULL);
}

TEST(amds_sampling_pmus_are_found)
{
	char *root = temporary_directory();
	struct hp_machine machine = tree_machine(root);

	check_finding(&machine, "IBS / SPE", HP_FINDING_ABSENT, "neither", NULL);
	tree_add(root, tree_zen);
	check_finding(&machine, "IBS / SPE", HP_FINDING_OK, "ibs_op", NULL);
}

TEST(whatever_is_not_well_says_what_works_all_the_same)
{
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine;
	_cleanup_(hp_findings_clear) struct hp_findings findings;

	hp_assert_ok(hp_machine_create(&machine));
	hp_assert_ok(hp_machine_examine(machine, &findings));
	ck_assert_uint_ge(findings.count, 15);
	for (size_t i = 0; i < findings.count; i++) {
		const struct hp_finding *finding = &findings.at[i];

		ck_assert_ptr_nonnull(finding->says);
		if (finding->state != HP_FINDING_OK)
			ck_assert_msg(finding->without != NULL, "%s", finding->topic);
		if (finding->state == HP_FINDING_LIMITED)
			ck_assert_msg(finding->lift != NULL, "%s", finding->topic);
	}
}

HP_TEST_MAIN("pmu/machine")
