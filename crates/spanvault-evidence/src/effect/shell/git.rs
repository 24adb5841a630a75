//! `git`, by its subcommands.

use super::command::{Arg, Input, Options, Part};
use super::reader::Reader;

/// Subcommands that only look, whatever their options but `--output`.
const LOOKS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "annotate",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "cat-file",
    "describe",
    "shortlog",
    "grep",
    "name-rev",
    "merge-base",
    "for-each-ref",
    "var",
    "check-ignore",
    "check-attr",
    "count-objects",
    "whatchanged",
    "range-diff",
    "cherry",
    "diff-tree",
    "diff-index",
    "diff-files",
    "show-ref",
    "show-branch",
    "version",
    "help",
    "verify-commit",
    "verify-tag",
    "merge-tree",
    "fsck",
    "hash-object",
    "column",
    "check-ref-format",
    "get-tar-commit-id",
    "stripspace",
    "patch-id",
    "unpack-file",
    "write-tree",
    "archive",
];

/// Subcommands that change the repository's own state, not the work tree.
const KEEPS_TREE: &[&str] = &[
    "add",
    "stage",
    "commit",
    "fetch",
    "init",
    "gc",
    "prune",
    "repack",
    "update-index",
    "update-ref",
    "pack-refs",
    "maintenance",
    "replace",
    "rerere",
    "commit-tree",
    "mktree",
    "tag",
    "branch",
    "notes",
    "reflog",
    "remote",
    "config",
    "symbolic-ref",
];

/// Subcommands that change the work tree.
const CHANGES_TREE: &[&str] = &[
    "checkout",
    "switch",
    "merge",
    "rebase",
    "pull",
    "cherry-pick",
    "revert",
    "am",
    "apply",
    "reset",
    "restore",
    "stash",
    "clean",
    "rm",
    "mv",
    "submodule",
    "worktree",
    "read-tree",
    "checkout-index",
    "sparse-checkout",
    "bisect",
    "subtree",
];

/// Settings given by `-c` that change how git prints or signs, not what it runs.
const HARMLESS_SETTINGS: &[&str] = &[
    "color.",
    "user.",
    "core.quotepath",
    "core.autocrlf",
    "advice.",
    "commit.gpgsign",
    "init.",
    "log.",
    "diff.renames",
    "safe.",
    "pull.",
    "push.default",
    "http.",
    "gc.",
    "core.pager=cat",
];

/// Options of git itself that take a value.
const VALUES: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];

/// Counts a git command; `None` where `name` is not git.
pub(super) fn run(reader: &mut Reader, name: &str, args: &[Arg]) -> Option<Input> {
    if name != "git" {
        return None;
    }
    let mut root = Arg::certain(".");
    let mut options = Options::new(args, VALUES);
    loop {
        match options.next() {
            Some(Part::Option("-C" | "--work-tree", Some(value))) => root = value,
            Some(Part::Option("--git-dir", Some(value))) => {
                let text = value.text.strip_suffix("/.git").unwrap_or(&value.text).to_owned();
                root = Arg { text, ..value };
            }
            Some(Part::Option("-c", Some(value))) => {
                if !HARMLESS_SETTINGS.iter().any(|setting| value.text.starts_with(setting)) {
                    reader.tally.hide();
                }
            }
            Some(Part::Option(..)) => {}
            Some(Part::Operand(command)) => {
                let rest = options.rest().to_vec();
                let git = Git { reader, root, args: &rest };
                return Some(if command.certain { git.subcommand(&command.text) } else { git.opaque() });
            }
            None => return Some(Input::Stream),
        }
    }
}

struct Git<'a> {
    reader: &'a mut Reader,
    /// The directory it works on.
    root: Arg,
    args: &'a [Arg],
}

impl Git<'_> {
    fn opaque(self) -> Input {
        self.reader.tally.hide();
        Input::Stream
    }

    fn has(&self, options: &[&str]) -> bool {
        self.args.iter().any(|arg| options.contains(&arg.text.as_str()))
    }

    /// A path of the command line, under the directory that `-C` names.
    fn under_root(&self, arg: &Arg) -> Arg {
        if self.root.text == "." || arg.text.starts_with(['/', '~']) {
            return arg.clone();
        }
        Arg {
            text: format!("{}/{}", self.root.text, arg.text),
            certain: arg.certain && self.root.certain,
            ..arg.clone()
        }
    }

    fn write(&mut self, arg: &Arg) {
        let path = self.under_root(arg);
        self.reader.write(&path);
    }

    fn write_state(&mut self) {
        self.write(&Arg::certain(".git"));
    }

    fn write_tree(&mut self) {
        self.write_state();
        let root = self.root.clone();
        self.reader.write(&root);
    }

    fn operands(&self, values: &[&str]) -> Vec<Arg> {
        Options::new(self.args, values)
            .filter_map(|part| match part {
                Part::Operand(operand) => Some(operand.clone()),
                Part::Option(..) => None,
            })
            .collect()
    }

    /// The paths after `--`.
    fn pathspecs(&self) -> Vec<Arg> {
        let from = self.args.iter().position(|arg| arg.text == "--");
        from.and_then(|at| self.args.get(at + 1..)).unwrap_or_default().to_vec()
    }

    fn subcommand(mut self, command: &str) -> Input {
        let first = self.operands(&[]).first().map(|arg| arg.text.clone());
        match command {
            "push" | "send-email" | "send-pack" | "svn" | "p4" | "http-push" => {
                self.reader.tally.act_outside();
            }
            "clone" => self.clone_repository(),
            "format-patch" => self.format_patch(),
            "init" => {
                let directory = self.operands(&["-b", "--initial-branch", "--template"]).first().cloned();
                self.write(&directory.unwrap_or_else(|| Arg::certain(".git")));
            }
            // These print what there is, unless they are given something to change.
            "branch" | "tag" | "remote" | "config" | "stash" | "worktree" | "notes" | "reflog"
            | "symbolic-ref" | "submodule" | "bisect" | "bundle" | "sparse-checkout"
                if self.only_lists(command, first.as_deref()) => {}
            "bisect" if first.as_deref() == Some("run") => return self.opaque(),
            "submodule" if first.as_deref() == Some("foreach") => return self.opaque(),
            "rebase" if self.has(&["-x", "--exec"]) => return self.opaque(),
            "difftool" | "mergetool" | "filter-branch" | "filter-repo" | "instaweb" | "gui" | "citool" => {
                return self.opaque();
            }
            "clean" | "apply" | "add" if self.has(&["-n", "--dry-run", "--check", "--stat"]) => {}
            "rm" | "mv" | "restore" | "checkout" if !self.named_files(command).is_empty() => {
                for file in self.named_files(command) {
                    self.write(&file);
                }
                self.write_state();
            }
            "reset" if !self.has(&["--hard", "--merge", "--keep"]) => self.write_state(),
            "worktree" => {
                let operands = self.operands(&["-b", "-B"]);
                if let Some(path) = operands.get(1) {
                    self.write(&path.clone());
                }
                self.write_state();
            }
            "config" if self.has(&["--global"]) => self.reader.write(&Arg::certain("~/.gitconfig")),
            "config" if self.has(&["--system"]) => self.reader.write(&Arg::certain("/etc/gitconfig")),
            "config" if self.has(&["-f", "--file"]) => return self.opaque(),
            _ if LOOKS.contains(&command) => self.look(command),
            "add" | "stage" => {
                for file in self.operands(&[]) {
                    let file = self.under_root(&file);
                    self.reader.touch(&file.text);
                }
                self.write_state();
            }
            _ if KEEPS_TREE.contains(&command) => self.write_state(),
            _ if CHANGES_TREE.contains(&command) => self.write_tree(),
            _ => return self.opaque(),
        }
        if command == "ls-files" || self.has(&["--name-only"]) {
            return self.reader.path(&self.root.text).map_or(Input::Stream, |root| Input::Names(vec![root]));
        }
        Input::Stream
    }

    fn look(&mut self, command: &str) {
        for part in Options::new(self.args, &["--output", "-o"]) {
            match part {
                Part::Option("--output", Some(file)) => self.write(&file),
                Part::Option("-o", Some(file)) if command == "archive" => self.write(&file),
                Part::Option("--ext-diff" | "--textconv" | "-O" | "--open-files-in-pager", _) => {
                    self.reader.tally.hide();
                }
                Part::Option(..) | Part::Operand(_) => {}
            }
        }
        if command == "hash-object" && self.has(&["-w"]) || command == "write-tree" {
            self.write_state();
        }
        for path in self.pathspecs() {
            let path = self.under_root(&path);
            self.reader.touch(&path.text);
        }
    }

    /// Whether a subcommand that can list or change only lists.
    fn only_lists(&self, command: &str, first: Option<&str>) -> bool {
        let changes = |options: &[&str]| self.has(options);
        match (command, first) {
            ("branch", first) => {
                let lists = self.has(&[
                    "--list",
                    "-l",
                    "--contains",
                    "--merged",
                    "--no-merged",
                    "--show-current",
                    "--points-at",
                    "-a",
                    "-r",
                    "-v",
                    "-vv",
                    "--all",
                ]);
                !changes(&[
                    "-d",
                    "-D",
                    "-m",
                    "-M",
                    "-c",
                    "-C",
                    "-f",
                    "-u",
                    "--delete",
                    "--move",
                    "--copy",
                    "--force",
                    "--unset-upstream",
                    "--edit-description",
                ]) && !self.args.iter().any(|arg| arg.text.starts_with("--set-upstream"))
                    && (first.is_none() || lists)
            }
            ("tag", first) => {
                !changes(&["-d", "--delete", "-a", "-s", "-m", "-f", "-F"])
                    && (first.is_none()
                        || self.has(&["-l", "--list", "--contains", "-n", "--points-at", "--merged"]))
            }
            ("config", _) => {
                self.has(&["--get", "--get-all", "--get-regexp", "-l", "--list", "--get-urlmatch"])
                    || matches!(first, Some("get" | "list"))
                    || (self.operands(&["-f", "--file", "--type"]).len() == 1
                        && !changes(&["--unset", "--unset-all", "--remove-section", "-e", "--edit"]))
            }
            ("remote", None | Some("show" | "get-url"))
            | ("stash" | "notes" | "worktree", Some("list" | "show"))
            | ("reflog" | "submodule" | "notes", None)
            | ("reflog", Some("show" | "exists"))
            | ("submodule", Some("status" | "summary"))
            | ("bisect", Some("log" | "view" | "visualize"))
            | ("bundle", Some("verify" | "list-heads"))
            | ("sparse-checkout", Some("list")) => true,
            ("reflog", Some(word)) => !matches!(word, "expire" | "delete" | "drop"),
            ("symbolic-ref", _) => self.operands(&["-m"]).len() == 1 && !changes(&["-d", "--delete"]),
            _ => false,
        }
    }

    /// The files that a subcommand names, where it names files and nothing else of the work tree.
    fn named_files(&self, command: &str) -> Vec<Arg> {
        match command {
            "checkout" => self.pathspecs(),
            "restore" => self.operands(&["-s", "--source"]),
            _ => self.operands(&[]),
        }
    }

    fn clone_repository(&mut self) {
        const VALUES: &[&str] = &[
            "-b",
            "--branch",
            "--depth",
            "-o",
            "--origin",
            "-c",
            "--config",
            "-j",
            "--jobs",
            "--reference",
            "--filter",
            "--template",
            "-u",
        ];
        let operands = self.operands(VALUES);
        let target = match operands.as_slice() {
            [_, directory, ..] => directory.clone(),
            [url] => {
                let name = url.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
                Arg { text: name.strip_suffix(".git").unwrap_or(name).to_owned(), ..url.clone() }
            }
            [] => return,
        };
        self.write(&target);
    }

    fn format_patch(&mut self) {
        if self.has(&["--stdout"]) {
            return;
        }
        let directory = Options::new(self.args, &["-o", "--output-directory"]).find_map(|part| match part {
            Part::Option("-o" | "--output-directory", value) => value,
            Part::Option(..) | Part::Operand(_) => None,
        });
        self.write(&directory.unwrap_or_else(|| Arg::certain(".")));
    }
}
