/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc_files.h"

#include "../tuning.h"

#include <hpcprof/base/file.h>

#include <stdio.h>
#include <sys/stat.h>

uint32_t proc_count_threads(uint32_t pid)
{
	char path[64];
	struct stat tasks;

	/* A directory has two links, and one more for each subdirectory. */
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	return stat(path, &tasks) == 0 && tasks.st_nlink > 2 ? (uint32_t)tasks.st_nlink - 2 : 1;
}

char *proc_read_text(uint32_t pid, const char *file)
{
	char path[64];
	FILE *stream;
	char *text = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	stream = fopen(path, "re");
	if (!stream)
		return NULL;
	hp_error_destroy(
		hp_file_read_fd(fileno(stream), PROC_FILE_LIMIT_BYTES, (uint8_t **)&text, &size));
	fclose(stream);
	return text;
}
