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

proptest::proptest! {
    #[test]
    fn no_code_makes_the_reader_panic(code in "((open\\(|import |from |os|f'|\"|'|\\)|,|\\{|\\}|\n|#|é|x|print\\(|\\\\| )){0,30}") {
        let first = read(&code);
        proptest::prop_assert_eq!(read(&code), first);
    }
}
