//! `cargo run -p ptx --example count -- FILE...`: parses each file and prints what is in it.

fn main() {
    let mut failed = false;
    for path in std::env::args().skip(1) {
        let parsed = std::fs::read_to_string(&path).map_err(|error| error.to_string()).and_then(|text| {
            let start = std::time::Instant::now();
            let module = ptx::parse(&text).map_err(|error| error.to_string())?;
            Ok((module, start.elapsed()))
        });
        match parsed {
            Ok((module, time)) => {
                let instructions: usize = module.functions.iter().map(|f| f.instructions().count()).sum();
                println!(
                    "{path}: {} functions, {} variables, {instructions} instructions, {:.2} ms",
                    module.functions.len(),
                    module.variables.len(),
                    time.as_secs_f64() * 1e3
                );
            }
            Err(error) => {
                println!("{path}: {error}");
                failed = true;
            }
        }
    }
    if failed {
        std::process::exit(1);
    }
}
