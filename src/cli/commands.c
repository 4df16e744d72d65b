/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "command.h"

#include <stddef.h>

const struct hp_command *const hp_commands[] = {
	&hp_command_record,
	&hp_command_report,
	&hp_command_stat,
	&hp_command_check,
	&hp_command_diff,
	&hp_command_stats,
	&hp_command_export,
	&hp_command_import,
	&hp_command_epochs,
	&hp_command_events,
	&hp_command_doctor,
	&hp_command_model,
	NULL,
};
