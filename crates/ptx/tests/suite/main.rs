//! Tests of the parser through its public interface.

mod declarations;
mod errors;
mod expressions;
mod instructions;
mod nvrtc;
mod robustness;

use ptx::{Function, Instruction, Module, Operand, Statement};

/// A module whose head is in order, with `items` after it, from line 4 on.
fn module_text(items: &str) -> String {
    format!(".version 8.0\n.target sm_80\n.address_size 64\n{items}")
}

/// A kernel `k` whose body is `statements`, which begin on line 5.
fn kernel_text(statements: &str) -> String {
    module_text(&format!(".visible .entry k() {{\n{statements}\n}}"))
}

#[track_caller]
fn module(items: &str) -> Module {
    ptx::parse(&module_text(items)).unwrap_or_else(|error| panic!("{error}, in:\n{items}"))
}

#[track_caller]
fn statements(text: &str) -> Vec<Statement> {
    let module = module(&format!(".visible .entry k() {{\n{text}\n}}"));
    let [Function { body: Some(body), .. }] = &module.functions[..] else {
        panic!("one function with a body")
    };
    body.clone()
}

#[track_caller]
fn instruction(text: &str) -> Instruction {
    match statements(text).into_iter().next() {
        Some(Statement::Instruction(instruction)) => instruction,
        other => panic!("{text} gave {other:?}"),
    }
}

#[track_caller]
fn operands(text: &str) -> Vec<Operand> {
    instruction(text).operands
}

fn name(text: &str) -> Operand {
    Operand::Name(text.to_owned())
}
