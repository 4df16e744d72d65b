# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of window-coverage: what to install, what they are told to do, which are kept out.

None here is given /dev/null by name: some give what they write the mode of what they read, or remove
it first.

A program does a unit of work, or `n` of them, in one process where it can be told to. A program
with a truth does the same with each unit, by one thread, and executes the same in each run: so what
callgrind counts of one and of two units tells how often it executes what of `n`
(scripts/frequency/again.py).
"""
import shutil
from dataclasses import dataclass

import again
import inputs as made
import measure
import servers
import workloads


@dataclass
class Program:
    name: str
    packages: str                # of Debian
    command: callable            # of a directory with inputs and n: the words
    tools: str = ''              # what has to be there; else the first word of the command
    kept_out: bool = False
    truth: bool = False
    server: type = None          # it runs until its client has done n units
    perf_map: bool = False       # it leaves one behind
    workload: workloads.Workload = None     # one that frequency-accuracy has, too

    def missing(self):
        """Of its tools, by name."""
        if self.server:
            return self.server.missing()
        return [tool for tool in (self.tools or self.name).split() if not find(tool)]

    def measured(self, top, directory):
        """For again.py: (what its exact counts belong to, its command); kept below `top` where
        frequency-accuracy has them, too."""
        made = self.workload or workloads.Workload(
            self.name, self.command(directory, 1),
            set=workloads.KEPT_OUT if self.kept_out else workloads.TUNING,
            again=lambda _, n: self.command(directory, n))
        where = top / made.folder / made.name
        return measure.Measured(made, where, 1), measure.prepare(made, directory, where)


def find(tool):
    """Some have two names, with a bar between them."""
    for name in tool.split('|'):
        where = shutil.which(name, path=workloads.ENVIRONMENT['PATH'] + ':/usr/sbin:/sbin')
        if where:
            return where
    return None


def kept(path, make):
    if not path.exists():
        partial = path.with_name(path.name + '.new')
        make(partial)
        partial.rename(path)
    return path.name


def one_file(name, make):
    """The command reads a file that is as long as there is to do."""
    return lambda directory, n: kept(directory / f'{n}.{name}', lambda path: make(path, n))


def text_file(directory, n):
    return kept(directory / f'{n}.text', lambda path: workloads.text(path, n * 4_000_000))


def script(tool, name, text, *more):
    def command(directory, n):
        (directory / name).write_text(text)
        return [find(tool), *more, name, str(n)]
    return command


def repeated(*words, file='text.large', more=0):
    """The last argument n times."""
    return lambda directory, n: [find(words[0]), *words[1:], *[file] * (n * (more + 1))]


# --- commands -------------------------------------------------------------------------------------


def in_java(directory, n):
    def compile_it(path):
        path.mkdir()
        (path / 'In.java').write_text(made.JAVA)
        measure.run([find('javac'), str(path / 'In.java')], directory, 'javac')
    kept(directory / 'java', compile_it)
    return [find('java'), '-cp', 'java', 'In', str(n)]


def containers(directory, n):
    """Its exact counts belong to it and its path: it is where --data keeps both."""
    where = (directory / 'compiled').resolve()

    def compile_it(path):
        source = where / 'containers.cc'
        source.write_text(made.CONTAINERS)
        measure.run([find('g++'), '-O2', '-o', str(path), str(source)], directory, 'g++')
    return [str(where / kept(where / 'containers', compile_it)), str(n)]


def cpp(directory, n):
    files = [kept(directory / f'in{i}.cc', lambda path, i=i: made.cpp_source(path, i))
             for i in range(n)]
    return ['/bin/sh', '-c', 'for i; do g++ -O2 -S -o out/g++.s "$i" || exit; done', 'sh', *files]


def big_sql(directory, n):
    kept(directory / 'big.sql', lambda path: path.write_text(made.BIG_SQL))
    kept(directory / 'again.sql', lambda path: path.write_text(made.BIG_SQL_AGAIN))
    return [find('sqlite3'), '-batch', ':memory:', '.read big.sql', *['.read again.sql'] * n]


def git_log(directory, n):
    kept(directory / 'repository.git', lambda path: made.repository(path, 3000))
    return ['/bin/sh', '-c', 'for i in $(seq "$0"); do "$1" -c "safe.directory=*" '
            '-C repository.git log -p --stat main; done', str(n), find('git')]


def ghostscript(directory, n):
    kept(directory / 'in.ps', lambda path: path.write_text(made.POSTSCRIPT))
    return [find('gs'), '-q', '-dNOPAUSE', '-dBATCH', '-dSAFER', '-sDEVICE=ppmraw', '-r100',
            '-sOutputFile=-', *['in.ps'] * n]


def convert(directory, n):
    return [find('convert-im6.q16|convert'), '-seed', '1', '-size', '900x700', 'plasma:',
            *['-blur', '0x3', '-rotate', '7', '-resize', '900x700!'] * n, 'ppm:-']


def ffmpeg(directory, n):
    return [find('ffmpeg'), '-v', 'error', '-f', 'lavfi', '-i',
            f'testsrc2=size=640x360:rate=25:duration={n}', '-c:v', 'libx264', '-f', 'null', '-']


def of_file(tool, file, before, after=()):
    return lambda directory, n: [find(tool), *before, file(directory, n), *after]


# --- the table ------------------------------------------------------------------------------------


def of_frequencies():
    """Those whose executions frequency-accuracy knows, in its sets."""
    packages = {'xz': 'xz-utils', 'lua': 'lua5.4', 'cc1': 'gcc', 'unxz': 'xz-utils',
                'dot': 'graphviz', 'xmllint': 'libxml2-utils'}

    def of(workload):
        def command(_, n):
            program, *more = workload.command
            return again.looped(workload, [find(program), *more], n)
        return Program(workload.name, packages.get(workload.name, workload.name), command,
                       workload.command[0], workload.set != workloads.TUNING, truth=True,
                       workload=workload)

    # One of no package is left out.
    return [of(one) for one in workloads.workloads()
            if one.set != workloads.MADE_UP and one.name != 'kernels']


def others():
    yield Program('lua, recursive', 'lua5.4', script('lua5.4', 'calls.lua', made.LUA_CALLS),
                  'lua5.4')
    yield Program('python3, recursive', 'python3', script('python3', 'calls.py', made.PYTHON_CALLS),
                  'python3')
    yield Program('luajit', 'luajit', script('luajit', 'loops.lua', made.LUA_LOOPS))
    yield Program('ruby', 'ruby', script('ruby', 'in.rb', made.RUBY))
    yield Program('node', 'nodejs', script('node|nodejs', 'in.js', made.JAVASCRIPT),
                  'node|nodejs')
    yield Program('node, perf map', 'nodejs',
                  script('node|nodejs', 'in.js', made.JAVASCRIPT, '--perf-basic-prof',
                         '--logfile=out/v8.log', '--no-logfile-per-isolate'),
                  'node|nodejs', perf_map=True)
    yield Program('java', 'default-jdk-headless', in_java, 'java javac')
    yield Program('sbcl', 'sbcl', script('sbcl', 'in.lisp', made.LISP, '--script'))
    yield Program('g++', 'g++', cpp)
    yield Program('clang', 'clang', of_file('clang', one_file('c', lambda path, n:
                  workloads.c_source(path, 60 * n)), ['-O2', '-S', '-o', 'out/clang.s']))
    yield Program('rustc', 'rustc', of_file('rustc', one_file('rs', lambda path, n:
                  made.rust_source(path, 20 * n)), ['-O', '--emit=obj', '--out-dir', 'out']))
    yield Program('containers', 'g++', containers, 'g++', truth=True)
    yield Program('ffmpeg', 'ffmpeg', ffmpeg)
    yield Program('flac', 'flac', of_file('flac', one_file('wav', lambda path, n:
                  made.wav(path, 4 * n)), ['-8', '-e', '-p', '-s', '-c']), truth=True)
    yield Program('sort', 'coreutils', lambda directory, n: [
        find('sort'), '-k2', text_file(directory, n)])
    yield Program('grep', 'grep', repeated('grep', '-c', '-E', '([a-z])[a-z]*\\1.*([a-z_]+)->\\2'),
                  truth=True)
    yield Program('gawk', 'gawk', repeated('gawk', '-f', 'in.awk'), truth=True)
    yield Program('7z', '7zip', of_file('7zz|7z', text_file, ['a', '-txz', '-mx=5', '-mmt=2', '-so',
                                                              'x.xz']), '7zz|7z')
    yield Program('xz -T2', 'xz-utils', of_file('xz', text_file, ['-T2', '-4', '--block-size=2MiB',
                                                                  '-c']), 'xz')
    yield Program('pigz', 'pigz', of_file('pigz', text_file, ['-p2', '-9', '-c']))
    yield Program('zstd -T0', 'zstd', of_file('zstd', text_file, ['-q', '-T0', '-15', '-c']),
                  'zstd')
    yield Program('gs', 'ghostscript', ghostscript, truth=True)
    yield Program('git', 'git', git_log)
    yield Program('convert', 'imagemagick', convert, 'convert-im6.q16|convert')
    yield Program('numpy', 'python3-numpy', script('/usr/bin/python3', 'in_numpy.py', made.NUMPY),
                  '/usr/bin/python3')
    yield Program('sqlite3, 1 GB', 'sqlite3', big_sql, 'sqlite3')
    yield Program('redis', 'redis-server redis-tools', None, server=servers.Redis)
    yield Program('nginx', 'nginx-light apache2-utils', None, server=servers.Nginx)
    yield Program('postgres', 'postgresql', None, server=servers.Postgres)
    yield Program('php', 'php-cli', script('php', 'in.php', made.PHP, '-n'))
    yield Program('opus', 'opus-tools', of_file('opusenc', one_file('opus.wav', lambda path, n:
                  made.wav(path, 100 * n)), ['--quiet', '--comp', '10'], ['-']), 'opusenc')

    yield Program('guile', 'guile-3.0', script('guile', 'in.scm', made.SCHEME, '--no-auto-compile'),
                  kept_out=True)
    yield Program('ocamlopt', 'ocaml-nox', of_file('ocamlopt', one_file('ml', lambda path, n:
                  made.ocaml_source(path, 60 * n)), ['-c', '-o', 'out/ocaml.o']), kept_out=True)
    yield Program('go', 'golang-go', of_file('go', one_file('go', lambda path, n:
                  made.go_source(path, 60 * n)), ['tool', 'compile', '-p', 'p', '-o', 'out/go.o']),
                  kept_out=True)
    # Some of its versions do not get through several files.
    yield Program('brotli', 'brotli', of_file('brotli', text_file, ['-q', '8', '-c']), kept_out=True)
    yield Program('zopfli', 'zopfli', repeated('zopfli', '--i1', '-c'), kept_out=True)
    yield Program('bash', 'bash', script('bash', 'in.bash', made.BASH), kept_out=True)
    yield Program('octave', 'octave', script('octave-cli', 'in.m', made.OCTAVE, '-qf'),
                  'octave-cli', kept_out=True)
    yield Program('stress-ng, 1 GB', 'stress-ng', lambda _, n: [
        find('stress-ng'), '-q', '--vm', '1', '--vm-bytes', '1g', '--vm-keep',
        '--vm-method', 'walk-1d', '--vm-ops', str(20 * n)], 'stress-ng', kept_out=True)
    yield Program('lighttpd', 'lighttpd apache2-utils', None, kept_out=True,
                  server=servers.Lighttpd)


def programs():
    every = [*of_frequencies(), *others()]
    return [one for one in every if not one.kept_out] + [one for one in every if one.kept_out]
