//! Bodies of functions, a statement at a time.

use std::sync::LazyLock;

use rand::Rng;
use rand::rngs::SmallRng;

use super::operands::{address, register, source};
use super::pick;

/// An instruction from registers to registers, with the kinds of its destinations and sources.
struct Form {
    name: String,
    immediate: u32,
    destinations: &'static str,
    sources: &'static str,
}

/// Those that the instruction tests know, from the list that was recorded on hardware.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let recorded = include_str!("../isa/programs.txt").lines().filter_map(|line| {
        let mut words = line.split(' ');
        let name = words.next()?.replace(".|q", "");
        let immediate = words.next()?.parse().ok()?;
        let (destinations, sources) = (words.next()?, words.next()?);
        Some(Form { name, immediate, destinations, sources })
    });
    let simd = ["vadd2", "vsub4", "vabsdiff4", "vavrg2", "vmin4", "vmax2"].into_iter().flat_map(|name| {
        [".u32.u32.u32", ".s32.s32.s32.sat", ".u32.u32.u32.add"].map(|types| Form {
            name: format!("{name}{types}"),
            immediate: 0,
            destinations: "w",
            sources: "www",
        })
    });
    recorded.filter(|f| !f.name.starts_with("atom")).chain(simd).collect()
});

/// A body being written.
pub(crate) struct Body {
    text: String,
    labels: u32,
    /// Labels that were named and stand nowhere yet.
    pending: Vec<u32>,
    placed: Vec<u32>,
    loops: u32,
    is_kernel: bool,
}

impl Body {
    pub(crate) fn new(is_kernel: bool) -> Body {
        Body { text: String::new(), labels: 0, pending: Vec::new(), placed: Vec::new(), loops: 0, is_kernel }
    }

    /// The text, with the labels that are still missing.
    pub(crate) fn finish(mut self, rng: &mut SmallRng) -> String {
        for label in std::mem::take(&mut self.pending) {
            self.text += &format!("L{label}:\n");
            if rng.random_bool(0.3) {
                self.register_instruction(rng);
            }
        }
        self.text
    }

    pub(crate) fn statement(&mut self, rng: &mut SmallRng, depth: u32) {
        if !self.pending.is_empty() && rng.random_bool(0.3) {
            let label = self.pending.swap_remove(rng.random_range(0..self.pending.len()));
            self.place(label);
        }
        match rng.random_range(0..100) {
            0..30 => self.register_instruction(rng),
            30..50 => self.access(rng),
            50..58 => self.atomic(rng),
            58..66 => self.lanes(rng),
            66..72 => self.barrier(rng),
            72..79 if depth < 3 => self.conditional(rng, depth),
            79..85 if depth < 3 => self.counted_loop(rng, depth),
            85..89 => self.jump(rng),
            89..93 => self.copy(rng),
            93..95 => self.call(rng),
            95..98 => self.dot_product(rng),
            _ => self.rare(rng),
        }
    }

    fn put(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn put_guarded(&mut self, rng: &mut SmallRng, line: &str) {
        let guard = match rng.random_range(0..8) {
            0 => format!("@{} ", register(rng, 'p')),
            1 => format!("@!{} ", register(rng, 'p')),
            _ => String::new(),
        };
        self.put(&format!("{guard}{line}"));
    }

    fn place(&mut self, label: u32) {
        self.placed.push(label);
        self.put(&format!("L{label}:"));
    }

    fn new_label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// A label somewhere in the body, before or after.
    fn any_label(&mut self, rng: &mut SmallRng) -> u32 {
        let all: Vec<u32> = self.placed.iter().chain(&self.pending).copied().collect();
        match pick(rng, &all) {
            Some(&label) if rng.random_bool(0.6) => label,
            _ => {
                let label = self.new_label();
                self.pending.push(label);
                label
            }
        }
    }

    /// Writes all of `fixed`.
    pub(crate) fn fill_shared(&mut self) {
        let label = self.new_label();
        self.put("{ .reg .b32 %word, %at; .reg .f32 %value; .reg .pred %q; mov.u32 %word, %r0;");
        self.put(&format!("L{label}:"));
        self.put("mad.lo.u32 %at, %word, 4, %inshared; cvt.rn.f32.u32 %value, %word;");
        self.put(
            "setp.lt.u32 %q, %word, 100; @%q st.shared.f32 [%at], %value; add.u32 %word, %word, %ntid.x;",
        );
        self.put(&format!("@%q bra L{label};"));
        self.put("bar.sync 0; }");
    }

    /// A few rounds of sums of products of what two rows of shared memory hold, with something in between at times.
    pub(crate) fn dot_product(&mut self, rng: &mut SmallRng) {
        let (again, behind) = (self.new_label(), self.new_label());
        let terms = rng.random_range(2..7);
        let row = |rng: &mut SmallRng, name: &str| {
            let index = *pick(rng, &["%r0", "%round", "0", "1", "%both"]).expect("one");
            let scale = *pick(rng, &[4, 4, 4, 8, 12, 2]).expect("one");
            format!("and.b32 {name}, {index}, 15; mad.lo.u32 {name}, {name}, {scale}, %inshared;")
        };
        self.put("{ .reg .b32 %round, %both, %left, %right; .reg .f32 %a<8>, %b<8>, %sum<9>; .reg .pred %q;");
        self.put("mov.u32 %round, 0; mov.f32 %sum0, 0f3f800000; mov.f32 %a0, 0f40000000;");
        for lane in 0..rng.random_range(0..3) {
            self.put(&format!(
                "mad.lo.u32 %left, %r0, 4, %inshared; st.shared.u32 [%left+{}], %r0;",
                64 * lane
            ));
        }
        // Nobody else is to jump there: these registers would hold nothing.
        self.put(&format!("L{again}:"));
        self.put("add.u32 %both, %r0, %round;");
        let (left, right) = (row(rng, "%left"), row(rng, "%right"));
        self.put(&format!("{left} {right}"));
        let is_in_place = rng.random_bool(0.3);
        for term in 1..=terms {
            for (name, base) in [("a", "%left"), ("b", "%right")] {
                let most = if rng.random_bool(0.1) { 90 } else { 40 };
                let offset = 4 * rng.random_range(0..most);
                self.put(&format!("ld.shared.f32 %{name}{term}, [{base}+{offset}];"));
            }
            match rng.random_range(0..24) {
                0 => self.put("st.shared.f32 [%left], %a1;"),
                1 => self.put(&format!("setp.gt.u32 %q, %both, 40; @%q bra L{behind};")),
                2 => self.access(rng),
                3 => self.put("mov.b32 %r1, %a1;"),
                4 => self.put("mov.f32 %a1, %a0;"),
                _ => {}
            }
            if !is_in_place {
                let (a, b) = if rng.random_bool(0.5) { ("a", "b") } else { ("b", "a") };
                self.put(&format!("fma.rn.f32 %sum{term}, %{a}{term}, %{b}{term}, %sum{};", term - 1));
            }
        }
        if is_in_place {
            (1..=terms).for_each(|term| self.put(&format!("fma.rn.f32 %sum0, %a{term}, %b{term}, %sum0;")));
        } else {
            self.put(&format!("mov.f32 %sum0, %sum{terms};"));
        }
        self.put(&format!("L{behind}:"));
        self.put("add.u32 %round, %round, 1; setp.lt.u32 %q, %round, 4;");
        self.put(&format!("@%q bra L{again};"));
        self.put("mov.b32 %r2, %sum0; }");
    }

    fn register_instruction(&mut self, rng: &mut SmallRng) {
        let form = pick(rng, &FORMS).expect("there are some");
        let opcode = form.name.split('.').next().unwrap_or_default();
        let mut sources: Vec<String> = form.sources.chars().map(|kind| source(rng, kind)).collect();
        let destinations: Vec<String> = form.destinations.chars().map(|kind| register(rng, kind)).collect();
        let line = match opcode {
            "mma" => {
                let sizes = [0, 4, 8, 12].map(|shift| (form.immediate >> shift & 15) as usize);
                let vector = |kind: &str, n: usize, rng: &mut SmallRng| {
                    let kind = kind.chars().next().unwrap_or('w');
                    let parts: Vec<String> = (0..n).map(|_| register(rng, kind)).collect();
                    format!("{{{}}}", parts.join(", "))
                };
                let d = vector(form.destinations, sizes[0], rng);
                let rest: Vec<String> = sizes[1..].iter().map(|&n| vector(form.sources, n, rng)).collect();
                format!("{} {d}, {};", form.name, rest.join(", "))
            }
            "lop3" => {
                let table = rng.random_range(0..256);
                let last = if sources.len() == 4 { format!(", {}", sources[3]) } else { String::new() };
                format!(
                    "{} {}, {}, {table}{last};",
                    form.name,
                    destinations.join("|"),
                    sources[..3].join(", ")
                )
            }
            "addc" | "subc" | "madc" => {
                sources.pop();
                format!("{} {}, {};", form.name, destinations[0], sources.join(", "))
            }
            _ if form.name.contains(".cc.") => {
                format!("{} {}, {};", form.name, destinations[0], sources.join(", "))
            }
            _ => format!("{} {}, {};", form.name, destinations.join("|"), sources.join(", ")),
        };
        self.put_guarded(rng, &line);
    }

    fn access(&mut self, rng: &mut SmallRng) {
        let loads = rng.random_bool(0.5);
        let mut spaces = vec!["global", "shared", "local", "", "global", "shared"];
        if loads {
            spaces.extend(["const", "param"]);
        }
        let space = *pick(rng, &spaces).expect("some");
        let (ty, kind, bytes) = *pick(rng, TYPES).expect("some");
        let count = *pick(rng, &[1, 1, 1, 2, 4]).expect("some");
        let count = if bytes * count > 16 { 1 } else { count };
        let ordered = !matches!(space, "const" | "param" | "local") && count == 1 && rng.random_bool(0.15);
        let order = match (ordered, loads) {
            (false, _) => "",
            (true, true) => {
                pick(rng, &[".volatile", ".relaxed.gpu", ".acquire.gpu", ".acquire.cta"]).expect("some")
            }
            (true, false) => pick(rng, &[".volatile", ".relaxed.sys", ".release.gpu"]).expect("some"),
        };
        let dot = if space.is_empty() { "" } else { "." };
        let vector = if count == 1 { String::new() } else { format!(".v{count}") };
        let at = address(rng, space, bytes * count);
        let values: Vec<String> = (0..count).map(|_| register(rng, kind)).collect();
        let values = if count == 1 { values[0].clone() } else { format!("{{{}}}", values.join(", ")) };
        let line = if loads {
            format!("ld{order}{dot}{space}{vector}{ty} {values}, {at};")
        } else {
            format!("st{order}{dot}{space}{vector}{ty} {at}, {values};")
        };
        self.put_guarded(rng, &line);
    }

    fn atomic(&mut self, rng: &mut SmallRng) {
        let space = *pick(rng, &["global", "shared", "", "global"]).expect("some");
        let (operation, ty, kind, bytes) = *pick(rng, ATOMICS).expect("some");
        let scope = pick(rng, &["", "", ".relaxed.gpu", ".acq_rel.cta", ".acquire.gpu", ".release.sys"])
            .expect("some");
        let at = address(rng, space, bytes);
        let dot = if space.is_empty() { "" } else { "." };
        let values = format!("{at}, {}", source(rng, kind));
        let line = match operation {
            "cas" => {
                let new = source(rng, kind);
                format!("atom{scope}{dot}{space}.cas{ty} {}, {values}, {new};", register(rng, kind))
            }
            "exch" => format!("atom{scope}{dot}{space}.exch{ty} {}, {values};", register(rng, kind)),
            _ if rng.random_bool(0.3) && !scope.contains("acq") => {
                format!("red{scope}{dot}{space}.{operation}{ty} {values};")
            }
            _ => format!("atom{scope}{dot}{space}.{operation}{ty} {}, {values};", register(rng, kind)),
        };
        self.put_guarded(rng, &line);
    }

    /// Instructions in which lanes of a warp meet.
    fn lanes(&mut self, rng: &mut SmallRng) {
        let mask = match rng.random_range(0..6) {
            0 => source(rng, 'w'),
            1 => rng.random::<u32>().to_string(),
            _ => "-1".to_owned(),
        };
        let w = |rng: &mut SmallRng| register(rng, 'w');
        let line = match rng.random_range(0..8) {
            0 | 1 => {
                let mode = pick(rng, &["up", "down", "bfly", "idx"]).expect("some");
                let found =
                    if rng.random_bool(0.5) { format!("|{}", register(rng, 'p')) } else { String::new() };
                let (d, a, b, c) = (w(rng), w(rng), source(rng, 'w'), source(rng, 'w'));
                format!("shfl.sync.{mode}.b32 {d}{found}, {a}, {b}, {c}, {mask};")
            }
            2 => {
                let (mode, kind) = *pick(
                    rng,
                    &[("all.pred", 'p'), ("any.pred", 'p'), ("uni.pred", 'p'), ("ballot.b32", 'w')],
                )
                .expect("some");
                format!("vote.sync.{mode} {}, {}, {mask};", register(rng, kind), register(rng, 'p'))
            }
            3 => format!("match.any.sync.b32 {}, {}, {mask};", w(rng), w(rng)),
            4 => format!(
                "match.all.sync.b64 {}|{}, {}, {mask};",
                w(rng),
                register(rng, 'p'),
                register(rng, 'd')
            ),
            5 => {
                let operation =
                    pick(rng, &["add.s32", "min.u32", "max.s32", "and.b32", "xor.b32"]).expect("some");
                format!("redux.sync.{operation} {}, {}, {mask};", w(rng), w(rng))
            }
            6 => format!("elect.sync {}|{}, {mask};", w(rng), register(rng, 'p')),
            _ => format!("bar.warp.sync {mask};"),
        };
        self.put_guarded(rng, &line);
    }

    fn barrier(&mut self, rng: &mut SmallRng) {
        let id = match rng.random_range(0..8) {
            0 => source(rng, 'w'),
            1 => rng.random_range(0..16).to_string(),
            _ => "0".to_owned(),
        };
        let id = if id == "WARP_SZ" { "1".to_owned() } else { id };
        let count = match rng.random_range(0..8) {
            0 => format!(", {}", register(rng, 'w')),
            1 => format!(", {}", 32 * rng.random_range(1..5)),
            _ => String::new(),
        };
        let number = id.parse::<i64>().map_or(id.clone(), |n| n.rem_euclid(16).to_string());
        let opcode = *pick(rng, &["bar", "bar", "bar", "barrier", "barrier.aligned"]).expect("some");
        let (base, aligned) =
            opcode.split_once('.').map_or((opcode, String::new()), |(b, a)| (b, format!(".{a}")));
        let line = match rng.random_range(0..8) {
            0 => {
                let count = if count.is_empty() { ", 64" } else { &count };
                format!("{base}.arrive{aligned} {number}{count};")
            }
            1 => {
                let (operation, kind) =
                    *pick(rng, &[("popc", 'w'), ("and", 'p'), ("or", 'p')]).expect("some");
                let ty = if kind == 'w' { "u32" } else { "pred" };
                let not = if rng.random_bool(0.3) { "!" } else { "" };
                let (d, p) = (register(rng, kind), register(rng, 'p'));
                format!("{base}.red.{operation}{aligned}.{ty} {d}, {number}{count}, {not}{p};")
            }
            2 => "membar.gl;".to_owned(),
            3 => "fence.acq_rel.cta;".to_owned(),
            _ => format!("{base}.sync{aligned} {number}{count};"),
        };
        self.put_guarded(rng, &line);
    }

    fn conditional(&mut self, rng: &mut SmallRng, depth: u32) {
        let (other, end) = (self.new_label(), self.new_label());
        let not = if rng.random_bool(0.5) { "!" } else { "" };
        self.put(&format!("@{not}{} bra L{other};", register(rng, 'p')));
        for _ in 0..rng.random_range(0..4) {
            self.statement(rng, depth + 1);
        }
        if rng.random_bool(0.5) {
            self.put(&format!("bra L{end};"));
        }
        self.place(other);
        for _ in 0..rng.random_range(0..3) {
            self.statement(rng, depth + 1);
        }
        self.place(end);
    }

    fn counted_loop(&mut self, rng: &mut SmallRng, depth: u32) {
        let label = self.new_label();
        let counter = format!("%count{}", self.loops % 6);
        self.loops += 1;
        let start =
            if rng.random_bool(0.4) { "%laneid".to_owned() } else { rng.random_range(0..6).to_string() };
        self.put(&format!("mov.u32 {counter}, {start};"));
        self.place(label);
        for _ in 0..rng.random_range(1..5) {
            self.statement(rng, depth + 1);
        }
        let p = register(rng, 'p');
        self.put(&format!(
            "sub.u32 {counter}, {counter}, 1; setp.gt.s32 {p}, {counter}, 0; @{p} bra L{label};"
        ));
    }

    fn jump(&mut self, rng: &mut SmallRng) {
        let label = self.any_label(rng);
        match rng.random_range(0..6) {
            0 => {
                let table = self.new_label();
                let targets: Vec<String> =
                    (0..rng.random_range(1..5)).map(|_| format!("L{}", self.any_label(rng))).collect();
                let index = register(rng, 'w');
                if rng.random_bool(0.7) {
                    self.put(&format!("rem.u32 {index}, {index}, {};", targets.len()));
                }
                self.put(&format!("T{table}: .branchtargets {};", targets.join(", ")));
                self.put_guarded(rng, &format!("brx.idx {index}, T{table};"));
            }
            1 => self.put(&format!("bra L{label};")),
            2 => self.put(&format!("@{} bra.uni L{label};", register(rng, 'p'))),
            3 => {
                let end = *pick(rng, &["ret;", "exit;"]).expect("some");
                self.put_guarded(rng, end);
            }
            _ => self.put(&format!("@{} bra L{label};", register(rng, 'p'))),
        }
    }

    fn copy(&mut self, rng: &mut SmallRng) {
        let line = match rng.random_range(0..7) {
            0 => "cp.async.commit_group;".to_owned(),
            1 => format!("cp.async.wait_group {};", rng.random_range(0..3)),
            2 => "cp.async.wait_all;".to_owned(),
            6 => {
                let values: Vec<String> = (0..8).map(|_| register(rng, 'w')).collect();
                let (layout, stride) = (pick(rng, &["row", "col"]).expect("some"), source(rng, 'w'));
                let space = *pick(rng, &["shared", "global"]).expect("some");
                let (at, values) = (address(rng, space, 16), values.join(", "));
                match rng.random_range(0..3) {
                    0 => format!(
                        "wmma.load.a.sync.aligned.{layout}.m16n16k16.{space}.f16 {{{values}}}, {at}, {stride};"
                    ),
                    1 => format!(
                        "wmma.store.d.sync.aligned.{layout}.m32n8k16.{space}.f32 {at}, {{{values}}}, {stride};"
                    ),
                    _ => format!(
                        "wmma.mma.sync.aligned.{layout}.row.m8n32k16.f32.f32 {{{values}}}, {{{values}}}, {{{values}}}, {{{values}}};"
                    ),
                }
            }
            3 => {
                let count = *pick(rng, &[1, 2, 4]).expect("some");
                let values: Vec<String> = (0..count).map(|_| register(rng, 'w')).collect();
                let trans = pick(rng, &["", ".trans"]).expect("some");
                let at = address(rng, "shared", 16);
                format!(
                    "ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{}}}, {at};",
                    values.join(", ")
                )
            }
            _ => {
                let bytes = *pick(rng, &[4, 8, 16]).expect("some");
                let rest = match rng.random_range(0..4) {
                    0 => format!(", {}", register(rng, 'w')),
                    1 => format!(", {}", register(rng, 'p')),
                    _ => String::new(),
                };
                let (to, from) = (address(rng, "shared", bytes), address(rng, "global", bytes));
                format!("cp.async.ca.shared.global {to}, {from}, {bytes}{rest};")
            }
        };
        self.put_guarded(rng, &line);
    }

    fn call(&mut self, rng: &mut SmallRng) {
        let (d, a, b) = (register(rng, 'w'), source(rng, 'w'), register(rng, 'd'));
        let b = if rng.random_bool(0.7) { "%buffer1".to_owned() } else { b };
        let head = "{ .param .b32 x; .param .b64 y; .param .b32 z;";
        let pass = format!("mov.u32 {d}, {a}; st.param.b32 [x], {d}; st.param.b64 [y], {b};");
        let number = self.new_label();
        let call = match rng.random_range(0..8) {
            0 => {
                let at = register(rng, 'd');
                let set = if rng.random_bool(0.8) { format!("mov.u64 {at}, f;") } else { String::new() };
                format!(
                    "{set} P{number}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); call (z), {at}, (x, y), P{number};"
                )
            }
            1 => {
                let wild = if rng.random_bool(0.3) { register(rng, 'd') } else { "%generic0".to_owned() };
                let text = format!(
                    "{{ .reg .b64 %fmt; .param .b64 u; .param .b64 v; .param .b32 z; mov.u64 %fmt, format; \
                     cvta.global.u64 %fmt, %fmt; st.param.b64 [u], %fmt; st.param.b64 [v], {wild}; \
                     call.uni (z), vprintf, (u, v); }}"
                );
                return self.put(&text);
            }
            2 => {
                let at = register(rng, 'd');
                let size = source(rng, 'd');
                let text = format!(
                    "{{ .param .b64 u; .param .b64 v; mov.b64 {at}, {size}; st.param.b64 [u], {at}; \
                     call (v), malloc, (u); ld.param.b64 {at}, [v]; }}"
                );
                return self.put(&text);
            }
            3 => {
                let text =
                    format!("{{ .param .b64 u; st.param.b64 [u], {}; call free, (u); }}", register(rng, 'd'));
                return self.put(&text);
            }
            // Deep recursion is possible, from a function to itself.
            4 => "call (z), g, (x, y);".to_owned(),
            _ if self.is_kernel => "call (z), f, (x, y);".to_owned(),
            _ => format!("@{} call (z), f, (x, y);", register(rng, 'p')),
        };
        self.put(&format!("{head} {pass} {call} ld.param.b32 {d}, [z]; }}"));
    }

    fn rare(&mut self, rng: &mut SmallRng) {
        let line = match rng.random_range(0..9) {
            0 => format!("activemask.b32 {};", register(rng, 'w')),
            1 => format!("@{} trap;", register(rng, 'p')),
            2 => format!("isspacep.shared {}, {};", register(rng, 'p'), register(rng, 'd')),
            3 => format!("cvta.to.global.u64 {}, {};", register(rng, 'd'), register(rng, 'd')),
            4 => {
                let (d, a, b) = (register(rng, 'd'), register(rng, 'w'), register(rng, 'w'));
                format!("mov.b64 {d}, {{{a}, {b}}};")
            }
            5 => {
                let (d, a, b) = (register(rng, 'd'), register(rng, 'w'), register(rng, 'w'));
                format!("mov.b64 {{{a}, {b}}}, {d};")
            }
            6 => format!("prefetch.global.L2 {};", address(rng, "global", 1)),
            7 => {
                let (d, p, at) = (register(rng, 'd'), register(rng, 'p'), address(rng, "shared", 8));
                match rng.random_range(0..3) {
                    0 => format!("mbarrier.init.shared.b64 {at}, {};", source(rng, 'w')),
                    1 => format!("mbarrier.arrive.shared.b64 {d}, {at};"),
                    _ => format!("mbarrier.test_wait.shared.b64 {p}, {at}, {d};"),
                }
            }
            _ => "nanosleep.u32 20;".to_owned(),
        };
        self.put(&line);
    }
}

/// Types of loads and stores: name, kind of register, bytes.
const TYPES: &[(&str, char, u32)] = &[
    (".u8", 'w', 1),
    (".s8", 'h', 1),
    (".b16", 'h', 2),
    (".s16", 'w', 2),
    (".u32", 'w', 4),
    (".f32", 'w', 4),
    (".s32", 'd', 4),
    (".b64", 'd', 8),
    (".f64", 'd', 8),
];

/// Atomic operations: name, type, kind of register, bytes.
const ATOMICS: &[(&str, &str, char, u32)] = &[
    ("add", ".u32", 'w', 4),
    ("add", ".u64", 'd', 8),
    ("add", ".f32", 'w', 4),
    ("add", ".f64", 'd', 8),
    ("min", ".s32", 'w', 4),
    ("max", ".u64", 'd', 8),
    ("inc", ".u32", 'w', 4),
    ("dec", ".u32", 'w', 4),
    ("and", ".b32", 'w', 4),
    ("xor", ".b64", 'd', 8),
    ("exch", ".b32", 'w', 4),
    ("exch", ".b64", 'd', 8),
    ("cas", ".b16", 'h', 2),
    ("cas", ".b32", 'w', 4),
    ("cas", ".b64", 'd', 8),
];
