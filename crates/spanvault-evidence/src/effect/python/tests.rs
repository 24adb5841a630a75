use super::*;
use crate::{CallEffect, Effect};

fn read(code: &str) -> CallEffect {
    tally(code).into_effect()
}

#[test]
fn a_snippet_without_a_way_out_reads() {
    for reads in [
        "print(1 + 1)",
        "import numpy as np\nprint(np.zeros((2, 2)))",
        "import math, json; print(json.dumps({'a': math.pi}))",
        "# open the file\nprint('open(x)')",
        "x = 'import os'\nprint(f'{x:>10}')",
        "import json\nprint(json.load(open('a.json'))['x'])",
        "with open('a.txt', 'r', encoding='utf-8') as f:\n    print(f.read())",
    ] {
        assert_eq!(read(reads).effect, Effect::Reads, "{reads}");
    }
    assert_eq!(read("print(open('/etc/hosts').read())").paths, ["/etc/hosts"]);
}

#[test]
fn trying_out_code_that_cannot_be_seen_is_a_check_and_opaque() {
    for trial in [
        "from django.utils import text\nprint(text.slugify('a b'))",
        "import sys; sys.path.insert(0, '.'); from pkg.mod import _helper; assert _helper(1) == 2",
        "import pkg; print(pkg.__version__)",
        "from m import Schema\nclass A(Schema):\n    pass\nprint(A().load({'a': 1}))",
    ] {
        let read = read(trial);
        assert!(read.is_check && read.effect == Effect::Opaque, "{trial}");
    }
}

#[test]
fn everything_else_is_opaque_and_no_check() {
    for opaque in [
        "open('x', 'w')",
        "open('x', mode)",
        "open('x', 'r+')",
        "open('x', encoding='u', mode='w')",
        "import os",
        "if 1: import os",
        "import math, os",
        "from os import *",
        "__import__('os')",
        "print(f'{open(1, 2)}')",
        "import json; json.codecs.open('x', 'w'); print(1)",
        "print(().__class__.__bases__)",
        "import numpy as np; np.save('x', 1); print(1)",
        "print('unended",
        "from m import db; db.session.commit(); print(1)",
        "from m import Model; print(Model.objects.create(a=1))",
        "from m import update_all; print(update_all())",
        "import m; m.f()",
        "x = 1 if 1 else import_it; import re; (lambda: exec)('x')",
        "from django.core.management import call_command; print(call_command('migrate'))",
    ] {
        let read = read(opaque);
        assert!(!read.is_check && read.effect == Effect::Opaque, "{opaque}");
    }
}

fn read_in_session(code: &str) -> CallEffect {
    tally_in_session(code).into_effect()
}

#[test]
fn in_a_session_a_name_that_the_code_does_not_bind_may_be_anything() {
    for reads in [
        "import math\nx, y = 1, 2\nfor i in range(3):\n    print(math.sqrt(x + i), y)",
        "def f(a, b=1):\n    return a + b\nprint([f(n) for n in (1, 2)], sorted([1], key=lambda k: -k))",
        "with open('a.txt') as f:\n    print(f.read())",
        "open_file('/w/a.py', 10)\nscroll_down()",
        "if (n := len('x')) > 0:\n    print(n)",
    ] {
        assert_eq!(read_in_session(reads).effect, Effect::Reads, "{reads}");
    }
    for opaque in [
        "df.to_csv('x')",
        "frob('x')",
        "df = df.x\ndf.to_csv('x')",
        "f(df=1); df.to_csv('x')",
        "edit_file_by_replace(p, 'a')",
    ] {
        let read = read_in_session(opaque);
        assert!(!read.is_check && read.effect == Effect::Opaque, "{opaque}");
    }
    assert_eq!(
        read("df.to_csv('x')").effect,
        Effect::Reads,
        "where nothing came before, there is no such name"
    );
}

#[test]
fn what_the_skills_of_a_session_write_is_known() {
    let edited =
        read_in_session("edit_file_by_replace(\n'/w/a.tsx',\nto_replace=\"a\",\nnew_content=\"\"\"b\"\"\")");
    assert_eq!((edited.effect, edited.writes), (Effect::Mutates, vec!["/w/a.tsx".to_owned()]));
    let named = read_in_session("append_file(file_name='/w/b', content='x')\nprint(1)");
    assert_eq!((named.effect, named.writes), (Effect::Mutates, vec!["/w/b".to_owned()]));
    let both = read_in_session("create_file('/w/c')\ndf.to_csv('d')");
    assert_eq!(both.effect, Effect::Opaque);
}

proptest::proptest! {
    #[test]
    fn no_code_makes_the_reader_panic(code in "((open\\(|import |from |os|f'|\"|'|\\)|,|\\{|\\}|\n|#|é|x|print\\(|\\\\| )){0,30}") {
        let first = read(&code);
        proptest::prop_assert_eq!(read(&code), first);
        proptest::prop_assert_eq!(read_in_session(&code), read_in_session(&code));
    }
}
