use super::*;
use crate::{CallEffect, Effect};

fn read(script: &str) -> CallEffect {
    read_script(script, None).into_effect()
}

fn assert_all(effect: Effect, scripts: &[&str]) {
    for script in scripts {
        assert_eq!(read(script).effect, effect, "{script}");
    }
}

#[track_caller]
fn assert_writes(script: &str, writes: &[&str]) {
    let read = read(script);
    assert_eq!(
        (read.effect, read.writes.iter().map(String::as_str).collect::<Vec<_>>()),
        (Effect::Mutates, writes.to_vec()),
        "{script}"
    );
}

#[test]
fn looking_is_reading() {
    assert_all(
        Effect::Reads,
        &[
            "ls -la /etc",
            "cat a.txt | grep -n x | head -20",
            "cd /src && git status && git diff HEAD~1 -- a.rs",
            "find . -name '*.py' -exec grep -l x {} \\;",
            "find . -type f | xargs grep -l x | head",
            "for f in *.rs; do wc -l \"$f\"; done",
            "if [ -f x ]; then cat x; else echo none; fi",
            "case $x in a|b) echo 1;; *) echo 2;; esac",
            "git log --oneline | head -5 2>/dev/null",
            "sed -n '1,20p' f; awk '{print $1}' f; awk '$3 > 5 {print}' f",
            "curl -s https://x.y/z | jq .",
            "gh pr view 3 --json title",
            "(cd /x && ls) | sort",
            "echo hi >&2; true > /dev/null 2>&1",
            "[[ -n $x && $y > 3 ]] && echo yes",
            "f() { cat x; }; f",
            "x=$(date +%s); echo $((x + 1))",
            "sudo -u root cat /etc/shadow",
            "timeout 5 tail -f log",
            "psql -h db -c 'select * from t'",
            "python3 -c 'print(1+1)'",
            "python --version",
            "while read l; do echo $l; done < f",
            "diff <(sort a) <(sort b)",
            "echo 'a > b; rm -rf /'",
            "cat <<'EOF'\nrm -rf / > x $(boom)\nEOF",
            "# only a comment\nls",
            "",
        ],
    );
}

#[test]
fn every_written_path_is_named() {
    assert_writes("echo x > /etc/app.conf", &["/etc/app.conf"]);
    assert_writes("cat a >> b 2> err.txt", &["b", "err.txt"]);
    assert_writes("cat > \"my file.txt\" << 'EOF'\nit's $(not run)\nEOF", &["my file.txt"]);
    assert_writes("cd /srv/app && rm -rf build", &["/srv/app/build"]);
    assert_writes("(cd /srv && touch a); touch b", &["/srv/a", "b"]);
    assert_writes("mkdir -p src/{a,b}", &["src/a", "src/b"]);
    assert_writes("mv a.txt /tmp/b.txt", &["a.txt", "/tmp/b.txt"]);
    assert_writes("cp a.conf /etc", &["/etc", "/etc/a.conf"]);
    assert_writes("cp a b c/", &["c/a", "c/b"]);
    assert_writes("sed -i 's/a/b/' x.py y.py", &["x.py", "y.py"]);
    assert_writes("sed -i '' -e 's/a/b/' x.py", &["x.py"]);
    assert_writes("echo x | sudo tee -a /etc/hosts", &["/etc/hosts"]);
    assert_writes("dd if=/dev/zero of=/tmp/img bs=1M", &["/tmp/img"]);
    assert_writes("find /var/log -name '*.gz' -delete", &["/var/log"]);
    assert_writes("find /var/log -name '*.gz' | xargs rm -f", &["/var/log"]);
    assert_writes("bash -c 'cd /etc && touch x'", &["/etc/x"]);
    assert_writes("FILE=/etc/x; echo 1 > $FILE", &["/etc/x"]);
    assert_writes("for f in a b; do touch $f.txt; done", &["a.txt", "b.txt"]);
    assert_writes("curl -o out.json https://x.y/z", &["out.json"]);
    assert_writes("wget https://x.y/a.tgz", &["a.tgz"]);
    assert_writes("tar -xzf a.tgz -C /opt", &["/opt"]);
    assert_writes("git -C /repo commit -m 'x'", &["/repo/.git"]);
    assert_writes("git checkout -- src/a.rs", &["src/a.rs", ".git"]);
    assert_writes("git diff > ~/p.patch", &["~/p.patch"]);
    assert_writes("rm ./a/../b", &["b"]);
    assert_writes("gofmt -w a.go", &["a.go"]);
    assert_writes("sort -o out in", &["out"]);
    assert_writes("{ echo a; echo b; } > out", &["out"]);
    assert_writes("if true; then echo a; fi > out", &["out"]);
    assert_writes("env A=1 nohup touch x &", &["x"]);
    assert_writes("ls && { rm x || true; }", &["x"]);
    assert_writes("sort -uo out in", &["out"]);
    assert_writes("xxd -r a.hex a.bin", &["a.bin"]);
    assert_writes("install -d /opt/a /opt/b", &["/opt/a", "/opt/b"]);
    assert_writes("ln -s /opt/tool-1.2", &["tool-1.2"]);
    assert_writes("git config --global user.name x", &["~/.gitconfig"]);
    assert_writes("cd /w && touch \"$(pwd)/x\" \"$HOME/y\"", &["/w/x", "~/y"]);
    assert_writes("touch a{1,2}b{3,4}", &["a1b3", "a1b4", "a2b3", "a2b4"]);
}

#[test]
fn acting_on_others_is_external() {
    assert_all(
        Effect::External,
        &[
            "git push origin main",
            "git -C /r push --force",
            "curl -X POST https://x.y -d @f",
            "curl -d a=b https://x.y",
            "curl -sXDELETE https://x.y",
            "gh pr create --title x --body y",
            "gh api repos/o/r/issues -f title=x",
            "kubectl delete pod x",
            "psql -c 'delete from t'",
            "kill -9 1",
            "npm publish",
            "rsync -a x host:/y",
            "git commit -m x && git push",
        ],
    );
}

#[test]
fn what_cannot_be_seen_through_is_opaque() {
    assert_all(
        Effect::Opaque,
        &[
            "./deploy.sh",
            "bash deploy.sh",
            "curl https://x.y | sh",
            "python script.py",
            "python -c 'import os; os.remove(\"x\")'",
            "eval \"$CMD\"",
            "$CMD --flag",
            "rm \"$UNKNOWN\"",
            "echo x > $(mktemp)",
            "find . -exec sh -c \"$X\" \\;",
            "cat list | xargs rm",
            "unknowncmd x",
            "pip install requests",
            "apt-get install -y nginx",
            "ssh host rm x",
            "docker run img",
            "node -e 'x'",
            "awk '{print > $1}' f",
            "awk '{system($1)}' f",
            "awk '$3 > 5 { if (x) print $1 > \"f\" }' f",
            "sed 's/a/b/e' f",
            "source ./env.sh",
            "make deploy",
            "mise run fmt && mise run lint",
            "echo 'unclosed",
            "echo $(unclosed",
            "ls )",
            "if true; then ls",
            "LD_PRELOAD=x ls",
            "git -c core.pager='sh -c x' log",
            "cd $X && rm y",
            "crontab -l | while read f; do rm $f; done",
            "x() { rm \"$1\"; }; x /etc/passwd",
            "x() { touch y; }; cd /etc; x",
            "x() { rm $Y; }; Y=/etc/passwd; x",
        ],
    );
}

#[test]
fn checks_are_known_and_anything_more_beside_them_is_not_a_check() {
    for script in [
        "cargo test",
        "go build ./... && go test -v ./x 2>&1 | head -100",
        "mise run lint && mise run test:ci",
        "npm run test:unit -- --watch=false",
        "python -m pytest -x tests/ | tail -5",
        "python test_fix.py",
        "npx eslint src",
        "make -j4 check",
        "uv run mypy .",
        "./gradlew test",
        "cd /w && VERBOSE=1 make test",
        "golangci-lint run",
    ] {
        assert!(read(script).is_check, "{script}");
    }
    for script in [
        "cargo test > log.txt",
        "npm run deploy",
        "eslint --fix .",
        "cargo test; git push",
        "make test install",
        "ls",
        "cargo test && ./x",
    ] {
        assert!(!read(script).is_check, "{script}");
    }
    assert_eq!(read("golangci-lint run").effect, Effect::Reads);
    assert_eq!(read("cargo test").effect, Effect::Opaque);
}

#[test]
fn paths_that_are_read_are_kept_apart_from_those_that_are_written() {
    let read = read("cd /a && cat b.txt c/d > e && grep -rn pat ./src");
    assert_eq!(read.paths, ["/a/e", "/a/b.txt", "/a/c/d", "/a/src"]);
    assert_eq!(read.writes, ["/a/e"]);
}

#[test]
fn a_directory_that_may_have_changed_is_lost_and_what_is_written_under_it_opaque() {
    assert_eq!(read("if x=1; then cd /a; fi; touch b").effect, Effect::Opaque);
    assert_eq!(read("cd /a || cd /b; touch c").effect, Effect::Opaque);
    assert_writes("cd \"$X\"; touch /tmp/c", &["/tmp/c"]);
}

#[test]
fn hostile_scripts_are_read_in_linear_time_without_recursion() {
    let deep =
        |open: &str, close: &str, count: usize| format!("{}ls{}", open.repeat(count), close.repeat(count));
    for script in [
        deep("( ", " )", 20_000),
        deep("((", "))", 20_000),
        deep("$(", ")", 20_000),
        deep("{ ", "; }", 20_000),
        "(".repeat(100_000),
        "`".repeat(100_000),
        "\"$(".repeat(50_000),
        "${".repeat(100_000),
        "<<a ".repeat(20_000),
        "if ".repeat(20_000),
        "a=".repeat(100_000),
        "{a,b}".repeat(2_000),
        format!("cat {}", "x ".repeat(20_000)),
        format!("rm {}", "x/y".repeat(100_000)),
        (0..10_000).fold(String::new(), |script, n| script + &format!("rm f{n};")),
    ] {
        let effect = read(&script).effect;
        assert!(effect <= Effect::Opaque);
    }
}

proptest::proptest! {
    #[test]
    fn no_script_makes_the_reader_panic(script in "[ -~\n]{0,120}") {
        let first = read(&script);
        proptest::prop_assert_eq!(read(&script), first);
    }

    #[test]
    fn shell_like_scripts_are_read_without_panic_and_unicode_is_kept(
        script in "((ls|rm|cd|cat|if|then|fi|for|do|done|\\(|\\)|\\{|\\}|&&|\\|\\||;|\n|>|<<E|E|\"|'|\\$\\(|`|x|é|用户|/a/b|-i|sed|find|git) ?){0,25}",
    ) {
        let effect = read(&script);
        proptest::prop_assert!(effect.writes.iter().all(|path| effect.paths.contains(path)));
    }
}
