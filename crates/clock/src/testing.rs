//! What tests of several modules share.

use ptx::Module;

/// A kernel `k(buffer)` with this body.
pub(crate) fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n{{\n{body}\nret;\n}}\n"
    );
    ptx::parse(&text).expect("the text is PTX")
}
