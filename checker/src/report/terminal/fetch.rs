//! What is said while the compiler is fetched: a minute of silence would look like a hang.

use std::time::Duration;

use cuda::nvrtc::FetchStep;
use indicatif::{ProgressBar, ProgressStyle};

/// A spinner on a terminal, else nothing but the lines that matter.
#[derive(Default)]
pub(crate) struct FetchProgress {
    spinner: Option<ProgressBar>,
    /// Whether it was said what is fetched.
    is_announced: bool,
}

impl FetchProgress {
    /// Shows how far the fetch has come.
    pub(crate) fn show(&mut self, step: &FetchStep) {
        match step {
            FetchStep::Downloading { tool, .. } if self.is_announced => {
                super::out::eprintln!("trying {tool}");
                self.spin("downloading");
            }
            FetchStep::Downloading { package, megabytes, tool, into } => {
                super::out::eprintln!(
                    "NVRTC, NVIDIA's compiler for kernels, is not on this machine.\n\
                     Fetching {package} ({megabytes} MB, once) with {tool} into {}",
                    into.display()
                );
                self.is_announced = true;
                self.spin("downloading");
            }
            FetchStep::ToolMissing { tool } => super::out::eprintln!("{tool} is not usable"),
            FetchStep::Unpacking => self.spin("unpacking"),
            FetchStep::Verifying => self.spin("verifying"),
            FetchStep::Done { .. } => {
                if let Some(spinner) = self.spinner.take() {
                    spinner.finish_and_clear();
                }
            }
        }
    }

    fn spin(&mut self, what: &'static str) {
        let spinner = self.spinner.get_or_insert_with(|| {
            let spinner = ProgressBar::new_spinner().with_style(
                ProgressStyle::with_template("{spinner} {msg} {elapsed}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            spinner.enable_steady_tick(Duration::from_millis(120));
            spinner
        });
        spinner.set_message(what);
    }
}
