//! Sources that attack the compiler, and compilers that are broken, with a real NVRTC.

#![cfg(unix)]

mod common;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{compile, request, toolchain, worker};
use cuda::nvrtc::{self, CompileError, Toolchain};
use cuda::worker;

/// Compiles with `seconds` of a processor; gives the error and how long it took.
fn attack(source: &str, seconds: u64) -> (CompileError, Duration) {
    let mut request = request(source);
    request.limits.cpu = Duration::from_secs(seconds);
    let started = Instant::now();
    let error = nvrtc::compile_with(&worker(), toolchain(), &request).expect_err("this must not compile");
    (error, started.elapsed())
}

#[test]
fn files_outside_are_neither_read_nor_confirmed() {
    let mut answers = Vec::new();
    for path in [
        "/etc/passwd",
        "/etc/shadow",
        "/no/such/file",
        "/proc/self/environ",
        "/dev/stdin",
        "/",
        "../etc/passwd",
    ] {
        let error = compile(&format!("#include \"{path}\"\n__global__ void k() {{}}\n")).unwrap_err();
        let CompileError::Diagnostics(found) = &error else { panic!("{path}: {error:?}") };
        assert_eq!(found.len(), 1, "{path}: {found:?}");
        assert_eq!(found[0].line, Some(1));
        let text = format!("{} {:?}", found[0].message, found[0].notes).replace(path, "PATH");
        assert!(!text.contains("root:") && !text.contains("ermission"), "{path}: {text}");
        answers.push(text);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "every path gets the same answer: {answers:#?}");
}

#[test]
fn the_preprocessor_cannot_tell_which_files_exist() {
    let source = "#if __has_include(\"/etc/passwd\") || __has_include(\"/usr/include\") || __has_include(\"/proc/self/environ\")\n\
                  #error it can\n#endif\n__global__ void k() {}\n";
    compile(source).unwrap();
}

#[test]
fn options_in_the_source_do_not_exist_and_options_of_the_caller_see_no_files() {
    let mut request = request("__global__ void k() {}");
    request.options = &["--pre-include=/etc/passwd"];
    let error = nvrtc::compile_with(&worker(), toolchain(), &request).unwrap_err();
    assert!(!format!("{error:?}").contains("root:"), "{error:?}");
}

#[test]
fn a_template_bomb_ends() {
    let deep = "template <int N> struct T { static const int v = T<N - 1>::v + T<N - 2>::v + N; };\n\
                __global__ void k(int* p) { p[0] = T<100000>::v; }\n";
    let (error, _) = attack(deep, 20);
    assert!(matches!(error, CompileError::Diagnostics(_)), "{error:?}");

    let wide = "template <int A, int B> struct T { static const long v = T<A - 1, B * 2>::v + T<A - 1, B * 2 + 1>::v; };\n\
                template <int B> struct T<0, B> { static const long v = B; };\n\
                __global__ void k(long* p) { p[0] = T<40, 1>::v; }\n";
    let (error, took) = attack(wide, 4);
    assert!(matches!(error, CompileError::Timeout { .. } | CompileError::OutOfMemory { .. }), "{error:?}");
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn an_array_bomb_ends() {
    let source =
        "__device__ int bomb[1 << 29] = {1};\n__global__ void k(int* p) { p[0] = bomb[threadIdx.x]; }\n";
    let mut request = request(source);
    (request.limits.wall, request.limits.memory_bytes) = (Duration::from_secs(120), 512 << 20);
    let error = nvrtc::compile_with(&worker(), toolchain(), &request).unwrap_err();
    assert!(
        matches!(error, CompileError::OutOfMemory { limit_bytes } if limit_bytes == 512 << 20),
        "memory ran out, and that is what it says: {error:?}"
    );
}

#[test]
fn a_macro_bomb_ends() {
    let mut source = String::from("#define A0 x+x+x+x+x+x+x+x+x+x\n");
    for level in 1..12 {
        let part = format!("A{}", level - 1);
        source += &format!("#define A{level} {}\n", [part.as_str(); 10].join("+"));
    }
    source += "__global__ void k(int* p, int x) { p[0] = A11; }\n";
    let (error, took) = attack(&source, 4);
    let ended = matches!(
        error,
        CompileError::Timeout { .. } | CompileError::OutOfMemory { .. } | CompileError::Crashed { .. }
    );
    assert!(ended, "{error:?}");
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn processor_time_counts_and_not_how_busy_the_machine_is() {
    let mut source = String::from("#define A0 x\n");
    for level in 1..12 {
        let part = format!("A{}", level - 1);
        source += &format!("#define A{level} {}\n", [part.as_str(); 10].join("+"));
    }
    source += "__global__ void k(int* p, int x) { p[0] = A11; }\n";
    let mut request = request(&source);
    (request.limits.cpu, request.limits.wall) = (Duration::from_secs(1), Duration::from_secs(300));
    let error = nvrtc::compile_with(&worker(), toolchain(), &request).expect_err("this must not compile");
    let ended = matches!(error, CompileError::Timeout { seconds: 1.0 } | CompileError::OutOfMemory { .. });
    assert!(ended, "{error:?}");
}

#[test]
fn an_endless_constant_expression_ends() {
    let source = "constexpr int spin(int n) { while (true) n++; return n; }\n__global__ void k(int* p) { constexpr int v = spin(0); p[0] = v; }\n";
    let (error, took) = attack(source, 4);
    assert!(matches!(error, CompileError::Timeout { .. } | CompileError::Diagnostics(_)), "{error:?}");
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn nesting_without_end_is_a_clear_error() {
    let depth = 200_000;
    let source = format!(
        "__global__ void k(int* p) {{ p[0] = {}1{}; }}
",
        "(p[0]+".repeat(depth),
        ")".repeat(depth)
    );
    let (error, _) = attack(&source, 20);
    let ended = matches!(
        error,
        CompileError::Crashed { .. }
            | CompileError::OutOfMemory { .. }
            | CompileError::Diagnostics(_)
            | CompileError::Timeout { .. }
    );
    assert!(ended, "{error:?}");
}

#[test]
fn a_flood_of_messages_is_capped() {
    let mut source = String::from("__global__ void k(int* p) {\n");
    for i in 0..4_000 {
        source += &format!("int unused_variable_with_a_long_name_{i};\n");
    }
    source += "oops }\n";
    let mut request = request(&source);
    request.limits.log_bytes = 16 << 10;
    let error = nvrtc::compile_with(&worker(), toolchain(), &request).unwrap_err();
    let CompileError::Diagnostics(found) = error else { panic!("{error:?}") };
    assert!(found.len() < 200, "{}", found.len());
}

#[test]
fn the_environment_stays_outside() {
    // The worker's own environment, as its parent made it.
    let environment = fs::read_to_string("/proc/self/environ").unwrap_or_default();
    assert!(!environment.is_empty(), "the test itself has one");
    let mut child = Command::new(env!("CARGO_BIN_EXE_cuda-worker"))
        .args(["--warplings-worker", "compile", &std::process::id().to_string()])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let inside = fs::read(format!("/proc/{}/environ", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(inside.is_empty() || !String::from_utf8_lossy(&inside).contains("HOME="));
}

#[test]
fn a_missing_library_is_not_the_sources_fault() {
    let gone = Toolchain { library: "/no/such/libnvrtc.so.12".into(), ..toolchain().clone() };
    let error = nvrtc::compile_with(&worker(), &gone, &request("__global__ void k() {}")).unwrap_err();
    assert!(
        matches!(&error, CompileError::NotLoaded { message } if message.contains("no/such")),
        "{error:?}"
    );
}

#[test]
fn a_corrupted_library_is_an_error_and_not_a_hang() {
    let dir = tempfile::tempdir().unwrap();
    let library = dir.path().join("libnvrtc.so.12");
    let mut bytes = fs::read(&toolchain().library).unwrap();
    // Headers stay, the code is gone.
    let length = bytes.len();
    bytes[length / 4..length / 2].fill(0xcc);
    fs::write(&library, &bytes).unwrap();
    let broken = Toolchain { library: library.clone(), ..toolchain().clone() };
    let error = nvrtc::compile_with(&worker(), &broken, &request("__global__ void k() {}")).unwrap_err();
    assert!(matches!(error, CompileError::Crashed { .. } | CompileError::NotLoaded { .. }), "{error:?}");

    fs::write(&library, b"not a library").unwrap();
    let error = nvrtc::compile_with(&worker(), &broken, &request("__global__ void k() {}")).unwrap_err();
    assert!(matches!(error, CompileError::NotLoaded { .. }), "{error:?}");
}

/// Loading a library runs what is in it: it writes no file, reaches no network and starts no program.
#[cfg(target_os = "linux")]
#[test]
fn a_library_that_attacks_when_it_is_loaded_gets_nowhere() {
    if !matches!(compile("__global__ void k() {}").unwrap().sandbox, nvrtc::SandboxLevel::Closed) {
        eprintln!("skipped: this kernel offers only part of the sandbox");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (source, library, written) =
        (dir.path().join("evil.c"), dir.path().join("libevil.so"), dir.path().join("written"));
    let text = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/socket.h>\n#include <unistd.h>\n\
         __attribute__((constructor)) static void attack(void) {{\n\
         FILE* file = fopen(\"{0}\", \"w\");\n\
         int socket_opened = socket(AF_INET, SOCK_STREAM, 0) >= 0;\n\
         fprintf(stderr, \"attack: %d %d\\n\", file != 0, socket_opened);\n\
         execl(\"/bin/sh\", \"sh\", \"-c\", \"echo x > {0}\", (char*)0);\n_exit(9); }}\n",
        written.display()
    );
    fs::write(&source, text).unwrap();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    // It does run where nothing holds it.
    let evil = Toolchain { library: library.clone(), builtins: library, ..toolchain().clone() };
    let error = nvrtc::compile_with(&worker(), &evil, &request("__global__ void k() {}")).unwrap_err();
    assert!(matches!(&error, CompileError::Crashed { how } if how.contains("exit code 9")), "{error:?}");
    assert!(!written.exists());
}

#[test]
fn a_program_that_is_no_worker_is_told_from_a_crash() {
    for (program, expected) in
        [("/bin/echo", "BadReply"), ("/bin/true", "Crashed"), ("/no/such/program", "Start")]
    {
        let command = worker::Command::new(program);
        let error =
            nvrtc::compile_with(&command, toolchain(), &request("__global__ void k() {}")).unwrap_err();
        let text = format!("{error:?}");
        assert!(text.contains(expected), "{program}: {text}");
    }
}

#[test]
fn a_worker_that_hangs_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("hang");
    // Another process writes it, so that no child of another test can hold it open.
    let write = "printf '#!/bin/sh\\nexec /bin/sleep 600\\n' > \"$1\" && chmod 755 \"$1\"";
    assert!(Command::new("/bin/sh").args(["-c", write, "sh"]).arg(&script).status().unwrap().success());
    let mut request = request("__global__ void k() {}");
    request.limits.wall = Duration::from_millis(300);
    let started = Instant::now();
    let error = nvrtc::compile_with(&worker::Command::new(script), toolchain(), &request).unwrap_err();
    assert!(matches!(error, CompileError::Stalled { .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn the_worker_dies_with_its_parent() {
    // A shell starts the worker, says its id and is killed; its own id is what the worker is told.
    let worker = env!("CARGO_BIN_EXE_cuda-worker");
    let script = format!("{worker} --warplings-worker compile $$ < /dev/zero > /dev/null & echo $!; wait");
    let script = script.replace("< /dev/zero", "<&3");
    let (reader, writer) = std::io::pipe().unwrap();
    let mut shell = Command::new("/bin/bash");
    shell.args(["-c", &format!("exec 3<&0; {script}")]).stdin(reader).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(shell.stdout.take().unwrap()), &mut line)
        .unwrap();
    let id: u32 = line.trim().parse().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let alive = || fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z"));
    assert!(alive(), "it waits for its request");
    shell.kill().unwrap();
    shell.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(2);
    while alive() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!alive(), "killed with the shell, although its pipe is still open");
    drop(writer);
}
