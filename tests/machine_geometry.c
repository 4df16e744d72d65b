/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine_geometry.h"

#include <hpcprof/base/error.h>
#include <hpcprof/calibrate/geometry.h>

#include <stdio.h>
#include <stdlib.h>

struct hp_uarch_geometry machine_geometry(void)
{
	struct hp_machine *machine;
	struct hp_error *error = hp_machine_create(&machine);
	struct hp_uarch_geometry geometry;

	if (error) {
		fprintf(stderr, "machine_geometry: %s\n", error->message);
		exit(1);
	}
	geometry = hp_geometry_of_machine(machine);
	hp_machine_destroy(machine);
	return geometry;
}
