//! Hashes of sources, shared by the build scripts: a record knows by them whether it is stale.
//!
//! A key covers the files that a protocol or a primitive imports, followed through this crate and the crates below it, so that a new
//! module makes no other record stale. Contents count; paths and the order of files do not.
//!
//! An import of a file is every path in its code that names a module, and its own private modules, whose methods no path
//! need name. A public module counts only if it is named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use sha2::{Digest, Sha256};

/// The crates below others.
const CRATES: [&str; 6] = ["ring", "gadget", "lattice", "bfv", "pir", "bench"];
/// Left out of every key: tests, which measure nothing, and registries and progress bars, which change with what they list.
const LEFT_OUT: [&str; 6] = ["tests", "tests.rs", "tests_support", "benches", "registry.rs", "progress.rs"];

/// The sources of one workspace, read once each.
pub struct Sources {
    /// Folder with a folder for each crate.
    root: PathBuf,
    /// The paths and modules that each file names.
    codes: BTreeMap<PathBuf, Rc<Code>>,
    /// The files that each file imports.
    imports: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Sources {
    /// The crates below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), codes: BTreeMap::new(), imports: BTreeMap::new() }
    }

    /// The files of the files and folders `roots`, and every file that they import.
    pub fn closure(&mut self, roots: &[PathBuf]) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut open: Vec<PathBuf> = roots.iter().flat_map(|root| rust_files(root)).collect();
        while let Some(file) = open.pop() {
            if !found.contains(&file) {
                open.extend(self.imports_of(&file));
                found.insert(file);
            }
        }
        found
    }

    /// Hash of the contents of [`Self::closure`], hexadecimal.
    pub fn digest(&mut self, roots: &[PathBuf]) -> String {
        let files = self.closure(roots);
        let contents: BTreeSet<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap_or_default()).collect();
        let mut hasher = Sha256::new();
        for content in contents {
            hasher.update((content.len() as u64).to_le_bytes());
            hasher.update(content);
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn code(&mut self, file: &Path) -> Rc<Code> {
        Rc::clone(self.codes.entry(file.into()).or_insert_with(|| Rc::new(Code::read(file))))
    }

    fn imports_of(&mut self, file: &Path) -> BTreeSet<PathBuf> {
        if let Some(known) = self.imports.get(file) {
            return known.clone();
        }
        let code = self.code(file);
        let named = code.paths.iter().flat_map(|path| self.resolve(file, path));
        let found: BTreeSet<PathBuf> = named.chain(private_modules(file, &code)).collect();
        self.imports.insert(file.into(), found.clone());
        found
    }

    /// The files that a path such as `crate::wire::Frame` in `file` stands for: the deepest module that it names.
    fn resolve(&mut self, file: &Path, path: &[String]) -> Vec<PathBuf> {
        let own =
            file.strip_prefix(&self.root).ok().and_then(|inside| inside.iter().next()).and_then(|name| name.to_str());
        let (Some((start, rest)), Some(own)) = (path.split_first(), own) else { return Vec::new() };
        match start.as_str() {
            "crate" => self.module(self.root.join(own).join("src"), rest),
            "super" => {
                let ups = rest.iter().take_while(|name| *name == "super").count();
                let parent = module_folder(file).ancestors().nth(1 + ups).map(Path::to_path_buf);
                parent.map_or_else(Vec::new, |parent| self.module(parent, &rest[ups..]))
            }
            name if CRATES.contains(&name) && name != own => {
                let source = self.root.join(name).join("src");
                let root = source.join("lib.rs");
                let mut found = private_modules(&root, &self.code(&root));
                found.extend(self.module(source, rest));
                found
            }
            _ if leaf(&module_folder(file), start).is_some() => self.module(module_folder(file), path),
            _ => Vec::new(),
        }
    }

    /// The deepest module of `path` below the module whose submodules lie in `folder`.
    fn module(&mut self, mut folder: PathBuf, path: &[String]) -> Vec<PathBuf> {
        let mut deepest = folder.join("mod.rs");
        for name in path {
            match leaf(&folder, name) {
                Some(file) => deepest = file,
                // A crate's root has no code of its own, only names that it exports from its modules.
                None if folder.join("lib.rs").exists() => return self.exported(&folder.join("lib.rs"), name),
                None => break,
            }
            folder = folder.join(name);
        }
        if deepest.is_file() { vec![deepest] } else { Vec::new() }
    }

    /// The file of a name that a crate's root exports from one of its modules.
    fn exported(&mut self, root: &Path, name: &str) -> Vec<PathBuf> {
        let code = self.code(root);
        let export = code.paths.iter().find(|path| path.len() > 1 && path.last().is_some_and(|last| last == name));
        let inside = export.map(|path| path.strip_prefix(&["crate".to_owned()]).unwrap_or(path));
        inside.map_or_else(Vec::new, |path| self.module(module_folder(root), path))
    }
}

/// The folder with the submodules of the module that `file` is.
fn module_folder(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    if file.ends_with("mod.rs") || file.ends_with("lib.rs") || file.ends_with("main.rs") {
        folder.into()
    } else {
        folder.join(file.file_stem().unwrap_or_default())
    }
}

/// The file of the module `name` in `folder`.
fn leaf(folder: &Path, name: &str) -> Option<PathBuf> {
    let files = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    files.into_iter().find(|file| file.is_file() && !left_out(file))
}

fn private_modules(file: &Path, code: &Code) -> Vec<PathBuf> {
    code.private.iter().filter_map(|name| leaf(&module_folder(file), name)).collect()
}

/// Whether a file or folder is left out of every key; a folder's `mod.rs` has the folder's name.
fn left_out(place: &Path) -> bool {
    let place = if place.ends_with("mod.rs") { place.parent().unwrap_or(place) } else { place };
    place.file_name().is_some_and(|name| LEFT_OUT.iter().any(|left| name == *left))
}

/// The Rust files of a file or folder, in order, but for those that are [`left_out`].
fn rust_files(place: &Path) -> Vec<PathBuf> {
    if left_out(place) {
        return Vec::new();
    }
    if place.is_dir() {
        let entries = std::fs::read_dir(place).into_iter().flatten().filter_map(Result::ok);
        return entries.flat_map(|entry| rust_files(&entry.path())).collect();
    }
    if place.extension().is_some_and(|extension| extension == "rs") { vec![place.into()] } else { Vec::new() }
}

/// The other files that a file's code names.
#[derive(Default)]
struct Code {
    /// Every path of the code: in a `use`, a type, a macro.
    paths: BTreeSet<Vec<String>>,
    /// Modules that it declares and that are not public.
    private: Vec<String>,
}

impl Code {
    fn read(file: &Path) -> Self {
        let mut code = Self::default();
        if let Ok(tokens) = std::fs::read_to_string(file).unwrap_or_default().parse::<TokenStream>() {
            code.add(&tokens.into_iter().collect::<Vec<_>>());
        }
        code
    }

    fn add(&mut self, tokens: &[TokenTree]) {
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at..] {
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end), ..]
                    if word == "mod" && end.as_char() == ';' =>
                {
                    if at == 0 || !matches!(&tokens[at - 1], TokenTree::Ident(before) if before == "pub") {
                        self.private.push(name.to_string());
                    }
                    at += 3;
                }
                [TokenTree::Ident(_), ..] => at = self.path(tokens, at, &[]),
                [TokenTree::Group(group), ..] => {
                    self.add(&group.stream().into_iter().collect::<Vec<_>>());
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Reads the path that starts at `at` below `prefix`, each branch of its braces a path of its own; returns where it ends.
    fn path(&mut self, tokens: &[TokenTree], mut at: usize, prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
        while let Some(TokenTree::Ident(name)) = tokens.get(at) {
            path.push(name.to_string());
            at += 1;
            if !(colon(at) && colon(at + 1)) {
                break;
            }
            at += 2;
            if let Some(TokenTree::Group(group)) = tokens.get(at) {
                let branches: Vec<TokenTree> = group.stream().into_iter().collect();
                let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
                for branch in branches.split(comma) {
                    self.path(branch, 0, &path);
                }
                return at + 1;
            }
        }
        if path.len() > 1 {
            self.paths.insert(path);
        }
        at
    }
}
