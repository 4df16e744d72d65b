/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree.h"

#include "../support.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEVICES "/sys/bus/event_source/devices/"

/* What arch/x86/events/intel/core.c shows for the 4th generation Xeon. */
const struct tree_file tree_sapphire_rapids[] = {
	{ DEVICES "cpu/type", "4\n" },
	{ DEVICES "cpu/format/event", "config:0-7\n" },
	{ DEVICES "cpu/format/umask", "config:8-15\n" },
	{ DEVICES "cpu/format/edge", "config:18\n" },
	{ DEVICES "cpu/format/pc", "config:19\n" },
	{ DEVICES "cpu/format/inv", "config:23\n" },
	{ DEVICES "cpu/format/cmask", "config:24-31\n" },
	{ DEVICES "cpu/format/in_tx", "config:32\n" },
	{ DEVICES "cpu/format/offcore_rsp", "config1:0-63\n" },
	{ DEVICES "cpu/format/ldlat", "config1:0-15\n" },
	{ DEVICES "cpu/format/frontend", "config1:0-23\n" },
	{ DEVICES "cpu/events/cpu-cycles", "event=0x3c\n" },
	{ DEVICES "cpu/events/instructions", "event=0xc0\n" },
	{ DEVICES "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ DEVICES "cpu/events/mem-stores", "event=0xcd,umask=0x2\n" },
	{ DEVICES "cpu/events/slots", "event=0x00,umask=0x4\n" },
	{ DEVICES "cpu/caps/branches", "32\n" },
	{ DEVICES "power/type", "21\n" },
	{ DEVICES "power/format/event", "config:0-7\n" },
	{ DEVICES "power/events/energy-pkg", "event=0x02\n" },
	{ DEVICES "power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n" },
	{ DEVICES "power/events/energy-pkg.unit", "Joules\n" },
	{ NULL, NULL },
};

const struct tree_file tree_zen[] = {
	{ DEVICES "cpu/type", "4\n" },
	{ DEVICES "cpu/format/event", "config:0-7,32-35\n" },
	{ DEVICES "cpu/format/umask", "config:8-15\n" },
	{ DEVICES "ibs_op/type", "11\n" },
	{ DEVICES "ibs_op/format/cnt_ctl", "config:19\n" },
	{ DEVICES "ibs_op/format/l3missonly", "config:16\n" },
	{ NULL, NULL },
};

const struct tree_file tree_neoverse[] = {
	{ DEVICES "armv8_pmuv3_0/type", "8\n" },
	{ DEVICES "armv8_pmuv3_0/cpus", "0-63\n" },
	{ DEVICES "armv8_pmuv3_0/format/event", "config:0-15\n" },
	{ DEVICES "armv8_pmuv3_0/format/long", "config1:0\n" },
	{ DEVICES "armv8_pmuv3_0/format/rdpmc", "config1:1\n" },
	{ DEVICES "armv8_pmuv3_0/events/cpu_cycles", "event=0x0011\n" },
	{ DEVICES "armv8_pmuv3_0/events/inst_retired", "event=0x0008\n" },
	{ DEVICES "armv8_pmuv3_0/events/l1d_cache_refill", "event=0x0003\n" },
	{ NULL, NULL },
};

const struct tree_file tree_alder_lake[] = {
	{ DEVICES "cpu_core/type", "4\n" },
	{ DEVICES "cpu_core/cpus", "0-15\n" },
	{ DEVICES "cpu_core/format/event", "config:0-7\n" },
	{ DEVICES "cpu_core/format/umask", "config:8-15\n" },
	{ DEVICES "cpu_core/format/ldlat", "config1:0-15\n" },
	{ DEVICES "cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ DEVICES "cpu_atom/type", "10\n" },
	{ DEVICES "cpu_atom/cpus", "16-23\n" },
	{ DEVICES "cpu_atom/format/event", "config:0-7\n" },
	{ DEVICES "cpu_atom/format/umask", "config:8-15\n" },
	{ DEVICES "cpu_atom/format/ldlat", "config1:0-15\n" },
	{ DEVICES "cpu_atom/events/mem-loads", "event=0xd0,umask=0x5,ldlat=3\n" },
	{ NULL, NULL },
};

void tree_add(const char *root, const struct tree_file *files)
{
	for (; files->path; files++) {
		char *path;
		FILE *file;

		ck_assert_int_ge(asprintf(&path, "%s%s", root, files->path), 0);
		for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
		     slash = strchr(slash + 1, '/')) {
			*slash = 0;
			mkdir(path, 0755);
			*slash = '/';
		}
		file = fopen(path, "w");
		ck_assert_msg(file != NULL, "making %s", path);
		fputs(files->text, file);
		ck_assert_int_eq(fclose(file), 0);
		free(path);
	}
}

struct hp_machine tree_machine(char *root)
{
	static char unknown[] = "unknown";

	return (struct hp_machine){
		.root = root,
		.host = unknown,
		.cpu_model = unknown,
		.architecture = unknown,
		.kernel = unknown,
		.cpus = 4,
		.paranoid = -1,
		.mlock_kb = 516,
		.max_sample_rate = 100000,
		.privileged = true,
		.samples = true,
		.system_wide = true,
		.has_cycles = true,
		.precise_cycles = 3,
	};
}

struct hp_machine tree_of(const struct tree_file *files)
{
	char *root = temporary_directory();

	tree_add(root, files);
	return tree_machine(root);
}
