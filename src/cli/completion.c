/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "completion.h"

#include "command.h"

bool hp_completion_print(FILE *stream, const char *shell)
{
	(void)stream;
	(void)shell;
	return false;
}
