# Fills the current folder with what the programs work on: a repository, projects with tests, packages, texts.
set -eu

export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org

make_repository() {
    git init -q -b main repository
    cd repository
    for number in $(seq 1 12); do
        seq "$number" $((number * 7)) | sed "s/\$/ is a line of the file that commit $number wrote, some of them are long enough to wrap in narrow panes/" >file$((number % 4)).txt
        printf 'def function_%s():\n\treturn "%s — 漢字"\n' "$number" "$number" >>module.py
        git add -A
        GIT_AUTHOR_DATE="2024-01-$number 12:00 +0000" GIT_COMMITTER_DATE="2024-01-$number 12:00 +0000" \
            git commit -qm "area: change number $number" -m "The body of a message explains why it was made."
    done
    git branch feature HEAD~3
    cd ..
}

make_projects() {
    mkdir -p project/tests build jest
    cat >project/tests/test_sample.py <<'END'
import time

import pytest


@pytest.mark.parametrize("number", range(90))
def test_number(number):
    assert number >= 0


def test_wrong():
    print("captured output")
    assert {"a": 1, "b": [1, 2, 3]} == {"a": 1, "b": [1, 2, 4]}


@pytest.mark.skip(reason="not now")
def test_skipped():
    pass


@pytest.mark.xfail
def test_expected():
    assert False
END
    printf 'all: a b c d e f\na b c d e f:\n\t@echo compiling $@.c -O2 -Wall -Wextra -I/usr/include/something -o $@.o\n\t@echo warning: unused variable in $@.c >&2\n\tsleep 0.05\n' >build/Makefile
    cat >project/sample.test.mjs <<'END'
import test from 'node:test';
import assert from 'node:assert';

test('adds', () => assert.equal(1 + 1, 2));
test('differs', { todo: true }, () => assert.deepEqual({ a: 1 }, { a: 2 }));
test('group', async (context) => { for (const number of [1, 2, 3]) await context.test(`part ${number}`, () => {}); });
END
    cat >jest/sample.test.js <<'END'
test('adds', () => expect(1 + 1).toBe(2));
test('differs', () => expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] }));
describe('many', () => { for (let n = 0; n < 12; n++) test(`case ${n} of many`, () => expect(n).toBe(n)); });
END
    echo '{"name": "sample", "jest": {"watchman": false}}' >jest/package.json
    for name in alpha beta gamma; do
        mkdir -p "npm/$name"
        echo "{\"name\": \"sample-$name\", \"version\": \"1.0.0\", \"description\": \"A sample\"}" >"npm/$name/package.json"
    done
}

make_package() {
    mkdir -p deb/DEBIAN deb/usr/share/sample
    printf 'Package: sample-text\nVersion: 1.0\nArchitecture: all\nMaintainer: Ada <ada@example.org>\nDescription: A sample\n' >deb/DEBIAN/control
    seq 1 200 >deb/usr/share/sample/text
    dpkg-deb --build deb sample-text.deb >/dev/null
}

make_texts() {
    mkdir -p texts/a/b/c texts/d
    for number in $(seq 1 60); do : >"texts/a/file with a name $number.txt"; done
    for number in $(seq 1 25); do : >"texts/d/datei_${number}_äöü_漢字.md"; done
    mkdir texts/a/folder && ln -s file texts/a/link && chmod +x texts/a/*9.txt
    seq 1 300 | sed 's/$/ a line of text that a pager shows/' >texts/long.txt
    for number in $(seq 1 40); do printf 'Привет, мир! Это строка номер %s кириллического текста.\n' "$number"; done >texts/cyrillic.txt
    iconv -f UTF-8 -t SHIFT_JIS >texts/shift_jis.txt <<'END'
日本語のテキストです。これは二行目ではありません。
カタカナとひらがなと漢字、表示能力ソ
最後の行
END
    printf 'Zitat\nStra\341e und \204pfel f\201r 5 \234\nK\224nig \237 \220 \235 \236 \230 \231\nletzte Zeile\n' >texts/cp850.txt
    printf 'caf\351 na\357ve \251 \265m\nnext line\n' >texts/latin1.txt
    head -c 3000 /bin/ls >texts/binary
    gzip -c texts/long.txt >texts/compressed.gz
}

make_repository
make_projects
make_package
make_texts
