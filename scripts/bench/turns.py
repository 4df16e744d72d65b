#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""turns.py WORK SECONDS TEXT: turns of a real program's work; prints what turns.c does."""
import bz2
import lzma
import sqlite3
import sys
import time
import zlib


def packing(compressor, path, size):
    """Compresses a text again and again, so much of it a turn."""
    def turn():
        nonlocal at, stream
        if at == 0:
            stream = compressor()
        stream.compress(text[at:at + size])
        at = (at + size) % len(text)

    with open(path, 'rb') as file:
        text = file.read()
    text = text[:len(text) // size * size]
    at, stream = 0, None
    return turn, len(text) // size


def database():
    def turn():
        nonlocal count
        low = count % steps * step
        count += 1
        cursor.execute('select sum(x.a), count(*) from t x join t y on x.b = y.b '
                       'where x.a between ? and ?', (low, low + step)).fetchall()
        cursor.execute('update t set c = ? where a between ? and ?', (f'{count:08x}', low, low + 100))

    count, step, steps = 0, 3000, 60
    cursor = sqlite3.connect(':memory:').cursor()
    cursor.executescript('''
        create table t (a integer primary key, b integer, c text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
        insert into t select i, (i * 7919) % 100003, printf('%08x', i * 2654435761) from n;
        create index u on t (b, c);''')
    return turn, steps


def counting():
    def turn():
        seen = {}
        for word in words:
            seen[word] = seen.get(word, 0) + len(word)
        sorted(seen.items(), key=lambda item: (-item[1], item[0]))

    words = [format(i * 2654435761 % 99991, 'x') for i in range(6000)]
    return turn, 1


WORK = {
    'xz': lambda path: packing(lambda: lzma.LZMACompressor(preset=6), path, 6000),
    'bzip2': lambda path: packing(bz2.BZ2Compressor, path, 900000),
    'gzip': lambda path: packing(lambda: zlib.compressobj(6), path, 100000),
    'sqlite3': lambda path: database(),
    'python3': lambda path: counting(),
}


def main():
    turn, cycle = WORK[sys.argv[1]](sys.argv[3])
    end = time.process_time() + float(sys.argv[2])
    turns = []
    while time.process_time() < end:
        start = time.monotonic()
        turn()
        turns.append((start, time.monotonic() - start))
    print(cycle)
    for start, took in turns:
        print(f'{start:.6f} {took * 1000:.4f}')


main()
