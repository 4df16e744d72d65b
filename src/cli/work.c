/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "work.h"

#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WORK_FILE_LIMIT = 4096, WORK_ERROR_BYTES = 256 };

/* Returns whether the argument is a pattern; a path is never one, whatever it contains. */
static bool is_pattern(const char *given)
{
	return strchr(given, '(') && *given != '/' && strncmp(given, "./", 2) != 0;
}

static struct hp_error *parse_pattern(const char *given, struct work *work)
{
	char reason[WORK_ERROR_BYTES];
	int failure = regcomp(&work->pattern, given, REG_EXTENDED);

	if (failure) {
		regerror(failure, &work->pattern, reason, sizeof(reason));
		return hp_error_create(HP_ERROR_USAGE,
				       "--work: '%s' is not a regular expression: %s", given,
				       reason);
	}
	work->kind = WORK_IN_OUTPUT;
	if (work->pattern.re_nsub)
		return NULL;
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "--work: '%s' has no group for the number", given),
		"for instance: --work='([0-9]+) words'");
}

struct hp_error *work_parse(const char *given, struct work *work)
{
	work_clear(work);
	work->given = given;
	if (hp_parse_double(given, &work->units)) {
		work->kind = WORK_SAME;
		if (work->units > 0)
			return NULL;
		return hp_error_create(HP_ERROR_USAGE,
				       "--work: the number of units must be above 0, not %s",
				       given);
	}
	if (is_pattern(given))
		return parse_pattern(given, work);
	if (!*given)
		return hp_error_create(HP_ERROR_USAGE,
				       "--work takes a number, a regular expression or a file");
	work->kind = WORK_IN_FILE;
	return NULL;
}

void work_clear(struct work *work)
{
	work_end(work, NULL);
	if (work->kind == WORK_IN_OUTPUT)
		regfree(&work->pattern);
	*work = (struct work){ 0 };
}

struct hp_error *work_begin(struct work *work, int *output)
{
	*output = 0;
	if (work->kind != WORK_IN_OUTPUT)
		return NULL;
	work->output = tmpfile();
	if (!work->output || fcntl(fileno(work->output), F_SETFD, FD_CLOEXEC) < 0)
		return hp_error_create_errno(errno, "making a file for the output of the command");
	*output = fileno(work->output);
	return NULL;
}

/* Returns the number in the first group of a match; 0 if it is none. */
static double number_of(const char *line, const regmatch_t *group)
{
	_cleanup_free_ char *text = NULL;
	double value;

	if (group->rm_so < 0)
		return 0;
	text = strndup(line + group->rm_so, (size_t)(group->rm_eo - group->rm_so));
	return text && hp_parse_double(text, &value) && value > 0 ? value : 0;
}

static double measure_output(const struct work *work)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	double units = 0;

	rewind(work->output);
	while (getline(&line, &room, work->output) >= 0) {
		const char *at = line;
		regmatch_t groups[2];

		while (regexec(&work->pattern, at, 2, groups, at > line ? REG_NOTBOL : 0) == 0) {
			double found = number_of(at, &groups[1]);

			units = found > 0 ? found : units;
			if (groups[0].rm_eo == 0)
				break;
			at += groups[0].rm_eo;
		}
	}
	return units;
}

static uint64_t timespec_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* A file older than the start of the run is from another run. File times have a resolution of some
 * ms. */
static double measure_file(const struct work *work, const struct hp_run *run)
{
	_cleanup_close_ int fd = open(work->given, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_error *error;
	struct stat stat;
	char *text;
	size_t size;
	double value;

	if (fd < 0 || fstat(fd, &stat) < 0 ||
	    timespec_ns(stat.st_mtim) + file_tick_ns < run->start_ns)
		return 0;
	error = hp_file_read_fd(fd, WORK_FILE_LIMIT, &bytes, &size);
	if (error) {
		hp_error_destroy(error);
		return 0;
	}
	text = (char *)bytes;
	while (size && isspace((unsigned char)text[size - 1]))
		text[--size] = 0;
	text += strspn(text, " \t\r\n");
	return hp_parse_double(text, &value) && value > 0 ? value : 0;
}

double work_measure(struct work *work, const struct hp_run *run)
{
	switch (work->kind) {
	case WORK_SAME:
		return work->units;
	case WORK_IN_OUTPUT:
		return work->output ? measure_output(work) : 0;
	case WORK_IN_FILE:
		return measure_file(work, run);
	case WORK_NOT_ASKED:
		break;
	}
	return 0;
}

void work_end(struct work *work, FILE *to)
{
	char bytes[1 << 13];
	size_t got;

	if (!work->output)
		return;
	rewind(work->output);
	while (to && (got = fread(bytes, 1, sizeof(bytes), work->output)) > 0)
		fwrite(bytes, 1, got, to);
	if (to)
		fflush(to);
	fclose(work->output);
	work->output = NULL;
}

struct hp_error *work_missing(const struct work *work)
{
	if (work->kind == WORK_IN_FILE)
		return hp_error_advise(
			hp_error_create(HP_ERROR_INSUFFICIENT,
					"the run did not write its units of work into %s",
					work->given),
			"--work=FILE takes a file that each run writes, with one number in it");
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT,
				"the run did not print its units of work: no line of its standard "
				"output has a number that matches '%s'",
				work->given),
		"try the expression with: COMMAND | grep -E '%s'", work->given);
}
