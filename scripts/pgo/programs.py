# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that scripts/bench/pgo makes faster: Debian's sources, how these are compiled, what a program is
trained on, and other work that it is judged on. Both take about a second of CPU time. Scripts are repeated in
one process, because windows do not count what a process does last."""
import random
from dataclasses import dataclass
from pathlib import Path

MACHINE_CODE_BYTES = 64 << 20
TEXT_BYTES = 64 << 20
TIMES = 5       # repetitions of a script: about a second

LUA_TRAINING = r'''
local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end
local function count(t) return t[1] and 1 + count(t[1]) + count(t[2]) or 1 end
local total = 0
for i = 1, 12 do total = total + count(tree(13)) end
local words, seed = {}, 42
for i = 1, 60000 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  words[i] = string.format("%x-%d", seed, i % 97)
end
table.sort(words)
local seen = {}
for i, w in ipairs(words) do
  local key = w:match("%-(%d+)$")
  seen[key] = (seen[key] or 0) + #w:gsub("[aeiou]", "%%")
end
local Account = {}
Account.__index = Account
function Account.new() return setmetatable({ sum = 0 }, Account) end
function Account:add(n) self.sum = self.sum + n; return self end
local a = Account.new()
for i = 1, 3000000 do a:add(i % 7) end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
print(total, seen["13"], a.sum, fib(29))
'''

LUA_JUDGED = r'''
local function queens(n)
  local found, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > n then found = found + 1; return end
    for c = 1, n do
      if not columns[c] and not up[row + c] and not down[row - c + n] then
        columns[c], up[row + c], down[row - c + n] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c + n] = nil, nil, nil
      end
    end
  end
  place(1)
  return found
end
local function spectral(n)
  local u, v = {}, {}
  for i = 1, n do u[i] = 1 end
  for _ = 1, 4 do
    for i = 1, n do
      local sum = 0
      for j = 1, n do sum = sum + u[j] / ((i + j) * (i + j + 1) / 2 + i + 1) end
      v[i] = sum
    end
    u, v = v, u
  end
  return u[1]
end
local text = {}
for i = 1, 20000 do text[#text + 1] = ("the %d quick %s foxes"):format(i % 313, ("ab"):rep(i % 5)) end
local counts = {}
for word in table.concat(text, " "):gmatch("%w+") do counts[word] = (counts[word] or 0) + 1 end
local keys = {}
for k in pairs(counts) do keys[#keys + 1] = k end
table.sort(keys, function(a, b) return counts[a] > counts[b] or (counts[a] == counts[b] and a < b) end)
local queue = setmetatable({}, { __index = table })
for i = 1, 400000 do
  queue:insert(i ~ (i >> 3))
  if #queue > 60 then queue:remove() end
end
local memo = setmetatable({}, { __mode = "k" })
local function memoised(f) return function(x) local r = memo[x] or f(x); memo[x] = r; return r end end
local square = memoised(function(x) return x * x end)
local sum = 0
for i = 1, 1500000 do sum = sum + square(i % 1000) end
print(queens(8), spectral(400), #keys, keys[1], #queue, sum)
'''

SQL_TRAINING = r'''
PRAGMA cache_size=-65536;
CREATE TABLE sale(id INTEGER PRIMARY KEY, shop INT, item TEXT, price REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<150000)
INSERT INTO sale SELECT i, i*7919%211, 'item'||(i*104729%5003), (i%997)/7.0 FROM n;
CREATE INDEX by_shop ON sale(shop, item);
CREATE TABLE shop(id INTEGER PRIMARY KEY, city TEXT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<210)
INSERT INTO shop SELECT i, 'city'||(i%17) FROM n;
SELECT city, count(*), sum(price), avg(length(item)) FROM sale JOIN shop ON shop.id=sale.shop GROUP BY city ORDER BY 3;
SELECT item, max(price) FROM sale WHERE shop BETWEEN 20 AND 60 GROUP BY item HAVING count(*)>2 ORDER BY 2 LIMIT 5;
UPDATE sale SET price=price*1.1 WHERE id%3=0;
DELETE FROM sale WHERE shop%10=3;
SELECT count(DISTINCT item) FROM sale WHERE item LIKE '%99%';
SELECT sum(price) FROM sale WHERE id IN (SELECT id FROM sale WHERE shop=7 OR shop=9);
'''

SQL_JUDGED = r'''
PRAGMA cache_size=-65536;
CREATE TABLE log(at INT, host TEXT, level TEXT, message TEXT, bytes INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<120000)
INSERT INTO log SELECT i*13, 'host'||(i*31%89), CASE i%11 WHEN 0 THEN 'error' WHEN 5 THEN 'warn' ELSE 'info' END,
 printf('request %d of session %x took %d ms', i, i*2654435761%65536, i%503), i*17%4096 FROM n;
CREATE INDEX by_host ON log(host, at);
SELECT host, level, count(*), sum(bytes) FROM log GROUP BY host, level ORDER BY 4 DESC LIMIT 10;
SELECT host, at, sum(bytes) OVER (PARTITION BY host ORDER BY at ROWS 5 PRECEDING) AS s FROM log ORDER BY s DESC LIMIT 3;
SELECT count(*) FROM log a JOIN log b ON a.host=b.host AND b.at BETWEEN a.at AND a.at+40000 WHERE a.level='error';
SELECT substr(message, 1, 9) AS m, count(*) FROM log WHERE message GLOB '*7? ms' GROUP BY m ORDER BY 2 DESC LIMIT 4;
CREATE TABLE copy AS SELECT * FROM log WHERE level<>'info' ORDER BY message;
UPDATE copy SET message=upper(message), bytes=bytes+length(host);
SELECT total(bytes), min(message), max(message) FROM copy;
'''


@dataclass
class Program:
    name: str
    package: str            # Debian's source package
    prepare: list           # shell commands in its source directory
    sources: list           # globs
    flags: list
    training: callable      # (program, directory): a shell command
    judged: callable


def _file(directory, name, text):
    path = Path(directory) / name
    if not path.exists():
        path.write_text(text)
    return path


def _log(directory, name, seed, size, words):
    """Text with words that repeat, and numbers."""
    path = Path(directory) / name
    if path.exists():
        return path
    source = random.Random(seed)
    vocabulary = [''.join(source.choices('abcdefghijklmnopqrstuvwxyz', k=source.randint(2, 11)))
                  for _ in range(words)]
    lines = []
    written = 0
    while written < size:
        line = ' '.join(source.choices(vocabulary, k=12)) + f' {source.randint(0, 99999)}\n'
        lines.append(line)
        written += len(line)
    path.write_text(''.join(lines))
    return path


def _lua(script, name):
    times = f'for _ = 1, {TIMES} do\n{script}\nend\n'
    return lambda program, directory: f'{program} {_file(directory, name, times)}'


def _sql(script, name):
    tables = [line.split('(')[0].split()[2] for line in script.splitlines() if line.startswith('CREATE TABLE')]
    dropped = ''.join(f'DROP TABLE {table};\n' for table in tables)
    times = (script + dropped) * TIMES
    return lambda program, directory: f'{program} :memory: ".read {_file(directory, name, times)}"'


def _both_ways(program, path):
    return ' && '.join([f'{program} -q -f -6 --single-thread {path} -o {path}.zst',
                        *[f'{program} -q -f -d {path}.zst -o {path}.back'] * 3])


def _zstd_training(program, directory):
    return _both_ways(program, _log(directory, 'training.txt', 1, TEXT_BYTES, 3000))


def _zstd_judged(program, directory):
    """Machine code of the tools, which is nothing like text."""
    path = Path(directory) / 'judged.bin'
    if not path.exists():
        code = b''
        for tool in sorted({tool.resolve() for tool in Path('/usr/lib/llvm-19/bin').iterdir()}):
            if len(code) < MACHINE_CODE_BYTES:
                code += tool.read_bytes()
        if len(code) < MACHINE_CODE_BYTES:
            raise SystemExit('pgo: the tools of llvm-19 are too small to compress')
        path.write_bytes(code[:MACHINE_CODE_BYTES])
    return _both_ways(program, path)


PROGRAMS = [
    Program('lua', 'lua5.4', ["echo '#define DEB_HOST_MULTIARCH \"\"' >src/lua5.4-deb-multiarch.h"], ['src/l*.c'], ['-DLUA_USE_POSIX', '-lm'],
            _lua(LUA_TRAINING, 'training.lua'), _lua(LUA_JUDGED, 'judged.lua')),
    Program('sqlite3', 'sqlite3', ['./configure -q --disable-shared', 'make -s sqlite3.c shell.c'],
            ['sqlite3.c', 'shell.c'], ['-I.', '-DSQLITE_THREADSAFE=0', '-DSQLITE_OMIT_LOAD_EXTENSION', '-lm'],
            _sql(SQL_TRAINING, 'training.sql'), _sql(SQL_JUDGED, 'judged.sql')),
    Program('zstd', 'libzstd', [],
            ['lib/common/*.c', 'lib/compress/*.c', 'lib/decompress/*.c', 'lib/dictBuilder/*.c',
             'programs/*.c'],
            ['-Ilib', '-Ilib/common', '-DZSTD_DISABLE_ASM=1', '-DZSTD_LEGACY_SUPPORT=0', '-pthread'],
            _zstd_training, _zstd_judged),
]
