# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of check-accuracy: real ones, built from Debian's source packages, so that one procedure
of each can be given more work in its source.

A variant is a build: as it is, with more work in that procedure, or by other means. How much work is a
share of the procedure's own cost is found out by measuring: the time of a run grows by as much as is
added, so that two builds give the slope.
"""
import os
import re
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import bench

PACKAGES = ['bzip2', 'lua5.4', 'lz4', 'zopfli']

LUA = '''
local function random(seed)
    return function(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed % n end
end
for round = 1, tonumber(arg[1]) do
    local next_number, items, n, primes = random(7), {}, 0, {}
    for i = 1, 600 do items[i] = { key = next_number(100000), name = "x" .. next_number(1000) } end
    table.sort(items, function(a, b) return a.key < b.key end)
    for i = 1, #items do n = n + #items[i].name:gsub("%d", function(digit) return digit + 1 end) end
    for i = 2, 4000 do primes[i] = true end
    for i = 2, 63 do
        if primes[i] then for j = i * i, 4000, i do primes[j] = false end end
    end
    for i = 1, 40000 do n = (n * 31 + i) % 1000003 end
end
'''

# Work that no compiler takes away: turns of an empty loop, EXTRA_RATE 65536ths of one each time, but no
# fewer than 256 at once: of some few a processor does most beside other work. All builds have it, those
# with no more work an idle rate, so that they differ by nothing but the work.
IDLE_RATE = 256
EXTRA = '''static unsigned long extra_turns; extra_turns += EXTRA_RATE;
if (extra_turns >= 65536ul * 256)
    for (; extra_turns >= 65536; extra_turns -= 65536) __asm__ volatile("" : "+r"(extra_turns));
'''


# To find the rate out, it comes from the environment.
TRIAL = '''#include <stdlib.h>
unsigned long extra_rate;
__attribute__((constructor)) static void read_rate(void)
{
	const char *text = getenv("EXTRA_RATE");
	extra_rate = text ? strtoul(text, NULL, 10) : 0;
}
'''


@dataclass
class Program:
    name: str
    folder: str              # of the unpacked package, a glob
    sources: list            # globs in it
    flags: list
    procedure: str           # that is given more work
    place: tuple             # its file, and an expression that ends at the start of its body
    command: callable        # of (program's path, units of work): argv
    units: int = 20          # of work at first, to see how long they take

    def prepare(self, sources, directory):
        """Its own copy of the source."""
        found = sorted(Path(sources).glob(self.folder))
        if not found:
            bench.die(f'{sources} has no {self.folder}: apt-get source {" ".join(PACKAGES)}')
        self.directory = directory / self.name
        shutil.copytree(found[0], self.directory / 'source')
        # Debian's Lua asks where its modules are.
        for header in self.directory.glob('source/src/luaconf.h'):
            (header.parent / 'lua5.4-deb-multiarch.h').write_text('#define DEB_HOST_MULTIARCH "none"\n')
        path = self.directory / 'source' / self.place[0]
        text = path.read_text(encoding='latin-1')
        place = re.search(self.place[1], text)
        if not place:
            bench.die(f'{path} has no {self.procedure} as expected')
        # Behind the declarations that older C wants first stands a block of its own.
        text = f'{text[:place.end()]}\n#ifdef EXTRA_RATE\n{EXTRA}#endif\n{text[place.end():]}'
        path.write_text(text, encoding='latin-1')

    def build(self, name, *flags, compiler='gcc'):
        """Where variants differ in nothing but the build their paths are as long: each has its own folder."""
        if not any('EXTRA_RATE' in flag for flag in flags) and name != 'trial':
            flags += (f'-DEXTRA_RATE={IDLE_RATE}ul',)
        source = self.directory / 'source'
        output = self.directory / name
        output.mkdir(exist_ok=True)
        if name == 'trial':
            (output / 'rate.c').write_text(TRIAL)
            flags += ('-DEXTRA_RATE=({ extern unsigned long extra_rate; extra_rate; })', str(output / 'rate.c'))
        files = [str(path.relative_to(source)) for pattern in self.sources for path in sorted(source.glob(pattern))
                 if path.name != 'luac.c']
        built = subprocess.run([compiler, '-O2', '-g', '-w', *self.flags, *flags, *files, '-o',
                                str(output / self.name), '-lm'], cwd=source, capture_output=True, text=True)
        if built.returncode:
            bench.die(f'{self.name} cannot be built: {built.stderr[:2000]}')
        return output / self.name


def files_command(*options, file='text'):
    """One unit of work is one more file to compress."""
    def command(program, units):
        return [str(program), *options, *[file] * units]
    return command


def lua_command(program, units):
    return [str(program), 'loop.lua', str(units)]


PROGRAMS = [
    Program('bzip2', 'bzip2-*', ['blocksort.c', 'huffman.c', 'crctable.c', 'randtable.c', 'compress.c',
                                 'decompress.c', 'bzlib.c', 'bzip2.c'], ['-D_FILE_OFFSET_BITS=64'],
            'mainSort', ('blocksort.c', r'void mainSort \([^{]*\{'),
            files_command('-kc')),
    Program('lua', 'lua5.4-*', ['src/*.c'], ['-DLUA_USE_POSIX', '-Isrc'],
            'luaV_execute', ('src/lvm.c', r'void luaV_execute \([^{]*\{'), lua_command),
    Program('lz4', 'lz4-*', ['programs/*.c', 'lib/*.c'], ['-Ilib'],
            'LZ4HC_compress_generic_noDictCtx',
            ('lib/lz4hc.c', r'LZ4HC_compress_generic_noDictCtx \([^{]*\{'), files_command('-9', '-c', '-q', '-m')),
    Program('zopfli', 'zopfli-*', ['src/zopfli/*.c'], [],
            'BoundaryPM', ('src/zopfli/katajainen.c', r'void BoundaryPM\([^{]*\{'),
            files_command('-c', '--i2', file='small')),
]


def fetch(directory):
    """Debian's sources of these packages, by its own means, without touching the system's lists."""
    apt = directory / 'apt'
    for folder in ('lists/partial', 'cache/archives/partial', 'sources'):
        (apt / folder).mkdir(parents=True)
    listed = Path('/etc/apt/sources.list.d/debian.sources')
    if not listed.exists():
        bench.die(f'no Debian here: give --sources DIR, with what apt-get source {" ".join(PACKAGES)} unpacks')
    (apt / 'sources/debian.sources').write_text(
        re.sub(r'^Types: deb$', 'Types: deb-src', listed.read_text(), flags=re.M))
    base = ['apt-get', '-qq', '-o', 'Dir::Etc::sourcelist=/dev/null', '-o', f'Dir::Etc::sourceparts={apt}/sources',
            '-o', f'Dir::State::lists={apt}/lists', '-o', f'Dir::Cache={apt}/cache']
    for arguments in (['update'], ['source', *PACKAGES]):
        if subprocess.run([*base, *arguments], cwd=directory, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE).returncode:
            bench.die(f'apt-get {arguments[0]} failed: give --sources DIR')
    return directory


def cpu_time(command, directory):
    """User time of one run: what the kernel did has nothing to do with the build."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def least(command, directory, runs=5):
    return min(cpu_time(command, directory) for _ in range(runs))


def grown(command, directory, rate):
    """By how much the rate makes a run longer: user time beside one without, at the same time and on one
    CPU, so that neither has the better moment."""
    cpu = max(os.sched_getaffinity(0))
    started = [subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env={**os.environ, 'EXTRA_RATE': str(extra)}) for extra in (0, rate)]
    for process in started:
        os.sched_setaffinity(process.pid, {cpu})
    times = [os.wait4(process.pid, 0)[2].ru_utime for process in started]
    return times[1] / times[0] - 1
