/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf_words.h"

#include "option_table.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <string.h>

/* --- the table -------------------------------------------------------------------------------- */

enum how {
	SAY,	/* refused; the text names the way to do it in hpcprof */
	IGNORE, /* accepted without effect */
	AS,	/* replaced by the text, with the argument for %s */
	COMMA,	/* the same if the argument is a comma */
};

static const char *const hows[] = {
	[SAY] = "say", [IGNORE] = "ignore", [AS] = "as", [COMMA] = "comma"
};

struct perf_word {
	const char *command; /* ours, or "annotate"; NULL: the word is a command itself */
	const char *word;    /* "--long", "-x", or a command */
	bool takes;	     /* whether it takes an argument */
	enum how how;
	const char *text;
};

#define CALL_GRAPHS                                                                                \
	"hpcprof record -g records call paths; hpcprof report --tree shows them, and hpcprof "     \
	"report --callers=PROC those to one procedure"
#define BRANCHES                                                                                   \
	"branch records are taken by themselves where the hardware has them; hpcprof doctor says " \
	"whether it has"
#define NO_SINGLE_SAMPLES                                                                          \
	"samples are added up and not kept one by one; hpcprof report --instructions "             \
	"--format=csv "                                                                            \
	"(or json) has them by address"
#define NO_CGROUPS "there is no filter by cgroup; hpcprof record -p PID,... takes its processes"
#define NO_USER	   "there is no filter by user; hpcprof record -p PID,... takes the user's processes"

static const struct perf_word table[] = {
	/* commands */
	{ NULL, "annotate", false, AS, "report" },
	{ NULL, "list", false, AS, "events" },
	{ NULL, "top", false, SAY,
	  "there is no live view; hpcprof record -a -- sleep 10, then hpcprof report" },
	{ NULL, "script", false, SAY,
	  "hpcprof export --format=perf-script prints samples and call chains as perf script "
	  "does" },
	{ NULL, "mem", false, SAY, "hpcprof report --stalls shows which loads wait, and for what" },
	{ NULL, "c2c", false, SAY, "hpcprof report --stalls shows which loads wait, and for what" },
	{ NULL, "trace", false, SAY,
	  "system calls are not traced, but can be counted: "
	  "hpcprof stat -e syscalls:sys_enter_read" },
	{ NULL, "archive", false, SAY,
	  "the database is a directory: tar czf hpcprof.tar.gz hpcprof.db; on another machine "
	  "hpcprof report --db DIR reads it" },
	{ NULL, "buildid-list", false, SAY,
	  "hpcprof report --images --format=json has the build-id of each image" },
	{ NULL, "buildid-cache", false, SAY,
	  "there is no cache to maintain; hpcprof report --symfs DIR, or $DEBUGINFOD_URLS, finds "
	  "files" },
	{ NULL, "evlist", false, SAY, "hpcprof report --summary says what was recorded" },
	{ NULL, "inject", false, SAY, "a recording needs no second step" },
	{ NULL, "probe", false, SAY,
	  "there are no dynamic probes; hpcprof record -e TRACEPOINT samples existing tracepoints, "
	  "which hpcprof events lists" },
	{ NULL, "test", false, SAY, "hpcprof doctor shows what works here" },
	{ NULL, "config", false, SAY,
	  "there is no configuration file; for environment variables see: man hpcprof" },
	{ NULL, "data", false, SAY, "hpcprof epochs manages the database" },
	{ NULL, "bench", false, SAY, "hpcprof check compares your own programs" },
	{ NULL, "sched", false, SAY, "hpcprof stat -e @schedule counts what the scheduler did" },
	{ NULL, "lock", false, SAY,
	  "hpcprof stat -e @schedule counts how often threads had to wait" },
	{ NULL, "kvm", false, SAY, "profile the guest from inside: hpcprof record -a" },
	{ NULL, "kmem", false, SAY,
	  "hpcprof stat -e kmem:kmalloc counts allocations of the kernel" },
	{ NULL, "timechart", false, SAY, "hpcprof stat -I 100 --plot=FILE draws rates over time" },
	{ NULL, "ftrace", false, SAY, "hpcprof record -a -- sleep 10 samples the kernel" },
	{ NULL, "version", false, SAY, "hpcprof --version" },

	/* record */
	{ "record", "-b", false, SAY, BRANCHES },
	{ "record", "--branch-any", false, SAY, BRANCHES },
	{ "record", "-j", true, SAY, BRANCHES },
	{ "record", "--branch-filter", true, SAY, BRANCHES },
	{ "record", "-o", true, AS, "--db=%s" },
	{ "record", "--output", true, AS, "--db=%s" },
	{ "record", "-G", true, SAY, NO_CGROUPS },
	{ "record", "--cgroup", true, SAY, NO_CGROUPS },
	{ "record", "-u", true, SAY, NO_USER },
	{ "record", "--uid", true, SAY, NO_USER },
	{ "record", "-d", false, SAY,
	  "addresses of data are not sampled; hpcprof report --stalls" },
	{ "record", "--data", false, SAY,
	  "addresses of data are not sampled; hpcprof report --stalls" },
	{ "record", "-s", false, AS, "--per-thread" },
	{ "record", "--stat", false, AS, "--per-thread" },
	{ "record", "--sample-cpu", false, AS, "--per-cpu" },
	{ "record", "-i", false, SAY,
	  "children are always followed; hpcprof record -t TID records one thread only" },
	{ "record", "--no-inherit", false, SAY,
	  "children are always followed; hpcprof record -t TID records one thread only" },
	{ "record", "--all-user", false, SAY, "hpcprof record -e cpu-clock:u" },
	{ "record", "--all-kernel", false, SAY, "hpcprof record -e cpu-clock:k" },
	{ "record", "--filter", true, SAY, "hpcprof report --comm, --image and --pid filter" },
	{ "record", "--switch-output", false, SAY, "hpcprof record makes a new epoch each time" },
	{ "record", "-v", false, IGNORE, "" },
	{ "record", "--verbose", false, IGNORE, "" },
	{ "record", "-T", false, IGNORE, "" },
	{ "record", "--timestamp", false, IGNORE, "" },
	{ "record", "-N", false, IGNORE, "" },
	{ "record", "--no-buildid-cache", false, IGNORE, "" },
	{ "record", "-B", false, IGNORE, "" },
	{ "record", "--no-buildid", false, IGNORE, "" },
	{ "record", "-z", false, IGNORE, "" },
	{ "record", "--max-size", true, SAY,
	  "hpcprof epochs gc --max-size=BYTES limits the size of the database" },

	/* stat */
	{ "stat", "-x", true, COMMA, "--format=csv" },
	{ "stat", "--field-separator", true, COMMA, "--format=csv" },
	{ "stat", "-j", false, AS, "--format=json" },
	{ "stat", "--json-output", false, AS, "--format=json" },
	{ "stat", "-d", false, AS, "--event=@default,@cache,@tlb" },
	{ "stat", "--detailed", false, AS, "--event=@default,@cache,@tlb" },
	{ "stat", "--log-fd", true, AS, "--output-fd=%s" },
	{ "stat", "--interval-print", true, AS, "--interval=%s" },
	{ "stat", "--timeout", true, AS, "--duration=%sms" },
	{ "stat", "-B", false, IGNORE, "" },
	{ "stat", "--big-num", false, IGNORE, "" },
	{ "stat", "-v", false, IGNORE, "" },
	{ "stat", "--verbose", false, IGNORE, "" },
	{ "stat", "--scale", false, IGNORE, "" },
	{ "stat", "-A", false, SAY, "hpcprof stat -a -C CPU counts one CPU" },
	{ "stat", "--no-aggr", false, SAY, "hpcprof stat -a -C CPU counts one CPU" },
	{ "stat", "--per-thread", false, SAY, "hpcprof stat -t TID counts one thread" },
	{ "stat", "--per-core", false, SAY, "hpcprof stat -a -C CPU counts one CPU" },
	{ "stat", "--per-socket", false, SAY,
	  "hpcprof stat -a -C LIST counts the CPUs of one socket" },
	{ "stat", "--per-node", false, SAY, "hpcprof stat -a -C LIST counts the CPUs of one node" },
	{ "stat", "-n", false, SAY, "hpcprof stat -e task-clock counts almost nothing" },
	{ "stat", "--null", false, SAY, "hpcprof stat -e task-clock counts almost nothing" },
	{ "stat", "-M", true, SAY,
	  "sets of events include their metrics; hpcprof events '@*' lists them" },
	{ "stat", "--metrics", true, SAY,
	  "sets of events include their metrics; hpcprof events '@*' lists them" },
	{ "stat", "--topdown", false, AS, "--stalls" },
	{ "stat", "-G", true, SAY,
	  "there is no filter by cgroup; hpcprof stat -p PID,... counts its processes" },
	{ "stat", "--cgroup", true, SAY,
	  "there is no filter by cgroup; hpcprof stat -p PID,... counts its processes" },
	{ "stat", "-i", false, SAY,
	  "children are always counted; hpcprof stat -t TID counts one thread only" },
	{ "stat", "--no-inherit", false, SAY,
	  "children are always counted; hpcprof stat -t TID counts one thread only" },
	{ "stat", "--append", false, SAY, "hpcprof stat -o - >>FILE appends to a file" },
	{ "stat", "--pre", true, SAY,
	  "make it a part of the command: hpcprof stat -- sh -c '...; CMD'" },
	{ "stat", "--post", true, SAY,
	  "make it a part of the command: hpcprof stat -- sh -c 'CMD; ...'" },

	/* report */
	{ "report", "-i", true, AS, "--db=%s" },
	{ "report", "--input", true, AS, "--db=%s" },
	{ "report", "--stdio", false, IGNORE, "" },
	{ "report", "--stdio2", false, IGNORE, "" },
	{ "report", "--tui", false, IGNORE, "" },
	{ "report", "--no-children", false, IGNORE, "" },
	{ "report", "-f", false, IGNORE, "" },
	{ "report", "--force", false, IGNORE, "" },
	{ "report", "-v", false, IGNORE, "" },
	{ "report", "--verbose", false, IGNORE, "" },
	{ "report", "--group", false, IGNORE, "" },
	{ "report", "--header", false, IGNORE, "" },
	{ "report", "--header-only", false, AS, "--summary" },
	{ "report", "-g", false, AS, "--tree" },
	{ "report", "-G", false, AS, "--tree" },
	{ "report", "--call-graph", true, SAY, CALL_GRAPHS },
	{ "report", "--inverted", false, AS, "--tree" },
	{ "report", "-p", true, SAY, CALL_GRAPHS },
	{ "report", "--parent", true, SAY, CALL_GRAPHS },
	{ "report", "-b", false, SAY, BRANCHES },
	{ "report", "--branch-stack", false, SAY, BRANCHES },
	{ "report", "-c", true, AS, "--comm=%s" },
	{ "report", "--comms", true, AS, "--comm=%s" },
	{ "report", "-d", true, AS, "--image=%s" },
	{ "report", "--dsos", true, AS, "--image=%s" },
	{ "report", "-S", true, AS, "--procedure=%s" },
	{ "report", "--symbols", true, AS, "--procedure=%s" },
	{ "report", "-t", true, COMMA, "--format=csv" },
	{ "report", "--field-separator", true, COMMA, "--format=csv" },
	{ "report", "-F", true, SAY,
	  "the columns are fixed; hpcprof report --format=csv has all of them" },
	{ "report", "--fields", true, SAY,
	  "the columns are fixed; hpcprof report --format=csv has all of them" },
	{ "report", "-D", false, SAY, NO_SINGLE_SAMPLES },
	{ "report", "--dump-raw-trace", false, SAY, NO_SINGLE_SAMPLES },
	{ "report", "--mem-mode", false, SAY,
	  "hpcprof report --stalls shows which loads wait, and for what" },
	{ "report", "-k", true, SAY, "the kernel's names are in the recording" },
	{ "report", "--vmlinux", true, SAY, "the kernel's names are in the recording" },
	{ "report", "--gtk", false, SAY, "hpcprof report --cfg=PROC --format=svg draws" },
	{ "report", "--time", true, SAY, "a report shows whole epochs; hpcprof epochs lists them" },

	/* annotate, which is report --annotate=PROC */
	{ "annotate", "-s", true, AS, "--annotate=%s" },
	{ "annotate", "--symbol", true, AS, "--annotate=%s" },
	{ "annotate", "-l", false, IGNORE, "" },
	{ "annotate", "--print-line", false, IGNORE, "" },
	{ "annotate", "-P", false, IGNORE, "" },
	{ "annotate", "--full-paths", false, IGNORE, "" },
	{ "annotate", "--source", false, IGNORE, "" },

	/* diff */
	{ "diff", "-c", true, SAY,
	  "hpcprof diff shows the change of each procedure, with its interval" },
	{ "diff", "--compute", true, SAY,
	  "hpcprof diff shows the change of each procedure, with its interval" },
	{ "diff", "-o", true, SAY, "rows are sorted by their change" },
	{ "diff", "--order", true, SAY, "rows are sorted by their change" },
	{ "diff", "-f", false, IGNORE, "" },
	{ "diff", "--force", false, IGNORE, "" },

	/* list, which is events */
	{ "events", "-v", false, IGNORE, "" },
	{ "events", "-d", false, IGNORE, "" },
	{ "events", "--desc", false, IGNORE, "" },
	{ "events", "--details", false, IGNORE, "" },
	{ "events", "--long-desc", false, IGNORE, "" },
	{ "events", "-j", false, AS, "--format=json" },
	{ "events", "--json", false, AS, "--format=json" },
};

void perf_words_print(FILE *stream)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++)
		fprintf(stream, "%s\t%s\t%s\t%s\t%s\n", table[i].command ? table[i].command : "",
			table[i].word, table[i].takes ? "argument" : "none", hows[table[i].how],
			table[i].text);
}

static const struct perf_word *find(const char *command, const char *word, size_t length)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++) {
		const char *of = table[i].command;

		if ((command && of ? strcmp(command, of) == 0 : command == of) &&
		    strlen(table[i].word) == length && memcmp(table[i].word, word, length) == 0)
			return &table[i];
	}
	return NULL;
}

const char *perf_words_command(const char *word)
{
	const struct perf_word *found = find(NULL, word, strlen(word));

	return found && found->how == AS ? found->text : NULL;
}

struct hp_error *perf_words_refuse_command(const char *word)
{
	const struct perf_word *found = find(NULL, word, strlen(word));

	if (!found || found->how != SAY)
		return NULL;
	return hp_error_create(HP_ERROR_USAGE, "hpcprof does not have perf's '%s': %s", word,
			       found->text);
}

const char *perf_words_closest_command(const char *word)
{
	HP_VECTOR(const char *) names = { 0 };
	const char *closest = NULL;
	bool complete = true;

	for (const struct hp_command *const *command = hp_commands; *command; command++)
		complete = complete && hp_vector_push(&names, (*command)->name);
	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++)
		if (!table[i].command)
			complete = complete && hp_vector_push(&names, table[i].word);
	if (complete && hp_vector_push(&names, NULL))
		closest = hp_cli_closest(word, names.at);
	hp_vector_free(&names);
	return closest;
}

/* --- our own options -------------------------------------------------------------------------- */

struct wanted {
	const char *name; /* without dashes */
	size_t length;
	int letter; /* to find it by letter; 0: by name */
	bool exact;
	const struct argp_option *found; /* the option found, aliases resolved */
};

static bool is_wanted(const struct argp_option *option, const struct argp_option *described,
		      void *context)
{
	struct wanted *wanted = context;

	if (wanted->letter
		    ? option->key != wanted->letter
		    : !option->name || strncmp(option->name, wanted->name, wanted->length) != 0 ||
			      (wanted->exact && option->name[wanted->length]))
		return false;
	wanted->found = described;
	return true;
}

static const struct argp_option *own_letter(const struct hp_command *command, char letter)
{
	struct wanted wanted = { .letter = (unsigned char)letter };

	hp_options_walk(command, is_wanted, &wanted);
	return wanted.found;
}

static const struct argp_option *own_name(const struct hp_command *command, const char *name,
					  size_t length, bool exact)
{
	struct wanted wanted = { .name = name, .length = length, .exact = exact };

	hp_options_walk(command, is_wanted, &wanted);
	return wanted.found;
}

struct names {
	HP_VECTOR(const char *) list;
	bool failed;
};

static bool add_name(const struct argp_option *option, const struct argp_option *described,
		     void *context)
{
	struct names *names = context;

	(void)described;
	if (option->name && !hp_vector_push(&names->list, option->name))
		names->failed = true;
	return names->failed;
}

static struct hp_error *unknown_option(const struct hp_command *command, const char *said,
				       const char *word, size_t length)
{
	struct names names = { 0 };
	const char *closest = NULL;
	_cleanup_free_ char *name = strndup(word, length);
	struct hp_error *error = hp_error_create(HP_ERROR_USAGE, "hpcprof %s has no option '%s'",
						 said, name ? name : word);

	hp_options_walk(command, add_name, &names);
	/* perf's options are candidates, too: the table leads on from them. */
	for (size_t i = 0; i < HP_ARRAY_COUNT(table); i++)
		if (table[i].command && strcmp(table[i].command, command->name) == 0 &&
		    table[i].word[1] == '-' && !hp_vector_push(&names.list, table[i].word + 2))
			names.failed = true;
	if (name && length > 3 && !names.failed && hp_vector_push(&names.list, NULL))
		closest = hp_cli_closest(name + 2, names.list.at);
	hp_vector_free(&names.list);
	if (closest)
		return hp_error_advise(error, "did you mean '--%s'? (hpcprof %s --help lists them)",
				       closest, command->name);
	return hp_error_advise(error, "hpcprof %s --help lists them", command->name);
}

/* --- one command line ------------------------------------------------------------------------- */

struct line {
	const struct hp_command *command;
	const char *said;
	bool annotates; /* "annotate" was typed, and no procedure so far */
	char **argv;	/* words not yet translated */
	struct hp_arena *arena;
	HP_VECTOR(char *) words;
	bool no_memory;
};

static void push(struct line *line, char *word)
{
	if (!word || !hp_vector_push(&line->words, word))
		line->no_memory = true;
}

static void push_text(struct line *line, const char *format, const char *argument)
{
	const char *at = strstr(format, "%s");
	size_t head = at ? (size_t)(at - format) : strlen(format);
	size_t size = strlen(format) + strlen(argument) + 1;
	char *word = hp_arena_alloc(line->arena, size);

	if (word)
		snprintf(word, size, "%.*s%s%s", (int)head, format, at ? argument : "",
			 at ? at + 2 : "");
	push(line, word);
}

/* `attached` is the rest of the same word, NULL if there is none. */
static struct hp_error *take_perf_word(struct line *line, const struct perf_word *word,
				       const char *attached)
{
	const char *argument = attached;

	if (word->how == SAY)
		return hp_error_create(HP_ERROR_USAGE, "hpcprof does not have perf's %s: %s",
				       word->word, word->text);
	if (word->takes && !argument)
		argument = *line->argv ? *line->argv++ : NULL;
	if (word->takes && !argument)
		return hp_error_create(HP_ERROR_USAGE, "%s takes an argument", word->word);
	if (word->how == COMMA && strcmp(argument, ",") != 0)
		return hp_error_create(HP_ERROR_USAGE, "%s: columns can be separated by ',' only",
				       word->word);
	if (word->how == IGNORE)
		return NULL;
	if (strncmp(word->text, "--annotate", strlen("--annotate")) == 0)
		line->annotates = false;
	push_text(line, word->text, argument ? argument : "");
	return NULL;
}

static bool needs_argument(const struct argp_option *option)
{
	return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* If the command was typed by perf's name, letters have perf's meaning first. */
static const struct perf_word *find_first(const struct line *line, const char *word, size_t length)
{
	return strcmp(line->said, line->command->name) == 0 ? NULL : find(line->said, word, length);
}

static const struct perf_word *find_here(const struct line *line, const char *word, size_t length)
{
	return find(line->command->name, word, length);
}

static struct hp_error *take_long(struct line *line, char *word)
{
	size_t length = strcspn(word, "=");
	const char *attached = word[length] ? word + length + 1 : NULL;
	const struct perf_word *special = find_first(line, word, length);
	const struct argp_option *own = own_name(line->command, word + 2, length - 2, true);

	if (!special && !own)
		special = find_here(line, word, length);
	if (special)
		return take_perf_word(line, special, attached);
	if (!own)
		own = own_name(line->command, word + 2, length - 2, false);
	if (!own)
		return unknown_option(line->command, line->said, word, length);
	if (own->name && strcmp(own->name, "annotate") == 0)
		line->annotates = false;
	push(line, word);
	if (needs_argument(own) && !attached && *line->argv)
		push(line, *line->argv++);
	return NULL;
}

/* "-abc": a and b without an argument, then c, or b with "c". */
static struct hp_error *take_letters(struct line *line, const char *letters)
{
	for (; *letters; letters++) {
		const char *rest = letters[1] ? letters + 1 : NULL;
		char word[] = { '-', *letters, 0 };
		const struct perf_word *special = find_first(line, word, 2);
		const struct argp_option *own = own_letter(line->command, *letters);
		struct hp_error *error = NULL;

		if (!special && !own)
			special = find_here(line, word, 2);
		if (special)
			error = take_perf_word(line, special, special->takes ? rest : NULL);
		else if (!own && *letters == 'h')
			push_text(line, "--help", "");
		else if (!own)
			error = unknown_option(line->command, line->said, word, 2);
		else
			push_text(line, own->arg && rest ? "-%s" : word, letters);
		if (error || (special && special->takes) || (!special && own && own->arg)) {
			if (!error && !special && needs_argument(own) && !rest && *line->argv)
				push(line, *line->argv++);
			return error;
		}
	}
	return NULL;
}

static struct hp_error *take_all(struct line *line)
{
	struct hp_error *error = NULL;

	while (*line->argv && !error) {
		char *word = *line->argv++;

		if (word[0] == '-' && word[1] == '-' && word[2]) {
			error = take_long(line, word);
		} else if (word[0] == '-' && word[1] && word[1] != '-') {
			error = take_letters(line, word + 1);
		} else if (line->annotates && word[0] != '-') {
			line->annotates = false;
			push_text(line, "--annotate=%s", word);
		} else {
			push(line, word);
			/* The following words belong to another command, or are no options. */
			if (line->command->runs_command || strcmp(word, "--") == 0)
				while (*line->argv)
					push(line, *line->argv++);
		}
	}
	return error;
}

static bool asks_for_help(const struct line *line)
{
	for (size_t i = 0; i < line->words.count; i++)
		if (strcmp(line->words.at[i], "--help") == 0 ||
		    strcmp(line->words.at[i], "--usage") == 0 ||
		    strcmp(line->words.at[i], "-?") == 0)
			return true;
	return false;
}

struct hp_error *perf_words_translate(const struct hp_command *command, const char *said, int argc,
				      char **argv, struct hp_arena *arena, int *count,
				      char ***translated)
{
	struct line line = {
		.command = command,
		.said = said,
		.annotates = strcmp(said, "annotate") == 0,
		.argv = argv + 1,
		.arena = arena,
	};
	struct hp_error *error;

	(void)argc;
	push(&line, argv[0]);
	error = take_all(&line);
	if (!error && line.annotates && !asks_for_help(&line))
		error = hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "annotate takes a procedure"),
			"hpcprof report lists procedures with samples; then run: hpcprof annotate "
			"PROC");
	*count = (int)line.words.count;
	*translated = hp_arena_array(arena, line.words.count + 1, sizeof(**translated));
	if (*translated && line.words.count)
		memcpy(*translated, line.words.at, line.words.count * sizeof(**translated));
	hp_vector_free(&line.words);
	if (!error && (line.no_memory || !*translated))
		error = hp_error_create_no_memory();
	return error;
}
