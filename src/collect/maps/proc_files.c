/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc_files.h"

#include "../tuning.h"

#include <hpcprof/base/file.h>

#include <dirent.h>
#include <stdio.h>

uint32_t proc_count_threads(uint32_t pid)
{
	char path[64];
	uint32_t threads = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	directory = opendir(path);
	if (!directory)
		return 1;
	for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
		threads += entry->d_name[0] != '.';
	closedir(directory);
	return threads ? threads : 1;
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
