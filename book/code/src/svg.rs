//! The little SVG that the pictures need. Colours and fonts come from the book's style sheet by class.

use std::fmt::Write;

/// A picture under construction.
pub(crate) struct Svg {
    body: String,
    width: f64,
    height: f64,
    label: &'static str,
}

impl Svg {
    /// An empty picture; `label` describes it to those who can't see it.
    pub(crate) fn new(width: f64, height: f64, label: &'static str) -> Svg {
        Svg { body: String::new(), width, height, label }
    }

    /// A rectangle, filled as `class` says, with a thin outline.
    pub(crate) fn cell(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        if !class.is_empty() {
            let _ = writeln!(
                self.body,
                r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" class="{class}"/>"#
            );
        }
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" class="cell"/>"#
        );
    }

    /// A rectangle without an outline.
    pub(crate) fn area(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" class="{class}"/>"#
        );
    }

    /// The outline of a rectangle.
    pub(crate) fn frame(&mut self, x: f64, y: f64, width: f64, height: f64) {
        self.line(&[(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)], 0.8);
    }

    /// Text; `anchor` is `start`, `middle` or `end`.
    pub(crate) fn text(&mut self, x: f64, y: f64, size: u32, anchor: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}">{text}</text>"#
        );
    }

    /// A line through the points.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], width: f64) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.body,
            r#"<polyline points="{}" class="line" stroke-width="{width}"/>"#,
            points.join(" ")
        );
    }

    /// A dot.
    pub(crate) fn dot(&mut self, x: f64, y: f64, class: &str) {
        let _ = writeln!(self.body, r#"<circle cx="{x:.1}" cy="{y:.1}" r="6" class="dot {class}"/>"#);
    }

    /// A diamond.
    pub(crate) fn diamond(&mut self, x: f64, y: f64, class: &str) {
        let _ = writeln!(
            self.body,
            r#"<path d="M{:.1} {y:.1} L{x:.1} {:.1} L{:.1} {y:.1} L{x:.1} {:.1} Z" class="dot {class}"/>"#,
            x - 7.5,
            y - 7.5,
            x + 7.5,
            y + 7.5
        );
    }

    /// The finished file. No blank lines: they would end an HTML block in Markdown.
    pub(crate) fn finish(self) -> String {
        let Svg { body, width, height, label } = self;
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{label}\">\n{body}</svg>\n"
        )
    }
}
